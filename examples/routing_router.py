"""Routers: a sum up a tree, and the outcome to everyone (Groute's sections 3 and 4.2).

Each device adds what its children in the tree send it, and sends the sum to its parent; the host
gets that of all and broadcasts it. Nobody says how many messages will come: a link ends when all
who can reach it have shut down.
"""

import numpy as np

from broadfront.routing import Context, Link, Router, broadcast, tree_reduction


def sum_everywhere(arrays):
    context = Context(len(arrays))
    up, down = Router(context, tree_reduction), Router(context, broadcast)
    from_children = {end: Link(up, end) for end in (*context.devices, context.host)}
    to_parent = {device: Link(device, up) for device in context.devices}
    to_all = Link(context.host, down)
    sums = {}

    def add_up(device, from_host):
        total = arrays[device.index].copy()
        for pending in from_children[device]:
            with pending as segment:
                total[segment.offset :][: len(segment)] += segment.array
        to_parent[device].send(total)
        to_parent[device].shutdown()
        sums[device.name] = np.concatenate([pending.wait().array for pending in from_host])

    for device in context.devices:
        device.assign(add_up, device, Link(down, device))

    def main():
        for pending in from_children[context.host]:
            with pending as segment:
                to_all.send(segment)
        to_all.shutdown()

    context.run(main)
    return sums


if __name__ == "__main__":
    print(sum_everywhere([np.arange(4) * place for place in range(5)]))
