"""Every implementation finds what NetworkX finds, and trees that the rules and verifiers accept."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import broadfront as bf
from broadfront.errors import OptionError
from broadfront.graph.edges import edge_arrays
from broadfront.graph500 import (
    IMPLEMENTATIONS,
    EdgeList,
    check_distances,
    check_levels,
    draw_edges,
    draw_roots,
    implementation,
    index_edges,
)
from broadfront.graph500.implementations.contract import code_lines
from broadfront.verify import verify_bfs, verify_sssp
from graph500.lists import KRON, LISTS, copied, depths, graph_of, list_of
from zoo import Animal, edges

EACH = pytest.mark.parametrize("name", IMPLEMENTATIONS)


def check(name: str, edges: EdgeList, roots: list[int], **options: object) -> None:
    """Check searches from roots against NetworkX, the rules and the verifier."""
    one = implementation(name, **options)
    before = copied(edges)
    structure = one.build(edges)
    index, graph = index_edges(copied(edges)), graph_of(edges)
    for root in roots:
        tree = one.search(structure, root)
        wanted = depths(edges, root)
        assert tree.depth.tolist() == wanted
        reached = np.array(wanted) >= 0
        both = reached[edges.source] & reached[edges.target]
        assert check_levels(index, root, *tree) == np.count_nonzero(both)
        verify_bfs(graph, root, tree.depth, tree.parent)
    np.testing.assert_array_equal(before.source, edges.source)
    np.testing.assert_array_equal(before.target, edges.target)


@EACH
@pytest.mark.parametrize("animal", LISTS)
def test_on_the_zoo(name: str, animal: str) -> None:
    check(name, LISTS[animal], sorted({0, LISTS[animal].num_vertices - 1}))


@EACH
@given(animal=edges())
@settings(max_examples=25, deadline=None)
def test_on_any_edges(name: str, animal: Animal) -> None:
    check(name, list_of(animal), [0])


@EACH
def test_on_a_kronecker_graph(name: str) -> None:
    check(name, KRON, draw_roots(KRON, 5).tolist())


@EACH
@pytest.mark.parametrize("file", ["karate.graph", "lesmis.graph", "chesapeake.mtx"])
def test_on_real_graphs(name: str, file: str, real_graphs: Path) -> None:
    graph = bf.read(real_graphs / file)
    ends = (column.astype(np.int32) for column in edge_arrays(graph)[:2])
    check(name, EdgeList(*ends, graph.num_vertices), [0, 5])


def test_own_search_on_several_devices() -> None:
    check("broadfront", KRON, draw_roots(KRON, 3).tolist(), devices=2, threads=1)


@pytest.mark.parametrize("block_memory", [8, 1000, 1 << 20])
def test_blocks_on_disk_of_any_size(block_memory: int) -> None:
    roots = draw_roots(LISTS["path"], 2).tolist()
    check("out-of-core", LISTS["path"], roots, block_memory=block_memory)


def test_a_block_that_holds_no_edge_is_refused() -> None:
    with pytest.raises(OptionError, match="block_memory=7 does not hold an edge"):
        implementation("out-of-core", block_memory=7).build(KRON)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(buffering: int) -> object:
        return open("/dev/full", "w+b", buffering)  # noqa: SIM115

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="No space left on device"):
        IMPLEMENTATIONS["out-of-core"].build(KRON)


def test_linear_algebra_finds_the_smallest_parent() -> None:
    one = IMPLEMENTATIONS["linear-algebra"]
    root = int(draw_roots(KRON, 1)[0])
    tree = one.search(one.build(KRON), root)
    wanted = bf.bfs(graph_of(KRON), root, deterministic=True)
    np.testing.assert_array_equal(tree.parent, wanted.parent)


def test_shortest_paths_follow_the_rules() -> None:
    weighted = draw_edges(9, 8, seed=2, weighted=True)
    own = IMPLEMENTATIONS["broadfront"]
    assert own.find_paths is not None
    structure, index = own.build(weighted), index_edges(copied(weighted))
    for root in draw_roots(weighted, 5).tolist():
        parent, distance = own.find_paths(structure, root)
        assert check_distances(index, root, parent, distance) > 0
        verify_sssp(graph_of(weighted), root, distance, parent=parent)


def test_unknown_ones_are_refused() -> None:
    with pytest.raises(OptionError, match="'matrix': unknown; known: list, csr, wavefront"):
        implementation("matrix")


def test_lines_are_those_with_code() -> None:
    text = '"""About."""\n\n# why\nx = 1  # what\ny = """two\nlines"""\n'
    text += '\ndef f():\n    "Do."\n    return 1\n'
    assert code_lines(text) == 5
    for one in IMPLEMENTATIONS.values():
        longest = sum(
            len(Path(str(module.__file__)).read_text().splitlines()) for module in one.modules
        )
        assert 30 < one.lines < longest
