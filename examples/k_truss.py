"""The k-truss: what is left when no edge is in fewer than k - 2 triangles of what is left.

Every edge counts its triangles, the weak ones go, and those that lost triangles by that are asked
again (Cohen 2008).
"""

import numpy as np

import broadfront as bf


def count(first, second, edge, common, state):
    state.triangles[edge] = common


TRIANGLES = bf.Program(
    fields={"triangles": bf.Field(np.int64, per="edge")}, step=[bf.Intersect(count)]
)


def k_truss(graph, k, **options):
    while True:
        triangles = bf.run(TRIANGLES, graph, **options)["triangles"]
        once = graph.sources() < graph.targets  # of the two arcs of an edge, that which counts
        strong = triangles[once] >= k - 2
        if strong.all():
            return graph
        graph = graph.edge_subgraph(strong)


if __name__ == "__main__":
    print(k_truss(bf.generate("kron:10:simple=yes"), 12))
