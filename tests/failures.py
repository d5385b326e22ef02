"""Every allocation, thread, memory map and access to a file fails in turn.

``python tests/failures.py [groups] [--full]`` makes each call of `failing_calls` with its first
failure (see `failing`), then with its second, and so on until nothing fails any more. After each:

- the call has raised a `MemoryError`, or an `OSError` if it was a file that failed, or has worked;
- nothing was said on the side: no error in a destructor or thread, no other warning;
- the folder has no other files than before, and each is whole: the old one or the new one;
- no thread is left that was not there before;
- the same call with the same graph gives the right answer.

Hangs end the process, with what all threads do. `make failing` makes all calls, ``test_failing.py``
some of them.
"""

from __future__ import annotations

import failing

failing.install()  # before anything compiled is loaded

import _thread
import argparse
import faulthandler
import gc
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from broadfront import threads
from broadfront.backends.cpu.device import workspace
from failing_calls import Call, Columns, is_kept_whole
from failing_runs import GROUPS

PATIENCE = 60.0
"""Seconds after which a call hangs."""
RIGHT = {failing.MEMORY: MemoryError, failing.THREADS: MemoryError, failing.FILES: OSError}
"""What a failure of each kind is to be told as."""

_aside: list[str] = []
"""What destructors and threads have said."""


def main() -> int:
    """Make the calls; return how many of them went wrong."""
    parser = argparse.ArgumentParser(description="Have everything fail in turn.")
    parser.add_argument("groups", nargs="*", default=list(GROUPS)[:-1])
    parser.add_argument("--full", action="store_true", help="all formats, all primitives")
    parser.add_argument("--most", type=int, default=1 << 30, help="failures of a call, about")
    parser.add_argument("--only", default="", help="calls whose names hold this")
    given = parser.parse_args()
    sys.unraisablehook = _note
    threading.excepthook = _note
    warnings.simplefilter("error")
    wrong = 0
    for group in given.groups:
        with tempfile.TemporaryDirectory() as folder:
            for call in GROUPS[group](given.full):
                if given.only in call.name:
                    wrong += _in_turn(call, Path(folder), given.most)
    return wrong


def _note(told: Any) -> None:
    _aside.append(f"on the side: {told.exc_type.__name__}: {told.exc_value}")


def _in_turn(call: Call, folder: Path, most: int) -> bool:
    """Have all of a call fail in turn; say what came of it, and tell whether any of it is wrong."""
    began = time.perf_counter()
    faulthandler.dump_traceback_later(PATIENCE * 2, exit=True)
    thing, counted = call.fresh(folder), failing.Failure(0)
    expected, files = call.call(thing), _files(folder)
    _let_go()
    with counted:
        call.call(call.fresh(folder))
    step = max(1, counted.met // most)
    gc.collect()
    gc.freeze()  # so that collecting takes no time below
    found: dict[str, None] = {}
    counts = []
    for lasting in (False, True):
        failure = failing.Failure(0, lasting=lasting)
        while failure.met >= failure.number:
            failure = failing.Failure(failure.number + step, lasting=lasting)
            for problem in _problems(call, folder, failure, expected, files):
                found[f"{', '.join(failure.places[:1])}: {problem}"] = None
        counts.append(failure.met)
    seconds = time.perf_counter() - began
    told = f"{counts[0]} + {counts[1]} failures, every {step} of them, {seconds:.1f} s"
    print(f"{call.name}: {told}", *found, sep="\n    ", flush=True)
    return bool(found)


def _problems(
    call: Call,
    folder: Path,
    failure: failing.Failure,
    expected: Columns,
    files: dict[str, bytes],
) -> Iterator[str]:
    """Make a call with a failure, and again without; yield what is wrong."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    _let_go()
    thing, before, threads_before = call.fresh(folder), _files(folder), _thread._count()
    found: Columns | None = None
    try:
        with failure:
            found = call.call(thing)
    except Exception as error:
        yield from _wrong_error(call, failure, error)
    if found is not None:
        yield from _differences(call, found, expected, "the answer")
    after = _files(folder)
    for name in after.keys() - before.keys() - files.keys():
        yield f"{name} was left behind"
    for name, content in after.items():
        whole = call.caches and is_kept_whole(content)
        if not whole and content not in (before.get(name), files.get(name)):
            yield f"{name} is neither the old file nor the new one"
    try:
        yield from _differences(call, call.call(thing), expected, "the next answer")
    except Exception as error:
        yield f"the next call: {type(error).__name__}: {error}"
    _let_go()
    if not _only_so_many(threads_before):
        yield f"{_thread._count() - threads_before} threads were left behind"
    yield from _aside
    _aside.clear()


def _wrong_error(call: Call, failure: failing.Failure, error: Exception) -> Iterator[str]:
    kind = failure.places[0].partition(" ")[0] if failure.places else ""
    if not isinstance(error, RIGHT.get(kind, ())) or (call.caches and kind == failing.FILES):
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        yield f"{type(error).__name__} at {where}: {error}"


def _differences(call: Call, found: Columns, expected: Columns, what: str) -> Iterator[str]:
    for name in expected.keys() | found.keys():
        left, right = found.get(name), expected.get(name)
        if left is None or right is None or left.dtype != right.dtype:
            yield f"{what} has another {name}"
        elif not (np.array_equal(left, right) if call.exact else np.allclose(left, right)):
            yield f"{name} of {what} is wrong"


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _let_go() -> None:
    """Give back memory and threads that are kept from call to call."""
    workspace.release()
    threads._pool = None
    gc.collect()


def _only_so_many(count: int) -> bool:
    """Wait for threads that were let go."""
    until = time.perf_counter() + 5
    while _thread._count() > count and time.perf_counter() < until:
        time.sleep(0.001)
        gc.collect()
    return _thread._count() <= count


if __name__ == "__main__":
    sys.exit(min(100, main()))
