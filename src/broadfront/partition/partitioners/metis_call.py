"""One call of METIS; run as a program, it takes the graph from standard input.

The program's arguments are the lengths of offsets and targets, the number of parts, the seed and
the shares; what it writes is the owner of each vertex as int32. It imports nothing of Broadfront,
so that it starts at once, and METIS' own messages go nowhere.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pymetis


def owners(offsets: Any, targets: Any, count: int, seed: int, *shares: float) -> Any:
    """Return the part of each vertex as METIS sees it."""
    _, parts = pymetis.part_graph(
        count, pymetis.CSRAdjacency(offsets, targets),
        tpwgts=list(shares), options=pymetis.Options(seed=seed),
    )  # fmt: skip
    return np.asarray(parts).astype(np.int32)


def main() -> None:
    """Answer one request."""
    vertices, arcs, count, seed = map(int, sys.argv[1:5])
    shares = map(float, sys.argv[5:])
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    numbers = np.frombuffer(sys.stdin.buffer.read(8 * (vertices + arcs)), np.int64)
    found = owners(numbers[:vertices], numbers[vertices:], count, seed, *shares)
    with os.fdopen(answer, "wb") as out:
        out.write(found.tobytes())


if __name__ == "__main__":
    main()
