"""Large arrays: what they hold, and what happens where the system has no memory for one."""

from __future__ import annotations

import errno
import mmap

import numpy as np
import pytest

import broadfront as bf
from broadfront import pages


@pytest.mark.parametrize("length", [0, 10, 1 << 20])
def test_zeros(length: int) -> None:
    array = pages.zeros(length, np.int64)
    assert array.dtype == np.int64
    assert array.shape == (length,)
    assert not array.any()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOMEM, "Cannot allocate memory"), OverflowError(), MemoryError()]
)
def test_no_memory(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(bf.OutOfMemoryError, match="no memory for 8,388,608 bytes") as caught:
        pages.new_array(1 << 20, np.int64)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.__cause__ is error


def test_far_too_much() -> None:
    with pytest.raises(bf.OutOfMemoryError, match="no memory"):
        pages.new_array(1 << 59, np.int64)
