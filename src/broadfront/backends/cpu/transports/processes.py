"""A process for each device, all connected by pipes, which call the same functions.

>>> from broadfront.backends.cpu.transports.processes import Processes
>>> with Processes(2) as both:  # doctest: +SKIP
...     first, second = both.call(bf.bfs, graph, 0, devices=2)
"""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Callable
from itertools import combinations
from multiprocessing.connection import Connection
from typing import Any

from broadfront.backends.cpu.transports import using
from broadfront.backends.cpu.transports.pipe import Pipe

CLOSING_SECONDS = 10


class Processes:
    """Processes that each run one device; use it as a context manager."""

    def __init__(self, devices: int) -> None:
        start = multiprocessing.get_context("spawn")
        pairs = {pair: socket.socketpair() for pair in combinations(range(devices), 2)}
        self._workers = []
        self._doors: list[Connection] = []
        for device in range(devices):
            own = {
                peer: pairs[min(device, peer), max(device, peer)][int(device > peer)]
                for peer in range(devices)
                if peer != device
            }
            here, there = start.Pipe()
            worker = start.Process(target=_work, args=(device, own, there), daemon=True)
            worker.start()
            there.close()
            self._workers.append(worker)
            self._doors.append(here)
        for one, other in pairs.values():
            one.close()
            other.close()

    def call(self, function: Callable[..., Any], *given: Any, **named: Any) -> list[Any]:
        """Call a function in every process at once; return what each returns, or has raised."""
        self.send(function, *given, **named)
        return self.receive()

    def send(self, function: Callable[..., Any], *given: Any, **named: Any) -> None:
        """Have a function called in every process."""
        for door in self._doors:
            door.send((function, given, named))

    def receive(self) -> list[Any]:
        """Return what each process has returned, or raised."""
        return [self._answer(number) for number in range(len(self._doors))]

    def traffic(self) -> list[list[int]]:
        """Return for each device the bytes of runs that it has received from each, ever."""
        return self.call(_received)

    def process(self, device: int) -> Any:
        """Return the process of a device."""
        return self._workers[device]

    def _answer(self, number: int) -> Any:
        try:
            return self._doors[number].recv()
        except EOFError:
            return EOFError(f"the process of cpu:{number} is gone")

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        for door in self._doors:
            door.close()
        for worker in self._workers:
            worker.join(CLOSING_SECONDS)
            if worker.is_alive():
                worker.kill()
                worker.join()


def _received() -> list[int]:
    from broadfront.backends.cpu.transports import current

    transport = current()
    assert isinstance(transport, Pipe)
    return transport.read


def _work(device: int, sockets: dict[int, socket.socket], door: Connection) -> None:
    """Answer calls until nobody is there to ask."""
    pipe = Pipe(device, sockets)
    with using(pipe):
        while True:
            try:
                function, given, named = door.recv()
            except (EOFError, OSError):
                break
            try:
                answer = function(*given, **named)
            except BaseException as error:
                answer = error
            door.send(answer)
    pipe.close()
