"""That parts are what they promise, and together the graph."""

from __future__ import annotations

import numpy as np

import broadfront as bf


def arcs_of(graph: bf.Graph) -> set[tuple[int, int, float]]:
    weights = np.ones(graph.num_arcs) if graph.weights is None else graph.weights
    return set(zip(graph.sources().tolist(), graph.targets.tolist(), weights.tolist(), strict=True))


def held(
    part: bf.Part, offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray | None
) -> list[tuple[int, int, float]]:
    """Return the arcs of one direction of a part, in ids of the graph, and check its rows."""
    ids = np.arange(part.num_vertices) if part.ids is None else part.ids
    assert len(offsets) == len(ids) + 1 == part.positions + 1
    assert offsets[0] == 0
    assert offsets[-1] == len(targets)
    degrees = np.diff(offsets)
    assert (degrees >= 0).all()
    own = np.zeros(len(ids), bool)
    own[: part.owned] = True
    if part.owned_list is not None:
        own[:] = False
        own[part.owned_list] = True
    assert not degrees[~own].any(), "a vertex that is not owned has a row"
    for row in range(len(ids)):
        assert (np.diff(targets[offsets[row] : offsets[row + 1]]) > 0).all(), "a row does not rise"
    values = np.ones(len(targets)) if weights is None else weights
    sources = np.repeat(ids, degrees)
    return list(zip(sources.tolist(), ids[targets].tolist(), values.tolist(), strict=True))


def in_order(partition: bf.Partition, device: int, relabel: bool) -> np.ndarray:
    """Return the vertices of a part in the order that they should have."""
    members = np.flatnonzero(partition.owner == device)
    degrees = partition.graph.degrees
    few = not len(degrees) or degrees.max() < 16 * degrees.mean()
    if not relabel or partition.count == 1 or few:
        return members
    digits = [int(degree).bit_length() for degree in degrees[members]]
    return members[np.argsort(np.negative(digits), kind="stable")]


def check_pairs(partition: bf.Partition, parts: list[bf.Part]) -> None:
    """What p has as ghosts of q and q as shared with p are the same vertices in the same order."""
    for p in parts:
        assert len(p.ghost_starts) == len(p.shared_starts) == partition.count + 1
        assert p.ghost_starts.dtype == p.shared_starts.dtype == np.int64
        assert p.ghost_starts[p.device] == p.ghost_starts[p.device + 1]
        assert p.ghost_starts[0] == (p.owned if p.relabelled else 0)
        for q in parts:
            ghosts = p.ghost_ids[p.ghost_starts[q.device] - p.ghost_starts[0] :][
                : p.ghost_starts[q.device + 1] - p.ghost_starts[q.device]
            ]
            assert (partition.owner[ghosts] == q.device).all()
            shared = q.shared[q.shared_starts[p.device] : q.shared_starts[p.device + 1]]
            assert ((shared >= 0) & (shared < q.positions)).all()
            assert (np.diff(shared) > 0).all()
            if q.ids is not None:
                assert (shared < q.owned).all()
                shared = q.ids[shared]
            np.testing.assert_array_equal(shared, ghosts)


def check(partition: bf.Partition, relabel: bool, looks_back: bool) -> None:
    graph = partition.graph
    parts = partition.parts(relabel=relabel, looks_back=looks_back)
    assert [part.device for part in parts] == list(range(partition.count))
    everyone = np.concatenate([part.owned_ids for part in parts])
    np.testing.assert_array_equal(np.sort(everyone), np.arange(graph.num_vertices))
    arcs, back = [], []
    for part in parts:
        assert part.num_vertices == graph.num_vertices
        assert part.count == partition.count
        np.testing.assert_array_equal(part.owned_ids, in_order(partition, part.device, relabel))
        assert (part.ids is None) is not relabel
        assert (part.owned_list is None) is (part.ghosts is None) is relabel
        for array in (part.offsets, part.targets, part.owned_ids, part.ghost_ids, part.shared):
            assert array.dtype == graph.targets.dtype
            assert not array.flags.writeable
        mine = held(part, part.offsets, part.targets, part.weights)
        assert part.num_arcs == len(mine)
        assert part.max_degree == np.diff(part.offsets).max(initial=0)
        needed = {target for _, target, _ in mine}
        if not graph.directed:
            assert part.in_offsets is part.offsets
            assert part.in_targets is part.targets
            assert part.in_weights is part.weights
        elif looks_back:
            assert part.in_offsets is not None
            assert part.in_targets is not None
            incoming = held(part, part.in_offsets, part.in_targets, part.in_weights)
            back += [(source, target, weight) for target, source, weight in incoming]
            needed |= {source for _, source, _ in incoming}
        else:
            assert part.in_offsets is part.in_targets is part.in_weights is None
        assert set(part.ghost_ids.tolist()) == needed - set(part.owned_ids.tolist())
        assert part.num_ghosts == len(part.ghost_ids)
        arcs += mine
    assert len(arcs) == graph.num_arcs
    assert set(arcs) == arcs_of(graph)
    if graph.directed and looks_back:
        assert sorted(back) == sorted(arcs)
    check_pairs(partition, parts)
