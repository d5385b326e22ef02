"""Outlines of parts: the sizes that parts have once they are built."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import broadfront as bf
from broadfront.partition.outline import outline_of
from zoo import Animal


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("looks_back", [True, False])
def test_an_outline_is_that_of_the_part(animal: Animal, relabel: bool, looks_back: bool) -> None:
    graph = animal.graph()
    for count in (2, 5):
        foreseen = bf.split(graph, count).outlines(relabel, looks_back)
        parts = bf.split(graph, count).parts(relabel, looks_back)
        for one, part in zip(foreseen, parts, strict=True):
            there = outline_of(part, graph)
            for name, value in asdict(there).items():
                np.testing.assert_array_equal(asdict(one)[name], value, name)
            assert (one.positions, one.num_ghosts) == (part.positions, part.num_ghosts)


def test_what_is_brought_are_the_arcs_of_ghosts() -> None:
    graph = bf.generate("kron:7")
    partition = bf.split(graph, 3)
    for one, part in zip(partition.outlines(), partition.parts(), strict=True):
        owners = partition.owner[part.ghost_ids]
        for device in range(3):
            ghosts = part.ghost_ids[owners == device]
            assert one.ghosts[device] == len(ghosts)
            assert one.brought[device] == graph.degrees[ghosts].sum()
