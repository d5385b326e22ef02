"""Filtering of 250 MB by a predicate over two devices, of which one has a quarter of the speed.

The predicate draws a tenth of the values by a hash, as one draws records by their keys. The slow
device sleeps, after each packet, three times as long as its kernel took. Compared are static halves
(packets go to the two in turn), the first available device (packets copied into each device's
memory, or within one memory), and the ideal: what the kernels of both together take if neither ever
waits for a packet.

    python benchmarks/filtering_speed.py [megabytes] [trials]
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

from broadfront.kernel import kernel
from broadfront.routing import Context, Link, Router, first_available

PACKET = 1 << 21
ITEMS = PACKET // 4
SLOWER = 4


@kernel
def copy_drawn(values, rounds, found):
    """Copy the values that are drawn, and return how many there are."""
    count = 0
    for place in range(len(values)):
        mixed = np.uint64(values[place]) * np.uint64(0x9E3779B97F4A7C15)
        for _ in range(rounds):
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        found[count] = values[place]
        count += (mixed ^ (mixed >> np.uint64(32))) % np.uint64(10) == 0
    return count


def halves(segment, source, destinations):
    """Send every other packet to the same device."""
    return destinations[segment.offset // ITEMS % 2]


class Filtering:
    """A dataflow that filters an array, on a fast and a slow device."""

    def __init__(self, array, rounds, policy, memory):
        self.context = context = Context(2, memory=memory)
        out, back = Router(context, policy), Router(context)
        self.rounds = rounds
        sender = context.host.virtual("sender")
        sender.assign(self.distribute, array, Link(sender, out, PACKET))
        self.collect = Link(back, context.host, PACKET, 4)
        for device in context.devices:
            inbox, outbox = Link(out, device, PACKET, 2), Link(device, back, PACKET)
            found = np.empty((5, ITEMS + 1), np.int32)  # 4 may wait in buffers of the host
            device.assign(self.work, device.index, found, inbox, outbox)

    def run(self):
        """Return the time it takes, how many values were found, and the share of the fast one."""
        self.done = [0, 0]
        began = time.perf_counter()
        found = self.context.run(self.count)
        return time.perf_counter() - began, found, self.done[0] / sum(self.done)

    def distribute(self, array, link):
        """Send all packets."""
        link.send(array)
        link.shutdown()

    def work(self, place, found, inbox, outbox):
        """Filter packets as they come; place 1 is the slow device."""
        for number, pending in enumerate(inbox):
            with pending as segment:
                target = found[number % 5]
                began = time.perf_counter()
                count = copy_drawn(segment.array, self.rounds, target)
                if place == 1:
                    time.sleep((SLOWER - 1) * (time.perf_counter() - began))
                self.done[place] += len(segment)
            outbox.send(target[:count])
        outbox.shutdown()

    def count(self):
        """Return how many values come back."""
        count = 0
        for pending in self.collect:
            with pending as segment:
                count += len(segment)
        return count


def kernel_seconds(array, rounds):
    """Return what the kernel of the fast device alone takes, packet by packet."""
    found = np.empty(ITEMS + 1, np.int32)
    began = time.perf_counter()
    for begin in range(0, len(array), ITEMS):
        copy_drawn(array[begin : begin + ITEMS], rounds, found)
    return time.perf_counter() - began


def compare(array, rounds, trials):
    """Print a table of medians."""
    flows = {
        "static halves": Filtering(array, rounds, halves, "shared"),
        "first available, one memory": Filtering(array, rounds, first_available, "shared"),
        "first available, copied": Filtering(array, rounds, first_available, "own"),
    }
    expected = copy_drawn(array, rounds, np.empty(len(array) + 1, np.int32))
    times, ideals, shares = {name: [] for name in flows}, [], {}
    for _ in range(trials + 1):
        ideals.append(kernel_seconds(array, rounds) * SLOWER / (SLOWER + 1))
        for name, flow in flows.items():
            seconds, found, shares[name] = flow.run()
            assert found == expected
            times[name].append(seconds)
    ideal = statistics.median(ideals[1:])
    print(f"{f'ideal, {rounds} rounds of the hash':30}{ideal * 1e3:8.1f} ms  1.00")
    for name, seconds in times.items():
        median = statistics.median(seconds[1:])
        print(
            f"{name:30}{median * 1e3:8.1f} ms {median / ideal:5.2f} "
            f" fast device: {shares[name]:.0%} of the items"
        )


def main(megabytes=250, trials=7):
    """Compare with one round of a hash for each number, and with eight."""
    array = np.random.default_rng(0).integers(0, 1000, megabytes * 250_000, np.int32)
    for rounds in (1, 8):
        compare(array, rounds, trials)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
