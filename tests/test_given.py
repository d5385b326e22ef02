"""What callers give: numbers that fit go through unchanged, everything else is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from broadfront import given
from broadfront.errors import OptionError

FITS = [
    ([1, 2], np.int8, [1, 2]),
    ([-128, 127], np.int8, [-128, 127]),
    ([2.0, -3.0], np.int32, [2, -3]),
    ([True, False], np.int16, [1, 0]),
    ([2**64 - 1], np.uint64, [2**64 - 1]),
    (np.array([1, 2], object), np.int32, [1, 2]),
    (np.array([1, 2], ">i4"), np.int32, [1, 2]),
    ([0.1], np.float32, [np.float32(0.1)]),
    ([np.inf, -np.inf], np.float32, [np.inf, -np.inf]),
    ([], np.int32, []),
    (7, np.int32, 7),
]
DOES_NOT_FIT: list[tuple[Any, Any]] = [
    ([128], np.int8),
    ([-1], np.uint8),
    ([-1], np.uint64),
    ([7.5], np.int64),
    ([np.nan], np.int64),
    ([np.inf], np.int64),
    ([2.0**63], np.int64),
    ([-(2.0**63) * 1.1], np.int64),
    ([2**63], np.int64),
    ([10**30], np.int64),
    ([1e39], np.float32),
    ([1j], np.float64),
    (["1"], np.int32),
    ([[1], [1, 2]], np.int32),
    ([None], np.float64),
    ({1, 2}, np.int32),
]


@pytest.mark.parametrize(("values", "dtype", "expected"), FITS)
def test_numbers_that_fit(values: Any, dtype: Any, expected: Any) -> None:
    found = given.numbers(values, np.dtype(dtype), "them")
    assert found.dtype == dtype
    assert found.dtype.isnative
    assert found.tolist() == np.array(expected, dtype).tolist()


@pytest.mark.parametrize(("values", "dtype"), DOES_NOT_FIT)
def test_numbers_that_do_not_fit(values: Any, dtype: Any) -> None:
    with pytest.raises(OptionError, match="^them "):
        given.numbers(values, np.dtype(dtype), "them")


def test_the_number_that_does_not_fit_is_named() -> None:
    with pytest.raises(OptionError, match=r"start holds 300, which is no value of int8"):
        given.numbers([1, 300, 400], np.dtype(np.int8), "start")


def test_vertices() -> None:
    assert given.vertices([True, False, True], 3, "it").tolist() == [0, 2]
    assert given.vertices([2, 0, 2.0], 3, "it").tolist() == [2, 0, 2]
    assert given.vertices(1, 3, "it").tolist() == [1]
    assert given.vertices([], 0, "it").tolist() == []
    assert given.vertices(np.array([], bool), 0, "it").tolist() == []
    assert given.vertices([0], 1, "it").dtype == np.int64


@pytest.mark.parametrize(
    "places",
    [[3], [-1], [0.5], [np.nan], [10**30], np.array([2**63], np.uint64), [True, False], True,
     [[0]], "0", {0}, [None]],
)  # fmt: skip
def test_what_is_no_vertex(places: Any) -> None:
    with pytest.raises(OptionError, match="^it "):
        given.vertices(places, 3, "it")


def test_counts_and_numbers() -> None:
    assert given.count(np.int64(2), "threads") == 2
    assert type(given.count(np.uint8(2), "threads")) is int
    assert given.number(np.float32(0.5), "time_limit", 0) == 0.5
    wrong: Any
    for wrong in (0, -1, 1.5, 2.0, True, "2", None):
        with pytest.raises(OptionError, match="threads="):
            given.count(wrong, "threads")
    for wrong in ("5", None, True, np.nan, 1j, [1], -0.1):
        with pytest.raises(OptionError, match="time_limit="):
            given.number(wrong, "time_limit", 0)
