"""GraphBLAS: the primitives in linear algebra, by hand, on python-graphblas and SuiteSparse.

Methods: levels with any_secondi for parents; Bellman-Ford over the changed distances by min_plus;
FastSV for components; power iteration; Brandes with all sources as rows of one matrix; the masked
product of the lower triangle with itself.

References
----------
Zhang, Azad, Hu: FastSV: a distributed-memory connected component algorithm (PP 2020).
"""

from __future__ import annotations

from typing import Any, ClassVar

import graphblas as gb
import numpy as np
from graphblas import Matrix, Vector, agg, binary, monoid, semiring

from broadfront.benchmark.systems.system import (
    DAMPING,
    ITERATIONS,
    PRIMITIVES,
    Finish,
    Question,
    System,
)
from broadfront.graph.csr import Graph


class GraphBLAS(System):
    """Matrices by rows: of booleans, and of int32 weights."""

    parallel: ClassVar[bool] = True
    notes: ClassVar[dict[str, str]] = dict.fromkeys(PRIMITIVES, "hand-written")

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        gb.ss.config["nthreads"] = threads

    def convert(self, graph: Graph, form: str, question: Question) -> Any:
        """Return a matrix of weights or of one boolean for all."""
        values: Any = True if graph.weights is None else graph.weights
        offsets, targets = graph.offsets.astype(np.uint64), graph.targets.astype(np.uint64)
        matrix = Matrix.from_csr(
            offsets, targets, values, dtype=None if form == "weighted" else bool,
            ncols=graph.num_vertices,
        )  # fmt: skip
        matrix.wait()
        return matrix

    def bfs(self, matrix: Any, question: Question) -> Finish:
        """Return parents, level by level; pushed or pulled as SuiteSparse sees fit."""
        size = matrix.nrows
        parent = Vector("int64", size)
        parent[question.source] = question.source
        front = parent.dup()
        while front.nvals:
            front(~parent.S, replace=True) << semiring.ss.any_secondi(matrix @ front)
            parent(front.S) << front
        return lambda: {"parent": parent.to_dense(-1)}

    def sssp(self, matrix: Any, question: Question) -> Finish:
        """Return distances: those that became shorter are offered on until none did."""
        distance = Vector("int32", matrix.nrows)
        distance[question.source] = 0
        front = distance.dup()
        while front.nvals:
            offers = semiring.min_plus(front @ matrix).new()
            worse = binary.ge(offers & distance).new()
            front = offers.dup(mask=~worse.V)
            distance(front.S) << front
        return lambda: {"distance": distance.to_dense(-1).astype(np.int64)}

    def components(self, matrix: Any, question: Question) -> Finish:
        """Return labels: parents hook to the smallest grandparent of their neighbours."""
        size = matrix.nrows
        parent = np.arange(size)
        grand = parent
        while True:
            vector = Vector.from_dense(grand)
            offer = vector.dup()
            offer(accum=binary.min) << semiring.min_second(matrix @ vector)
            smallest = offer.to_dense()
            hooked = np.minimum(parent, smallest)
            np.minimum.at(hooked, parent, smallest)
            hooked = np.minimum(hooked, grand)
            after = hooked[hooked]
            if np.array_equal(after, grand):
                break
            parent, grand = hooked, after
        return lambda: {"component": grand}

    def pagerank(self, matrix: Any, question: Question) -> Finish:
        """Return ranks after 20 iterations; the matrix is its own transpose."""
        size = matrix.nrows
        degree = matrix.reduce_rowwise(agg.count).new("float64")
        damped = binary.truediv(degree, DAMPING).new()
        rank = Vector.from_scalar(1 / size, size)
        for _ in range(ITERATIONS):
            shares = binary.truediv(rank & damped).new()
            stuck = rank.dup(mask=~degree.S).reduce(monoid.plus).get(0.0)
            rank = Vector.from_scalar((DAMPING * stuck + 1 - DAMPING) / size, size)
            rank(accum=binary.plus) << semiring.plus_second(matrix @ shares)
        return lambda: {"rank": rank.to_dense(0.0)}

    def betweenness(self, matrix: Any, question: Question) -> Finish:
        """Return dependencies: a row of each matrix belongs to a source."""
        count, size = len(question.sources), matrix.nrows
        paths = Matrix.from_coo(range(count), question.sources, 1.0, nrows=count, ncols=size)
        front = semiring.plus_first(paths @ matrix).new(mask=~paths.S)
        levels = []
        while front.nvals:
            levels.append(front)
            paths << binary.plus(paths | front)
            front = semiring.plus_first(front @ matrix).new(mask=~paths.S)
        raw = Matrix("float64", count, size)
        for level, above in zip(reversed(levels[1:]), reversed(levels[:-1]), strict=True):
            share = level.dup()
            share << 1.0
            share(accum=binary.plus) << raw.dup(mask=level.S)
            share << binary.truediv(share & level)
            back = semiring.plus_first(share @ matrix).new(mask=above.S)
            raw(accum=binary.plus) << binary.times(back & above)
        total = raw.reduce_columnwise(monoid.plus).new()
        return lambda: {"raw": total.to_dense(0.0)}

    def triangles(self, matrix: Any, question: Question) -> Finish:
        """Return the total: the product of the lower triangle with itself, where it has entries."""
        lower = matrix.select("tril", -1).new()
        closed = semiring.plus_pair["int64"](lower @ lower.T).new(mask=lower.S)
        total = int(closed.reduce_scalar(monoid.plus).value or 0)
        return lambda: {"total": total}
