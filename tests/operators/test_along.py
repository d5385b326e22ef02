"""An Advance against the arcs is one along the arcs of the graph turned round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import broadfront as bf
from problems import with_weights
from zoo import ZOO, Animal, edges

FAR = 1 << 40
WHERE = [
    {"threads": 1}, {"threads": 2},
    *({"devices": count, "partitioner": how} for count, how in
      [(2, "range"), (3, "random"), (4, "biased")]),
]  # fmt: skip


def further(source, neighbor, edge, state):
    return state.distance[source] + state.weight[edge]


def near_first(vertex, state):
    return state.distance[vertex]


def one_hop(source, neighbor, edge, state):
    return state.hops[source] + 1


def unreached(vertex, state):
    return state.hops[vertex] == FAR


def mark(source, neighbor, edge, state):
    return 1


def unmarked(vertex, state):
    return state.behind[vertex] == 0


def reached_first(vertex, state):
    return state.ids[vertex] == 0


DISTANCE = {"distance": bf.Field(np.float64, fill=np.inf, combine="min")}
PUSHED = bf.Advance(further, into="distance", along="in")
DISTANCES = {
    "by degree": bf.Program(DISTANCE, step=[PUSHED]),
    "in order": bf.Program(DISTANCE, step=[replace(PUSHED, priority=near_first, width=1.0)]),
}
HOPS = bf.Program(
    {"hops": bf.Field(np.int64, fill=FAR, combine="min"), "parent": bf.Field("vertex", fill=-1)},
    step=[bf.Advance(one_hop, into="hops", cond=unreached, record_source="parent", along="in")],
)
BOTH_WAYS = bf.Program(
    {name: bf.Field(np.uint8, combine="max") for name in ("ahead", "behind")},
    phases=[
        bf.Phase([bf.Advance(mark, into="ahead")]),
        bf.Phase([bf.Filter(reached_first, over="vertices")]),
        bf.Phase([bf.Advance(mark, into="behind", cond=unmarked, along="in")]),
    ],
)
"""What can be reached from the first vertex, and what it can be reached from."""


def start(graph: bf.Graph, **values: Any) -> dict[str, Any]:
    some = graph.num_vertices > 0
    begins = {name: {0: value} if some else {} for name, value in values.items()}
    return {"frontier": [0] if some else [], "init": begins}


def check_distances(animal: Animal, program: bf.Program) -> None:
    graph = with_weights(animal).graph()
    step = [replace(program.step[0], along="out")]
    turned = replace(program, step=step)
    how = start(graph, distance=0.0)
    expected = bf.run(turned, graph.transpose, **how, devices="python")["distance"]
    for where in [{"devices": "python"}, *WHERE]:
        found = bf.run(program, graph, **how, **where)["distance"]
        np.testing.assert_array_equal(found, expected, str(where))


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_to_a_vertex(name: str) -> None:
    for animal in ZOO.values():
        check_distances(animal, DISTANCES[name])


@settings(max_examples=20, deadline=None)
@given(edges())
def test_distances_to_a_vertex_of_any_graph(animal: Animal) -> None:
    check_distances(animal, DISTANCES["by degree"])


def check_hops(graph: bf.Graph) -> None:
    how = start(graph, hops=0)
    expected = bf.run(HOPS, graph, **how, devices="python")
    for where in WHERE:
        found = bf.run(HOPS, graph, **how, **where)
        np.testing.assert_array_equal(found["hops"], expected["hops"], str(where))
        reached = np.flatnonzero((found["hops"] > 0) & (found["hops"] < FAR))
        parents = found["parent"][reached]
        assert (found["hops"][parents] == found["hops"][reached] - 1).all()
        for vertex, parent in zip(reached[:20].tolist(), parents[:20].tolist(), strict=True):
            assert parent in graph.neighbors(vertex)


def test_hops_to_a_vertex_pushed_and_pulled() -> None:
    for animal in ZOO.values():
        check_hops(animal._replace(weight=None).graph())
    ways = bf.generate("rmat:10:directed=true")
    check_hops(ways)


def test_both_ways_in_one_program() -> None:
    graphs = [animal._replace(weight=None).graph() for animal in ZOO.values()]
    graphs.append(bf.generate("rmat:9:directed=true"))
    for graph in graphs:
        how = start(graph)
        expected = bf.run(BOTH_WAYS, graph, **how, devices="python")
        for where in WHERE:
            found = bf.run(BOTH_WAYS, graph, **how, **where)
            for name in BOTH_WAYS.fields:
                np.testing.assert_array_equal(found[name], expected[name], f"{name} {where}")


def test_many_sources_against_the_arcs() -> None:
    graph = with_weights(ZOO["directed cycle"]).graph()
    how = {"frontier": [0, 7], "init": {"distance": {0: 0.0, 7: 0.0}}}
    rows = bf.run_each(DISTANCES["by degree"], graph, **how)["distance"]
    np.testing.assert_array_equal(rows[1], np.roll(rows[0], 7))
    assert rows[0][19] == 1.5


def test_hubs_of_incoming_arcs_are_walked() -> None:
    """A vertex that many arcs come to is shared among threads, though few leave any."""
    leaves = np.arange(1, 10_001)
    graph = bf.from_edges(leaves, 0 * leaves, np.ones(10_000))
    how = start(graph, distance=0.0)
    for where in WHERE:
        found = bf.run(DISTANCES["by degree"], graph, **how, **where)["distance"]
        np.testing.assert_array_equal(found, [0.0, *np.ones(10_000)], str(where))


def test_a_side_is_one_of_two() -> None:
    with pytest.raises(bf.OptionError, match="along='up'"):
        bf.Program(DISTANCE, step=[replace(PUSHED, along="up")])
