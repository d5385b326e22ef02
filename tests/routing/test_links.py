"""Links and segments: what is copied, what waits, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.routing import Context, Link, Router, Segment


def pair(**how: object) -> tuple[Context, Link]:
    context = Context(2)
    return context, Link(*context.devices, **how)


@given(st.integers(0, 200), st.integers(8, 100), st.sampled_from(["i1", "i8", "u4,i2"]))
def test_packets_are_the_array_in_order(length: int, size: int, dtype: str) -> None:
    array = np.arange(length * np.dtype(dtype).itemsize).astype(np.int8).view(dtype)
    parts = list(Segment(array, "note").packets(size))
    assert all(part.nbytes <= size and part.metadata == "note" for part in parts)
    assert all(part.total == length for part in parts)
    np.testing.assert_array_equal(np.concatenate([part.array for part in parts]), array)
    offsets = [part.offset for part in parts]
    assert offsets == np.cumsum([0, *map(len, parts)])[:-1].tolist()


def test_what_crosses_memories_is_copied_and_what_does_not_is_not() -> None:
    context = Context(2)
    first, second = context.devices
    array = np.arange(4)
    across, within = Link(first, second), Link(first, first.virtual("receiver"))
    across.send(array)
    within.send(array)
    with across.receive() as segment:
        assert not np.shares_memory(segment.array, array)
        assert segment.array.tolist() == [0, 1, 2, 3]
    assert np.shares_memory(within.receive().wait().array, array)
    shared = Context(2, memory="shared")
    link = Link(*shared.devices)
    link.send(array)
    assert np.shares_memory(link.receive().wait().array, array)
    assert second.memory.reserved == 2 << 20
    assert first.memory.reserved == shared.host.memory.reserved == 0


def test_arrays_of_any_shape_and_layout() -> None:
    _, link = pair()
    for array in (
        np.arange(12).reshape(3, 4).T,
        np.arange(9)[::-2],
        np.float32(3),
        np.empty((0, 3)),
    ):
        link.send(array)
        with link.receive() as segment:
            np.testing.assert_array_equal(segment.array, np.atleast_1d(array))


def test_a_future_is_done_when_a_buffer_was_free() -> None:
    _, link = pair(num_buffers=1, packet_size=8)
    future = link.send_async(np.array([1, 2]))
    coming = link.receive_async()
    assert not future.done()
    with coming.result() as segment:
        assert segment.array.tolist() == [1]
    assert future.done()
    assert future.result() is None
    assert coming.result() is coming.result()
    assert link.receive_async().result().wait().array.tolist() == [2]
    assert not link.receive_async().done()


def test_waiting_where_nothing_runs_is_an_error_and_no_hang() -> None:
    _, link = pair(num_buffers=1)
    with pytest.raises(bf.DeadlockError, match="no segment on cpu:0 -> cpu:1"):
        link.receive()
    link.send([1])
    with pytest.raises(bf.DeadlockError, match="no free buffer of cpu:0 -> cpu:1"):
        link.send([2])


def test_after_shutdown_nothing_is_sent_and_the_end_is_received() -> None:
    _, link = pair()
    link.send([1])
    link.shutdown()
    with pytest.raises(bf.RoutingError, match="cpu:0 -> cpu:1 is shut down"):
        link.send([2])
    assert [pending.wait().array.tolist() for pending in link] == [[1]]
    assert link.receive() is None


def test_a_buffer_is_released_once() -> None:
    _, link = pair(num_buffers=1)
    link.send([1])
    pending = link.receive()
    pending.release()
    pending.release()
    assert link.free == [0]


def test_what_is_no_dataflow_is_refused() -> None:
    context = Context(2)
    first, second = context.devices
    Link(first, second)
    router, other = Router(context), Router(context)
    refused = [
        ((first, first), "from cpu:0 to itself"),
        ((first, second), "from cpu:0 to cpu:1 already: for a second one make a virtual"),
        ((first, Context(2).devices[1]), "different contexts"),
        ((router, other), "are routers: link endpoints to one of them"),
        ((first, "cpu:1"), "'cpu:1' is no endpoint"),
    ]
    for ends, problem in refused:
        with pytest.raises(bf.RoutingError, match=problem):
            Link(*ends)
    with pytest.raises(bf.OptionError, match="packet_size=0"):
        Link(second, first, packet_size=0)
    with pytest.raises(bf.OptionError, match="memory='mine'"):
        Context(2, memory="mine")
    with pytest.raises(bf.OptionError, match="endpoint 'cpu:0/a' already"):
        [first.virtual("a") for _ in range(2)]
    assert len(context.links) == 1


def test_what_cannot_be_sent_is_refused() -> None:
    context = Context(2)
    router = Router(context)
    link, out = Link(context.devices[0], router, packet_size=4), Link(router, context.devices[1])
    with pytest.raises(bf.RoutingError, match="8 bytes does not fit packet_size=4"):
        link.send([1, 2])
    with pytest.raises(bf.RoutingError, match="Python objects"):
        link.send(np.array([None]))
    with pytest.raises(bf.RoutingError, match="leaves a router"):
        out.send([1])
    with pytest.raises(bf.RoutingError, match="leads to a router"):
        link.receive()


def test_buffers_beyond_the_limit_are_refused() -> None:
    context = Context(2, memory_limit=1000)
    Link(*context.devices, packet_size=400, num_buffers=2)
    with pytest.raises(bf.DeviceMemoryError, match="400 bytes, and of .*=1,000 .* 200 are left"):
        Link(context.host, context.devices[1], packet_size=400, num_buffers=1)
    assert context.devices[1] not in context.host.outgoing
