"""A way of one's own to combine: gcd, sums that stop, on every device as in Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import broadfront as bf
import zoo

MOST = 9


def greatest_divisor(one, other):
    while other != 0:
        one, other = other, one % other
    return one


def up_to_nine(one, other):
    return min(one + other, MOST)


DIVISOR = bf.Monoid(greatest_divisor, 0, idempotent=True)
SOME = bf.Monoid(up_to_nine, 0)


def one_more(source, neighbor, edge, state):
    return 1


def two_each(neighbor, state):
    return 2


def store(vertex, total, state):
    state.offered[vertex] = total


def everyone(vertex, state):
    return True


def spread(source, neighbor, edge, state):
    return state.divisor[source]


BOTH = bf.Program(
    fields={
        "heard": bf.Field(np.int16, combine=SOME),
        "offered": bf.Field(np.int64),
        "divisor": bf.Field(np.int64, combine=DIVISOR),
    },
    phases=[
        bf.Phase([bf.Advance(one_more, into="heard")], limit=3),
        bf.Phase([bf.Reduce(two_each, store, combine=SOME), bf.Filter(everyone, over="vertices")]),
        bf.Phase([bf.Advance(spread, into="divisor")]),
    ],
)
PLACES = [
    {"devices": "python"}, {"threads": 1}, {"threads": 2},
    {"devices": 2}, {"devices": 3, "partitioner": "range"}, {"devices": 4, "partitioner": "metis"},
    {"devices": 2, "partitioner": "biased", "relabel": False},
]  # fmt: skip


def arcs_of(graph):
    return [(source, int(target)) for source in range(graph.num_vertices)
            for target in graph.neighbors(source)]  # fmt: skip


def heard_of(graph):
    heard, frontier = [0] * graph.num_vertices, set(range(graph.num_vertices))
    for _ in range(3):
        targets = [target for source, target in arcs_of(graph) if source in frontier]
        for target in targets:
            heard[target] = min(MOST, heard[target] + 1)
        frontier = set(targets)
    return heard


def divisors_of(graph, numbers):
    numbers, changed = list(numbers), True
    while changed:
        before = list(numbers)
        for source, target in arcs_of(graph):
            numbers[target] = math.gcd(numbers[target], numbers[source])
        changed = numbers != before
    return numbers


def agree(graph, numbers, places):
    offers = [0] * graph.num_vertices
    for _, target in arcs_of(graph):
        offers[target] = min(MOST, offers[target] + 2)
    for where in places:
        answer = bf.run(BOTH, graph, frontier=np.arange(graph.num_vertices),
                        init={"divisor": np.array(numbers, np.int64)}, **where)  # fmt: skip
        assert answer["heard"].tolist() == heard_of(graph), where
        assert answer["offered"].tolist() == offers, where
        assert answer["divisor"].tolist() == divisors_of(graph, numbers), where
        assert len(answer.frontier) == 0


@pytest.mark.parametrize("name", zoo.ZOO)
def test_a_monoid_combines_alike_on_every_device(name):
    graph = zoo.ZOO[name].graph()
    agree(graph, [6 * (vertex % 7) + 6 for vertex in range(graph.num_vertices)], PLACES)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(zoo.edges(), st.sampled_from(PLACES[1:]), st.integers(1, 60))
def test_a_monoid_combines_alike_on_any_graph(animal, where, factor):
    graph = animal.graph()
    agree(graph, [factor * (vertex % 5) for vertex in range(graph.num_vertices)], [where])


def test_threads_that_meet_in_one_vertex_lose_nothing():
    graph = bf.generate("star:20001")
    numbers = np.full(20001, 30)
    numbers[1::2], numbers[7] = 42, 35
    for threads in (1, 2, 4):
        answer = bf.run(BOTH, graph, frontier=np.arange(20001), init={"divisor": numbers},
                        threads=threads)  # fmt: skip
        assert (answer["divisor"] == 1).all()
        assert answer["heard"][0] == MOST
        assert (answer["heard"][1:] == 3).all()


# ---------------------------------------------------------------------- what is refused


def test_the_identity_fills_a_field():
    field = bf.Field(np.float64, combine=bf.Monoid(lambda one, other: one * other, 1.0))
    assert field.fill == 1.0
    assert field.adds_up
    assert bf.Field(np.int64, fill=7, combine=DIVISOR).fill == 7


def halves(one, other):
    return (one + other) / 2


def raises(one, other):
    raise ValueError("no")


@pytest.mark.parametrize(("make", "text"), [
    (lambda: bf.Monoid("min", 0), "expected a function"),
    (lambda: bf.Monoid(spread, 0), "spread takes other than two elements"),
    (lambda: bf.Monoid(halves, 0, idempotent=1), "idempotent=1"),
    (lambda: bf.Field(np.int64, combine=bf.Monoid(raises, 0)), "function raises of the identity"),
    (lambda: bf.Field(np.int64, combine=bf.Monoid(up_to_nine, 10)), "up_to_nine makes 9"),
    (lambda: bf.Field(np.int64, combine=bf.Monoid(up_to_nine, 0.5)), "holds 0.5"),
    (lambda: bf.Field(np.int64, combine=bf.Monoid(up_to_nine, (0, 1))), "is not one number"),
    (lambda: bf.Field(np.int64, combine=SOME, length=1), "shared values"),
    (lambda: bf.Field(np.int64, combine=greatest_divisor), "or a Monoid"),
    (lambda: bf.Reduce(two_each, store, identity=1, combine=SOME), "not that of the Monoid"),
])  # fmt: skip
def test_what_is_no_monoid_is_refused(make, text):
    with pytest.raises((bf.OptionError, bf.FunctorError), match=text):
        make()


def minus(one, other):
    return one - other


def plus(one, other):
    return one + other


def larger(one, other):
    return one if abs(one) > abs(other) else other


def within_nine(one, other):
    return max(-9, min(9, one + other))


LAWLESS = [
    (bf.Monoid(halves, 0.0), r"halves makes 0\.5 of 0\.0 and 1\.0: with the identity 0\.0"),
    (bf.Monoid(minus, 0), r"minus makes -1\.0 of 0 and 1\.0"),
    (
        bf.Monoid(plus, 0, idempotent=True),
        r"makes 2\.0 of 1\.0 with itself, .* or leave idempotent",
    ),
    (bf.Monoid(larger, 0, idempotent=True), "these the other way around: proposals meet in any o"),
    (bf.Monoid(within_nine, 0), "by which two meet first: proposals meet in any groups"),
]


@pytest.mark.parametrize("where", [{}, {"devices": "python"}, {"devices": 2}], ids=str)
@pytest.mark.parametrize(("monoid", "text"), LAWLESS, ids=lambda each: str(each)[:20])
def test_a_law_that_does_not_hold_for_how_a_run_begins_is_refused(monoid, text, where):
    program = bf.Program(
        {"heard": bf.Field(np.float64, combine=monoid)}, step=[bf.Advance(one_more, into="heard")]
    )
    begin = {"heard": np.array([1.0, -1, 8, 0])}
    with pytest.raises(bf.OptionError, match=text):
        bf.run(program, bf.generate("path:4"), frontier=[0], init=begin, **where)


def index(source, neighbor, edge, state):
    return state.ids[source] - 1


def test_laws_are_tried_out_on_all_that_meets_in_plain_python():
    heard = bf.Field(np.int64, combine=bf.Monoid(larger, 0, idempotent=True))
    program = bf.Program({"heard": heard}, phases=[bf.Phase([bf.Advance(index, "heard")], limit=1)])
    star = bf.generate("star:5")
    assert bf.run(program, star, frontier=[2], devices="python", checked=True)["heard"][0] == 1
    with pytest.raises(bf.OptionError, match="larger makes 1 of -1 and 1"):
        bf.run(program, bf.from_edges([0, 2], [1, 1]), frontier=[0, 2], devices="python",
               checked=True)  # fmt: skip


@pytest.mark.parametrize("where", [{}, {"devices": "python"}, {"devices": 2}])
def test_a_function_that_returns_something_else_is_named(where):
    program = bf.Program(
        {"mean": bf.Field(np.int64, combine=bf.Monoid(halves, 0))},
        step=[bf.Advance(one_more, into="mean")],
    )
    with pytest.raises(bf.FunctorError, match=r"halves|state\.mean cannot hold 0\.5"):
        bf.run(program, bf.generate("path:4"), frontier=[0], **where)
