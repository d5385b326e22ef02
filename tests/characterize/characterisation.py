"""A characterisation that nobody measured, for the tests of what is shown of one."""

from __future__ import annotations

from broadfront.characterize.cases import DEGREES, SKEWS
from broadfront.characterize.findings import COUNTED, DERIVED, Facts, Findings, Row, Step
from broadfront.characterize.searches import SEARCHES
from broadfront.characterize.ways import MODELS, PRIMITIVES

GRAPHS = {"kron:10": 10_693, "grid:30x30 <&>": 1_740}


def row(study: str, graph: str, primitive: str, place: int, **more: object) -> Row:
    """Return a row of the model at a place; later ones are slower."""
    steps = tuple(Step(10**n, 30 * 10**n, 4.0 * (place + 1) * 2**n, n > 2) for n in range(5))
    return Row(
        study, graph, primitive, MODELS[place],
        trials=(0.002 * (place + 1), 0.001 * (place + 1), 0.003 * (place + 1)),
        edges_reached=GRAPHS.get(graph, 5_000), iterations=5 + place, barriers=11 * (place + 1),
        kernel_calls=5 if place == 3 else 1, atomics=0 if place == 2 else 9_832,
        edges_visited=56_282, memory_bytes=600_000 + 100_000 * place,
        phases={"push and all else": 0.001, "pull": 0.0005, "outside the loop": 0.0005 * place},
        steps=steps, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def findings() -> Findings:
    """Return all studies, two graphs."""
    found = Findings({"threads": 2, "repeats": 3}, [
        Facts(graph, 1_024, edges, 2 * edges / 1_024, 463, 5) for graph, edges in GRAPHS.items()
    ])  # fmt: skip
    traffic = {"graph": (4_000_000, 0), "fields": (100_000, 50_000), "work": (70_000, 30_000)}
    for graph in GRAPHS:
        for primitive in PRIMITIVES:
            found.rows += [
                row("models", graph, primitive, place, traffic=traffic, traffic_by=COUNTED)
                for place in range(len(MODELS))
            ]
        found.rows += [
            Row("searches", graph, "bfs", name, trials=(0.004,), edges_reached=GRAPHS[graph],
                iterations=6, traffic={"all": (9_000_000, 80_000)}, traffic_by=DERIVED,
                phases={"kernel 1": 0.01, "kernel 2": 0.004, "validation": 0.006}, lines=one.lines)
            for name, one in SEARCHES.items()
        ]  # fmt: skip
    for place in range(len(MODELS)):
        found.rows.append(row("tree", "tree of 7 levels", "bfs", place))
        found.rows += [row("degree", f"{family}:{degree}", "bfs", place, family=family,
                           parameter=degree)
                       for family in ("regular", "R-MAT") for degree in DEGREES]  # fmt: skip
        found.rows += [row("skew", f"rmat {ratio}", primitive, place, family="R-MAT",
                           parameter=ratio)
                       for primitive in ("bfs", "pagerank") for ratio in SKEWS]  # fmt: skip
    return found
