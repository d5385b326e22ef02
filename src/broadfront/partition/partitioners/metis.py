"""`metis`: few cut edges, by METIS with its default settings (extra ``metis``, package pymetis).

METIS wants an undirected graph without self-loops: arcs are taken in both directions, loops left
out, weights not looked at. It balances vertices, so on graphs with hubs edges come out uneven, and
there it is slow; it is meant for graphs like roads and meshes.

pymetis keeps the interpreter lock until it is done. Large graphs therefore go to a process of their
own, which Ctrl-C and a time limit end; small ones take tenths of a second. A graph with fewer
than four vertices a part is dealt in turn: METIS refuses some of those, on standard output.

References
----------
Karypis, Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs (SIAM
Journal on Scientific Computing 20, 1998).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import progress
from broadfront.clock import time_left
from broadfront.errors import BroadfrontError, TimeLimitError, require
from broadfront.graph import build
from broadfront.graph.csr import Graph
from broadfront.partition.partitioners.static import static
from broadfront.partition.wish import Wish

Array = NDArray[Any]

ARCS_FOR_A_PROCESS = 1 << 17
FEWEST_VERTICES_PER_PART = 4
SEEDS = 2**31
PROGRAM = Path(__file__).with_name("metis_call.py")


def metis(graph: Graph, wish: Wish) -> Array:
    """Return owners with few cut edges."""
    require("pymetis", "metis")
    from broadfront.partition.partitioners import metis_call  # imports pymetis

    if graph.num_vertices < FEWEST_VERTICES_PER_PART * wish.count:
        return static(graph, wish)
    offsets, targets = _simple(graph)
    call = (wish.count, wish.seed % SEEDS, *wish.shares.tolist())
    owner: Array
    if len(targets) < ARCS_FOR_A_PROCESS or not sys.executable:
        owner = metis_call.owners(offsets, targets, *call)
    else:
        owner = _in_a_process(offsets, targets, *call)
    owner = owner.astype(wish.dtype)
    return owner


def _simple(graph: Graph) -> tuple[Array, Array]:
    """Return the rows of the graph as METIS wants them."""
    offsets, targets = graph.offsets, graph.targets
    if graph.directed or graph.num_self_loops or graph.has_parallel_edges:
        rows = build.rows(
            graph.sources(), targets, None, graph.num_vertices,
            symmetric=graph.directed, drop_loops=True,
        )  # fmt: skip
        offsets, targets = rows.offsets, rows.targets
    return offsets.astype(np.int64, copy=False), targets.astype(np.int64, copy=False)


def _in_a_process(offsets: Array, targets: Array, count: int, seed: int, *shares: float) -> Array:
    """Call METIS in a process of its own; whatever stops us, ends it."""
    numbers = [str(number) for number in (len(offsets), len(targets), count, seed, *shares)]
    paths = os.pathsep.join(path for path in sys.path if path)
    content: Any = np.concatenate([offsets, targets]).view(np.uint8).data
    with subprocess.Popen(
        [sys.executable, "-P", str(PROGRAM), *numbers],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:  # fmt: skip
        try:
            with progress.following("partitioning by METIS", lambda: 0, process.kill):
                answer, complaint = process.communicate(content, timeout=time_left())
        except BaseException as error:
            process.kill()
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise TimeLimitError("METIS took all the time that was left") from None
            raise
    owner = np.frombuffer(answer, np.int32)
    if process.returncode != 0 or len(owner) != len(offsets) - 1:
        said = complaint.decode(errors="replace").strip().rpartition("\n")[2]
        raise BroadfrontError(f"METIS failed: {said or f'exit code {process.returncode}'}")
    return owner
