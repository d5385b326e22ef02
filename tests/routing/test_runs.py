"""Runs of a context: answers, errors, interrupts, limits, and the next run after each."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import broadfront as bf
from broadfront import threads
from broadfront.routing import Context, Link, Router


def echo(context: Context) -> tuple[Link, Link]:
    """Have the first device send back what it receives."""
    device = context.devices[0]
    there, back = Link(context.host, device), Link(device, context.host)

    def repeat() -> None:
        for pending in there:
            with pending as segment:
                back.send(segment)
        back.shutdown()

    device.assign(repeat)
    return there, back


def test_a_context_runs_again_and_again() -> None:
    context = Context(1)
    there, back = echo(context)

    def main(values: list[int]) -> list[int]:
        there.send(values)
        there.shutdown()
        return [int(value) for pending in back for value in pending.wait().array]

    for _ in range(3):
        assert context.run(main, [1, 2, 3]) == [1, 2, 3]
        assert context.report.links[0]["packets"] == 1


def test_an_error_of_one_ends_all_and_the_next_run_works() -> None:
    context = Context(3)
    there, back = echo(context)

    def fail() -> None:
        raise ZeroDivisionError("of a device")

    context.devices[1].assign(fail)
    with pytest.raises(ZeroDivisionError, match="of a device"):
        context.run(lambda: back.receive())
    context.jobs.pop()
    there_again = context.run(lambda: (there.send([5]), there.shutdown(), back.receive())[2])
    assert there_again.wait().array.tolist() == [5]


def test_the_error_of_a_policy_comes_out() -> None:
    context = Context(2)

    def nowhere(segment, source, destinations):
        return context.host

    router = Router(context, nowhere)
    Link(router, context.devices[1])
    link = Link(context.devices[0], router)
    context.devices[0].assign(link.send, [1])
    with pytest.raises(bf.RoutingError, match=r"sends to host; it may return .* cpu:1"):
        context.run()
    router.policy = lambda segment, source, destinations: []
    with pytest.raises(bf.RoutingError, match="to nobody"):
        context.run()


def test_all_waiting_is_an_error_that_says_who_waits_for_what() -> None:
    context = Context(2)
    there, back = Link(*context.devices), Link(*context.devices[::-1])
    context.devices[0].assign(back.receive)
    context.devices[1].assign(there.receive)
    with pytest.raises(bf.DeadlockError) as caught:
        context.run()
    for waits in ("cpu:0 for a segment on cpu:1 -> cpu:0", "cpu:1 for a segment on cpu:0 -> cpu:1"):
        assert waits in str(caught.value)


def test_one_that_ends_without_shutdown_is_noticed() -> None:
    context = Context(2)
    link = Link(*context.devices)
    context.devices[0].assign(link.send, [1])
    context.devices[1].assign(lambda: [pending.release() for pending in link])
    with pytest.raises(bf.DeadlockError, match="cpu:1 for a segment on cpu:0 -> cpu:1"):
        context.run()


def busy(context: Context) -> None:
    """Have all devices wait while one works in a loop that only looks for the end."""
    _, back = echo(context)

    def spin() -> None:
        while True:
            context.check()
            time.sleep(0.001)

    context.devices[1].assign(spin)
    context.host.assign(back.receive)


def test_the_time_limit_ends_all() -> None:
    context = Context(2)
    busy(context)
    before = threading.active_count()
    with pytest.raises(bf.TimeLimitError, match=r"time_limit=0\.05 s is over"):
        context.run(time_limit=0.05)
    assert threading.active_count() == before
    context.jobs.clear()
    assert context.run(lambda: 7, time_limit=60) == 7


@pytest.mark.usefixtures("interruptible")
def test_control_c_ends_all() -> None:
    context = Context(2)
    busy(context)
    timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        context.run(time_limit=60)
    timer.join()
    context.jobs.clear()
    assert context.run(lambda: 7) == 7


def test_a_run_inside_a_run_is_refused() -> None:
    context = Context(1)
    with pytest.raises(bf.OptionError, match="running already"):
        context.run(context.run)


def test_devices_have_their_share_of_the_cores_and_overlap() -> None:
    context = Context(["cpu*3", "cpu*1"])
    told, meeting = {}, threading.Barrier(2)

    def look(device) -> None:
        meeting.wait(60)
        told[device.name] = threads.count()

    for device in context.devices:
        device.assign(look, device)
    context.run(time_limit=60)
    assert told == {"cpu:0": 3, "cpu:1": 1}


def test_the_report_counts_packets_bytes_and_idle_time() -> None:
    context = Context(2)
    link = Link(*context.devices, packet_size=800, num_buffers=1)

    def send() -> None:
        time.sleep(0.02)
        link.send(np.zeros(250))
        link.shutdown()

    context.devices[0].assign(send)
    context.devices[1].assign(lambda: [pending.release() for pending in link])
    context.run()
    frame = context.report.to_pandas()
    assert frame[["packets", "bytes", "unreceived"]].values.tolist() == [[3, 2000, 0]]
    ends = context.report.to_pandas("endpoints").set_index("endpoint")
    assert ends.idle_seconds["cpu:1"] >= 0.01 > 0
    assert (ends.idle_seconds <= ends.seconds).all()
    text = repr(context.report)
    assert "cpu:0" in text
    assert "2,000" in text
