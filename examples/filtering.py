"""Filtering of an array by a predicate, on whichever devices are free (Groute's figure 6).

The host sends the array in packets over one router to the first device that has a free buffer, and
gets what satisfies the predicate back over another.
"""

import numpy as np

from broadfront.routing import Context, Link, Router, first_available

PACKET = 1 << 20


def filtered(array, predicate, devices=2):
    context = Context(devices)
    to_devices = Router(context, first_available)
    to_host = Router(context, first_available)
    distribute = Link(context.host, to_devices, PACKET)
    collect = Link(to_host, context.host, PACKET, num_buffers=2 * len(context.devices))
    for device in context.devices:
        inbox = Link(to_devices, device, PACKET, num_buffers=2)
        outbox = Link(device, to_host, PACKET)
        device.assign(filter_packets, predicate, inbox, outbox)

    def main():
        distribute.send_async(array)
        distribute.shutdown()
        found = []
        for pending in collect:
            with pending as segment:
                found.append(((segment.metadata, segment.offset), segment.array.copy()))
        return np.concatenate([part for _, part in sorted(found, key=lambda each: each[0])])

    return context.run(main)


def filter_packets(predicate, inbox, outbox):
    for pending in inbox:
        with pending as segment:
            outbox.send(segment.array[predicate(segment.array)], metadata=segment.offset)
    outbox.shutdown()


if __name__ == "__main__":
    print(filtered(np.arange(1_000_000), lambda values: values % 99_999 == 1))
