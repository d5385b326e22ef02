"""Broken bytes: a reader answers with a graph or with the typed error, and with nothing else."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

import broadfront as bf
from broadfront.graph.write import WRITERS

SECONDS = 2.0
LINES = [b"-1", b"nan", b"1e999", b"99999999999999999999", b"\x00", b'"', b"%", b"\n\n", b"\xff"]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return `data` with a few bytes flipped, cut, doubled, or replaced by something nasty."""
    result = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(result) + 1)
        match chance.randrange(5):
            case 0 if at < len(result):
                result[at] ^= 1 << chance.randrange(8)
            case 1:
                del result[at : at + chance.randrange(1, 20)]
            case 2:
                result[at:at] = chance.choice(LINES)
            case 3:
                result[at:at] = result[max(0, at - chance.randrange(1, 50)) : at]
            case _ if len(result) > 1:
                result = result[: max(1, at)]
    return bytes(result)


@pytest.mark.parametrize("suffix", [*WRITERS, ".el.gz", ".el.xz", ".el.zst"])
@pytest.mark.parametrize("weighted", [False, True])
def test_mutated_files(tmp_path: Path, suffix: str, weighted: bool) -> None:
    spec = "kron:5:4:simple=yes" + (":weights=1-99" if weighted else "")
    if suffix == ".gr" or suffix == ".graph" or weighted:
        graph = bf.generate(spec)
    else:
        graph = bf.from_edges(["ab", "c d", "e,f"] * 9, [str(i) + "x" for i in range(27)])
    path = tmp_path / f"good{suffix}"
    graph.save(path)
    good = path.read_bytes()
    bf.read(path)
    chance = random.Random(f"{suffix}{weighted}")
    broken = tmp_path / f"broken{suffix}"
    deadline = time.perf_counter() + SECONDS
    refused = unnamed = 0
    while time.perf_counter() < deadline:
        broken.write_bytes(mutated(good, chance))
        try:
            read = bf.read(broken)
            assert read.num_arcs == len(read.targets)
            assert read.num_arcs == 0 or int(read.targets.max()) < read.num_vertices
        except bf.FormatError as error:
            refused += 1
            unnamed += str(broken) not in str(error)
    assert refused > 0
    assert unnamed == 0
