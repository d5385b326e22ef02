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
    assert length == 0 or array.ctypes.data % pages.CACHE_LINE == 0


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOMEM, "Cannot allocate memory"), OverflowError(), MemoryError()]
)
def test_no_memory(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(bf.OutOfMemoryError, match="no memory for 10,485,760 bytes") as caught:
        pages.new_array(1 << 20, np.int64)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    ("number", "told"), [(errno.ENOMEM, bf.OutOfMemoryError), (errno.EBADF, OSError)]
)
def test_a_file_that_cannot_be_mapped(
    number: int, told: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(told, match="a scratch file|refused"):
        pages.file_map(7, 0, "a scratch file")


def test_far_too_much() -> None:
    with pytest.raises(bf.OutOfMemoryError, match="no memory"):
        pages.new_array(1 << 59, np.int64)


class TestSpareMemory:
    """What one answer leaves, the next one takes."""

    @pytest.fixture(autouse=True)
    def _nothing_spare(self) -> None:
        pages._spare.clear()

    def test_is_taken_by_the_next_of_its_size(self) -> None:
        first = pages.answer_array(1 << 20, np.int32)
        address = first.ctypes.data
        other = pages.answer_array(1 << 20, np.int32)
        assert other.ctypes.data != address
        del first
        assert pages.answer_array(1 << 21, np.int32).ctypes.data != address
        assert pages.answer_array(1 << 19, np.float64).ctypes.data == address

    def test_is_taken_below_the_size_of_a_large_page_too(self) -> None:
        first = pages.answer_array(1 << 16, np.int32)
        address = first.ctypes.data
        del first
        again = pages.answer_array(1 << 16, np.int32)
        assert again.ctypes.data == address
        assert len(again) == 1 << 16

    def test_is_not_spare_while_a_view_is_left(self) -> None:
        array = pages.answer_array(1 << 20, np.int32)
        array.fill(7)
        view = array.view(np.uint32)[5:9]
        del array
        pages.answer_array(1 << 20, np.int32).fill(9)
        assert view.tolist() == [7] * 4

    def test_has_a_limit(self) -> None:
        arrays = [pages.answer_array(pages.SPARE // 4, np.int8) for _ in range(6)]
        assert pages.answer_array(2 * pages.SPARE, np.int8).nbytes == 2 * pages.SPARE
        del arrays
        assert [left.nbytes for left in pages._spare] == [pages.SPARE // 4] * 4

    def test_none_is_kept_where_nothing_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BROADFRONT_KEEP", "0")
        pages.answer_array(1 << 20, np.int32)
        assert pages._spare == []

    def test_answers_stay_as_they_are(self) -> None:
        graph = bf.generate("path:600000")
        first = bf.bfs(graph, 0).depth
        before = first.copy()
        bf.bfs(graph, 599_999)
        bf.bfs(graph, 300_000)
        assert (first == before).all()
