"""Asynchronous breadth-first search over a distributed worklist (Groute's figure 11).

An item is a vertex with a level. Each device owns a range of vertices and keeps the levels of all:
of its own the answer, of the others what it has sent, so that it sends nothing twice for nothing.
"""

import numpy as np

import broadfront as bf
from broadfront.routing import DROP, KEEP, PASS, Context, DistributedWorklist

ITEM = np.dtype([("vertex", np.int64), ("level", np.int64)])
UNREACHED = np.iinfo(np.int64).max


def breadth_first(graph, source, devices=2):
    context = Context(devices)
    owner = np.arange(graph.num_vertices) * devices // max(1, graph.num_vertices)
    levels = np.full((devices, graph.num_vertices), UNREACHED)

    def visit(device, items):
        items = items[items["level"] == levels[device.index, items["vertex"]]]
        begin, degree = graph.offsets[items["vertex"]], graph.degrees[items["vertex"]]
        step = np.arange(degree.sum()) - np.repeat(np.cumsum(degree) - degree, degree)
        found = np.empty(len(step), ITEM)
        found["vertex"] = graph.targets[np.repeat(begin, degree) + step]
        found["level"] = np.repeat(items["level"] + 1, degree)
        return np.unique(found)

    def improves(device, items):
        mine = levels[device.index]
        better = items["level"] < mine[items["vertex"]]
        np.minimum.at(mine, items["vertex"], items["level"])
        here = owner[items["vertex"]] == device.index
        return np.where(better, np.where(here, KEEP, PASS), DROP)

    def receive(device, items):
        here = owner[items["vertex"]] == device.index
        return np.where(here, improves(device, items), PASS)

    worklist = DistributedWorklist(
        context,
        visit,
        on_send=improves,
        on_receive=receive,
        priority=lambda _, items: items["level"],
    )
    worklist.push(np.array([(source, 0)], ITEM))
    worklist.run()
    return levels[owner, np.arange(graph.num_vertices)]


if __name__ == "__main__":
    print(np.bincount(breadth_first(bf.generate("grid:40x40"), 0)))
