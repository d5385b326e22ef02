"""A partition in a file of NumPy's (``.npz``): the owners, and what graph they are of.

Invariant: what does not fit the graph it is loaded for is refused, with the reason.
"""

from __future__ import annotations

import io
import json
import zipfile
from os import PathLike
from typing import Any

import numpy as np

from broadfront.errors import FormatError
from broadfront.graph import files
from broadfront.graph.csr import Graph
from broadfront.partition.partition import Partition
from broadfront.partition.wish import MOST_PARTS

FORM = "broadfront partition 1"
FACT_BYTES = 1 << 20
OWNER_BYTES = 8
"""For each vertex, at the most."""


def save(partition: Partition, path: str | PathLike[str]) -> None:
    """Write a partition, whole or not at all."""
    facts = {
        "form": FORM,
        "vertices": partition.graph.num_vertices,
        "arcs": partition.graph.num_arcs,
        "directed": partition.graph.directed,
        "count": partition.count,
        "name": partition.name,
        "seconds": partition.seconds,
        "speeds": partition.speeds,
    }
    text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    content = io.BytesIO()  # a compressed stream cannot go back, as zip files want to
    np.savez(content, owner=partition.owner, facts=text)
    with files.written(path) as stream:
        stream.write(content.getbuffer())


def load(path: str | PathLike[str], graph: Graph) -> Partition:
    """Read a partition of `graph`."""
    facts, owner = _content(path, FACT_BYTES + OWNER_BYTES * graph.num_vertices)
    own = {"vertices": graph.num_vertices, "arcs": graph.num_arcs, "directed": graph.directed}
    stored = {name: facts.get(name) for name in own}
    if stored != own:
        raise FormatError(path, f"a partition of another graph: {_told(stored)}, not {_told(own)}")
    given: list[Any] = [facts.get(fact) for fact in ("count", "name", "seconds", "speeds")]
    count, name, seconds, speeds = given
    known = isinstance(count, int) and 1 <= count <= MOST_PARTS
    known = known and isinstance(name, str) and isinstance(seconds, float)
    known = known and (speeds is None or _are_speeds(speeds, count))
    if not known:
        raise FormatError(path, "the facts about the partition are not understood")
    if owner.shape != (graph.num_vertices,) or owner.dtype != np.min_scalar_type(count):
        raise FormatError(path, f"unexpected owners: {owner.dtype} of shape {owner.shape}")
    if len(owner) and owner.max() >= count:
        raise FormatError(path, f"an owner is {owner.max()}, which is not in 0..{count - 1}")
    return Partition(graph, owner, count, name, seconds, None if speeds is None else tuple(speeds))


def _content(path: str | PathLike[str], most: int) -> tuple[dict[str, Any], Any]:
    """Return facts and owners from a file that holds no more bytes than `most`, unpacked."""
    too_much = FormatError(path, f"more than the {most:,} bytes of a partition of this graph")
    data = io.BytesIO()
    for block in files.blocks(path, unpack_limit=most + files.READ_AT_ONCE):
        if data.tell() + len(block) > most:
            raise too_much
        data.write(block)
    try:
        with zipfile.ZipFile(data) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > most:
                raise too_much
        with np.load(data, allow_pickle=False) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
            owner = np.asarray(arrays["owner"])  # NumPy gives the bytes of what is no array
        form = facts["form"]
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # on bytes that are not its own NumPy raises whatever its parsers do
        raise FormatError(path, "not a partition that Broadfront stored") from error
    if form != FORM:
        raise FormatError(path, f"expected {FORM!r}, found {form!r:.60}")
    return facts, owner


def _are_speeds(speeds: Any, count: int) -> bool:
    fits = isinstance(speeds, list) and len(speeds) == count
    return fits and all(isinstance(speed, float) and 0 < speed < np.inf for speed in speeds)


def _told(facts: dict[str, Any]) -> str:
    kind = "directed" if facts["directed"] else "undirected"
    return f"{facts['vertices']} vertices, {facts['arcs']} arcs, {kind}"
