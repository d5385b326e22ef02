"""Devices in processes of their own, which hand each other bytes through sockets.

Every process runs one device of the same program: all make the same calls, with the same graph, and
each gets the whole answer. Runs of bytes are copied into a socket and out of it; nothing else is
shared, so what a run of bytes does not hold cannot be read (`carrying`).
"""

from __future__ import annotations

import ctypes
import pickle
import select
import socket
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device import control as controls
from broadfront.backends.cpu.device.call import address_of
from broadfront.backends.cpu.device.mail import Mail, Post
from broadfront.backends.cpu.transports import Transport, carrying
from broadfront.errors import DeviceError, OptionError

Array = NDArray[Any]

LOOK_EVERY = 0.05
"""Seconds to wait for a socket at a time, at most."""


@cache
def _carrier() -> tuple[int, Any]:
    address = address_of(carrying.carry)
    return address, ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


class Pipe(Transport):
    """One device of this process, and a socket to each of the others.

    Attributes
    ----------
    device
        The number of the device that runs here.
    written, read
        Bytes of runs that have gone through each socket since the beginning, by device.
    """

    name = "pipe"

    def __init__(self, device: int, sockets: Mapping[int, socket.socket]) -> None:
        self.device = device
        self._sockets = dict(sockets)
        self._devices = len(sockets) + 1
        self._words = np.zeros(carrying.words_for(self._devices), np.int64)
        self._address, self._carry = _carrier()
        self._kept: tuple[Any, ...] = ()

    def runs_here(self, device: int) -> bool:
        """Tell whether a device is the one of this process."""
        return device == self.device

    @property
    def apart(self) -> bool:
        """Whether some devices run elsewhere."""
        return True

    @property
    def written(self) -> list[int]:
        """Bytes of runs sent to each device."""
        return [int(link[carrying.WRITTEN]) for link in self._links]

    @property
    def read(self) -> list[int]:
        """Bytes of runs received from each device."""
        return [int(link[carrying.READ]) for link in self._links]

    @property
    def _links(self) -> Array:
        return self._words[carrying.HEAD_WORDS :].reshape(self._devices, carrying.PEER_WORDS)

    def link(self, device: int) -> tuple[int, int]:
        """Return the address of the carrier, and of its words."""
        return self._address, self._words.ctypes.data

    def begin(self, post: Post, mails: Sequence[Mail], control: Array) -> None:
        """Have the carrier know the boxes, flags and boards of a run."""
        if len(mails) != self._devices:
            problem = f"{self._devices} processes run a device each, and devices={len(mails)}"
            raise OptionError(f"{problem}: ask for as many as there are")
        words, own = self._words, control[self.device]
        words[: carrying.HEAD_WORDS] = 0
        words[: carrying.ENDING] = [
            self.device, self._devices, *(
                array.ctypes.data
                for array in (post.posted, post.taken, post.agreed, post.boxes, post.board,
                              post.reals, own)
            ),
        ]  # fmt: skip
        self._kept = (post, own)
        for device, link in enumerate(self._links):
            counted = link[[carrying.WRITTEN, carrying.READ]]
            link[:] = 0
            link[[carrying.WRITTEN, carrying.READ]] = counted
            if device in self._sockets:
                link[carrying.SOCKET] = self._sockets[device].fileno()
                link[carrying.IN_AT] = link[carrying.IN :].ctypes.data
                link[carrying.IN_LEFT] = 8 * carrying.ENVELOPE

    def end(self, control: Array, failed: bool) -> None:
        """Tell the others how the run has ended, and wait until they have told."""
        reason = int(control[0, controls.STOP])
        if reason == controls.BROKEN or (failed and reason == controls.RUNNING):
            reason = controls.LOST
        by = int(control[0, controls.STOPPED_BY]) if reason != controls.LOST else self.device
        words = self._words
        words[carrying.REASON], words[carrying.BY] = reason, by
        words[carrying.NEEDED] = control[by, controls.WANTED]
        words[carrying.ENDING] = 1
        while True:
            self._carry(words.ctypes.data)
            open_ = [device for device in self._sockets if not self._is_through(device)]
            if not open_:
                break
            waiting = [self._sockets[device] for device in open_]
            writing = [self._sockets[device] for device in open_ if self._has_more(device)]
            select.select(waiting, writing, [], LOOK_EVERY)
        self._kept = ()
        stopped = int(control[0, controls.STOP])
        if not failed and stopped != controls.RUNNING:  # by a device that ended later
            raise DeviceError("a device in another process has stopped the run", self.device)

    def _is_through(self, device: int) -> bool:
        link = self._links[device]
        if link[carrying.GONE]:
            return True
        return bool(link[carrying.ENDED]) and not self._has_more(device)

    def _has_more(self, device: int) -> bool:
        link = self._links[device]
        left = link[carrying.OUT_LEFT] + link[carrying.BODY_LEFT]
        return bool(left > 0 or not link[carrying.SENT_END])

    def gather(self, told: Any) -> list[Any]:
        """Return what every process tells, in the order of their devices."""
        content = pickle.dumps(told, protocol=pickle.HIGHEST_PROTOCOL)
        answers = [told] * self._devices
        for device, peer in sorted(self._sockets.items()):
            if self.device < device:  # so that of two one always listens
                _hand_over(peer, content)
                answers[device] = pickle.loads(_taken_over(peer, device))
            else:
                answers[device] = pickle.loads(_taken_over(peer, device))
                _hand_over(peer, content)
        return answers

    def close(self) -> None:
        """Close all sockets; the others then know that this process is gone."""
        for peer in self._sockets.values():
            peer.close()


def _hand_over(peer: socket.socket, content: bytes) -> None:
    peer.sendall(len(content).to_bytes(8, "little") + content)


def _taken_over(peer: socket.socket, device: int) -> bytes:
    def exactly(count: int) -> bytes:
        content = bytearray()
        while len(content) < count:
            piece = peer.recv(min(count - len(content), 1 << 20))
            if not piece:
                raise DeviceError(f"the process of cpu:{device} is gone", device)
            content += piece
        return bytes(content)

    return exactly(int.from_bytes(exactly(8), "little"))
