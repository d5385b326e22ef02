"""Fuzz the readers with atheris, guided by the coverage of their Python code.

    python tests/fuzz/run.py --seconds 60            every target, a minute each
    python tests/fuzz/run.py --seconds 600 mtx gr    two of them

What is found on the way is kept in the folder `--found`, and fuzzed on from there the next time. A
target that fails leaves its input there, called crash-*, timeout-* or oom-*; mended, that becomes a
file of the corpus. Compiled code runs as it does for users, and tells nothing of its coverage.
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
FUZZED = ("broadfront.graph", "broadfront.partition")
LONGEST = 4096
SLOW, LARGE = 30, 4096
"""Seconds and MiB that one input may take."""


def fuzz(name: str, found: Path, seconds: int) -> None:
    """Fuzz one target in this process, which ends with it."""
    import atheris

    from fuzz import targets

    instrument(atheris)
    found.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={SLOW}",
        f"-rss_limit_mb={LARGE}", f"-artifact_prefix={found}/", "-print_final_stats=1",
        "-verbosity=0",
    ]  # fmt: skip
    target = targets.TARGETS[name]
    for seed in targets.corpus(name):
        target(seed.read_bytes())  # compiles before the clock of an input runs
    atheris.Setup([sys.argv[0], str(found), str(targets.folder_of(name)), *options], target)
    atheris.Fuzz()


def instrument(atheris: types.ModuleType) -> None:
    """Follow every Python function of the modules that are fuzzed; kernels stay as they are."""
    for module in [sys.modules[name] for name in sorted(sys.modules) if name.startswith(FUZZED)]:
        places = [module, *(each for _, each in inspect.getmembers(module, inspect.isclass))]
        for place in places:
            for function in list(vars(place).values()):
                if isinstance(function, types.FunctionType) and function.__module__.startswith(
                    FUZZED
                ):
                    atheris.instrument_func(function)


def main() -> int:
    """Fuzz some targets, each in a process of its own; return how many failed."""
    from fuzz import targets

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(targets.TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--found", type=Path, default=Path("fuzzed"), help="folder to go on from")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        fuzz(options.targets[0], options.found, options.seconds)
    failed = []
    for name in options.targets or targets.TARGETS:
        sys.stderr.write(f"--- {name}\n")
        child = [sys.executable, __file__, name, "--here", "--seconds", str(options.seconds)]
        if subprocess.run([*child, "--found", str(options.found / name)], check=False).returncode:
            failed.append(name)
    sys.stderr.write(f"--- failed: {', '.join(failed) or 'none'}\n")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
