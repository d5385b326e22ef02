"""Totals and offers of whole numbers are exact in all 64 bits, wherever they are added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import atomics
from broadfront.errors import FunctorError, OptionError

SIZE = 40
LARGE = np.where(np.arange(SIZE) % 7 == 3, 2**53 + 1, 1)
LARGER = np.where(np.arange(SIZE) % 7 == 3, 2**61 + 1, 1).astype(np.uint64)
PYTHON = {"devices": "python"}
ALONE = {"threads": 1}

everywhere = pytest.mark.parametrize(
    "where",
    [
        PYTHON,
        ALONE,
        {"threads": 2},
        {"devices": 2, "partitioner": "range"},
        {"devices": 3, "partitioner": "random"},
        {"devices": 4, "partitioner": "metis"},
    ],
    ids=["python", "one", "two threads", "two", "three", "four"],
)


def both(vertex: int, state: Any) -> Any:
    atomics.maximum(state.most, 0, state.larger[vertex])
    atomics.minimum(state.least, 0, state.larger[vertex] + np.uint64(2**63))
    return state.large[vertex], state.larger[vertex]


def offered(neighbor: int, vertex: int, edge: int, state: Any) -> Any:
    return state.larger[neighbor] + np.uint64(2**63)


def keep(vertex: int, total: Any, state: Any) -> Any:
    state.most_near[vertex] = total
    return state.large[vertex]


def fields() -> dict[str, bf.Field]:
    return {
        "large": bf.Field(np.int64),
        "larger": bf.Field(np.uint64),
        "most_near": bf.Field(np.uint64),
        "total": bf.Field(np.int64, length=1),
        "unsigned": bf.Field(np.uint64, length=1),
        "in_frontier": bf.Field(np.int64, length=1),
        "in_frontier_too": bf.Field(np.uint64, length=1),
        "of_reduce": bf.Field(np.int64, length=1),
        "most": bf.Field(np.uint64, length=1, combine="max"),
        "least": bf.Field(np.uint64, length=1, combine="min", fill=2**64 - 1),
    }


TOTALS = bf.Program(
    fields(),
    step=[
        bf.Compute(both, sums=("total", "unsigned")),
        bf.Compute(both, sums=("in_frontier", "in_frontier_too"), over="frontier"),
        bf.Reduce(offered, keep, np.uint64(0), "max", sums=("of_reduce",)),
    ],
)


def run(where: dict[str, Any], large: Any = LARGE) -> Any:
    init = {"large": large, "larger": LARGER}
    return bf.run(TOTALS, bf.generate(f"path:{SIZE}"), frontier=range(1, SIZE), init=init, **where)


@everywhere
def test_totals_are_exact(where: dict[str, Any]) -> None:
    answer = run(where)
    assert answer["total"][0] == answer["of_reduce"][0] == sum(LARGE.tolist())
    assert answer["in_frontier"][0] == sum(LARGE[1:].tolist())
    assert answer["unsigned"][0] == sum(LARGER.tolist())
    assert answer["in_frontier_too"][0] == sum(LARGER[1:].tolist())


@everywhere
def test_unsigned_numbers_keep_their_order(where: dict[str, Any]) -> None:
    answer = run(where)
    assert answer["most"][0] == 2**61 + 1
    assert answer["least"][0] == 2**63 + 1
    near = [max(LARGER[max(v - 1, 0) : v + 2 : 2].tolist()) for v in range(1, SIZE)]
    assert answer["most_near"][1:].tolist() == [2**63 + each for each in near]


CHECKED = [PYTHON, ALONE | {"checked": True}, {"devices": 2, "checked": True}]


@pytest.mark.parametrize("where", CHECKED, ids=["python", "one", "two"])
def test_a_total_beyond_64_bits_raises(where: dict[str, Any]) -> None:
    assert run(where)["total"][0] == sum(LARGE.tolist())
    large = np.ones(SIZE, np.int64)
    large[[3, -3]] = 2**62  # which are on both devices: none alone has too much
    with pytest.raises(OverflowError, match=r"state\.total cannot hold"):
        run(where, large)


def half_way(vertex: int, state: Any) -> None:
    state.large[vertex] = (state.large[vertex] + state.large[vertex]) // 2


HALF_WAY = bf.Program({"large": bf.Field(np.int64)}, step=[bf.Compute(half_way)])


@pytest.mark.parametrize("where", CHECKED[:2], ids=["python", "one"])
def test_a_sum_on_the_way_beyond_64_bits_raises(where: dict[str, Any]) -> None:
    with pytest.raises(OverflowError, match="beyond 64 bits"):
        bf.run(HALF_WAY, bf.generate("path:2"), init={"large": np.array([1, 2**62])}, **where)


def of_vertex(neighbor: int, state: Any) -> Any:
    return state.larger[neighbor]


@pytest.mark.parametrize("functor", [of_vertex, offered])
@pytest.mark.parametrize("combine", ["max", "min", "sum"])
def test_offers_without_a_sign_need_an_identity_without(functor: Any, combine: str) -> None:
    program = bf.Program(fields(), step=[bf.Reduce(functor, keep, 0, combine)])
    with pytest.raises(FunctorError, match=r"identity=np\.uint64"):
        bf.run(program, bf.generate("path:3"), threads=1)


def test_identities_are_numbers_of_64_bits() -> None:
    assert type(bf.Reduce(offered, keep, np.int32(3)).identity) is int
    assert type(bf.Reduce(offered, keep, np.float32(3)).identity) is float
    assert type(bf.Reduce(offered, keep, 2**64 - 1, "min").identity) is np.uint64
    for beyond in (2**64, -(2**63) - 1):
        with pytest.raises(OptionError, match="beyond 64 bits"):
            bf.Reduce(offered, keep, beyond)
    with pytest.raises(OptionError, match=r"functor\(neighbor, vertex, edge, state\)"):
        bf.Reduce(of_vertex, keep, np.uint64(0))
