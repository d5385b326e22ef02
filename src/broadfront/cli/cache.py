"""`broadfront cache`: the compiled code that is kept on disk."""

from __future__ import annotations

import argparse
from typing import Any

from broadfront import cache
from broadfront.cli import display
from broadfront.sizes import size_text


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "cache",
        help="show or clear the compiled code that is kept on disk",
        description="Show the compiled code that is kept on disk, or clear it. In the environment "
        "BROADFRONT_CACHE_SIZE limits its size: 1G by default, 0 keeps nothing.",
    )
    command.add_argument("--clear", action="store_true", help="remove it all")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    return command


def run(options: argparse.Namespace) -> None:
    """Tell what is kept; before that, with `--clear`, remove it."""
    before = cache.survey()
    if options.clear:
        cache.prune(0)
    kept = cache.survey() if options.clear else before
    size, removed = sum(one.nbytes for one in kept), len(before) - len(kept)
    folder, limit = str(cache.folder()), cache.size_limit()
    if options.json:
        display.print_json(
            {"folder": folder, "files": len(kept), "bytes": size, "limit": limit,
             "removed": removed}
        )  # fmt: skip
        return
    display.print_facts(
        {"folder": folder, "files": f"{len(kept):,}",
         "size": f"{size_text(size)} of {size_text(limit)} at most"}
        | ({"removed": f"{removed:,} files"} if options.clear else {})
    )  # fmt: skip
