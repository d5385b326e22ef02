"""Many drawn programs: ``make written``, or ``python tests/written/run.py --help``.

Three kinds. Templates with a drawn code run everywhere, thousands of them. Programs as source are
asked whether several devices refuse them, which compiles nothing. Some of these are compiled, and
run everywhere, which takes ten seconds each. A program that fails is made as small as Hypothesis
can, printed as a script, and ends it all. One that hangs fails, too.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from broadfront.errors import OptionError
from written.cases import FEW, Case, cases
from written.judge import BY_ALL, SAME, Tally, judged, refusal
from written.programs import MISTAKES, scripts
from written.script import Script
from written.worlds import places

PART, PARTS = 500, 10_000
"""So many programs are drawn from a seed, of which each run has so many of its own."""


class Failure(Exception):
    """A program that does not mean the same everywhere, as a script."""


def check_case(case: Case) -> str:
    """Return what came of a template with a code."""
    try:
        return case.check()
    except Exception as error:
        raise Failure(case.runnable()) from error


def check_refusal(script: Script) -> str:
    """Return whether several devices refuse a program: if it has a mistake, and only then."""
    loaded = script.loaded()
    try:
        told = refusal(loaded.program, loaded.graph.targets.dtype)
    except OptionError:
        return BY_ALL
    if bool(script.marks) != (told is not None):
        raise Failure(f"{script.text()}\n# mistakes: {sorted(script.marks)}; refusal: {told}\n")
    return SAME if told is None else f"refused for {min(script.marks)}"


def check_script(drawn: tuple[Script, dict[str, Any]]) -> str:
    """Return what came of a program as source on all back ends."""
    script, where = drawn
    loaded = script.loaded()
    try:
        told = refusal(loaded.program, loaded.graph.targets.dtype)
    except OptionError as error:
        told = str(error)
    try:
        return judged(loaded.run, loaded.program, where, told)
    except Exception as error:
        raise Failure(script.runnable(where)) from error


KINDS: dict[str, tuple[Callable[[Any], str], st.SearchStrategy[Any]]] = {
    "templates": (check_case, cases()),
    "few templates": (check_case, cases(FEW)),
    "refusals": (check_refusal, scripts(MISTAKES)),
    "compiled": (check_script, st.tuples(scripts(MISTAKES), places())),
}


def many(kind: str, count: int, number: int, shrink: bool = True) -> Tally:
    """Draw so many programs of a kind from a seed, and check each; raise `Failure` for one."""
    check, strategy = KINDS[kind]
    tally = Tally()

    @seed(number)
    @settings(
        max_examples=count, database=None, deadline=None, report_multiple_bugs=False,
        derandomize=False, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
    )  # fmt: skip
    @given(strategy)
    def each(drawn: Any) -> None:
        tally[check(drawn)] += 1

    each()
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--templates", type=int, default=20_000, help="how many with a drawn code")
    parser.add_argument("--refusals", type=int, default=2_000, help="how many asked for refusals")
    parser.add_argument("--compiled", type=int, default=20, help="how many compiled from source")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for kind in ("templates", "refusals", "compiled"):
        if getattr(asked, kind) == 0:
            continue
        began, tally = time.perf_counter(), Tally()
        for number, count in parts_of(getattr(asked, kind)):
            try:
                tally.update(many(kind, count, PARTS * asked.seed + number))
            except Failure as failure:
                print(f"{failure}\n# {failure.__cause__}", file=sys.stderr)
                return 1
            print(f"{kind}: {tally}; {time.perf_counter() - began:.0f} s", flush=True)
    return 0


def parts_of(count: int) -> list[tuple[int, int]]:
    """Return how many programs to draw from each of several seeds, which are numbered."""
    return [(number, min(PART, count - done)) for number, done in enumerate(range(0, count, PART))]


if __name__ == "__main__":
    sys.exit(main())
