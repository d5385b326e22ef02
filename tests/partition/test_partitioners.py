"""Partitioners: every vertex owned once, in proportion, the same for any number of threads."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront import progress, threads
from broadfront.partition.kept import kept_with
from broadfront.partition.partitioners import metis
from broadfront.partition.split import PARTITIONERS
from reassembly import check
from zoo import Animal, edges

NAMES = list(PARTITIONERS)


@pytest.mark.parametrize("by", NAMES)
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_the_zoo(animal: Animal, count: int, by: str) -> None:
    partition = bf.split(animal.graph(), count, by)
    assert (partition.count, partition.name) == (count, by)
    assert partition.owner.shape == (partition.graph.num_vertices,)
    assert partition.owner.dtype == np.uint8
    assert not partition.owner.flags.writeable
    assert partition.owner.max(initial=0) < count
    assert partition.seconds >= 0


@given(edges(), st.sampled_from(NAMES), st.sampled_from([1, 2, 3, 8, 50]), st.integers(0, 9))
def test_any_graph(animal: Animal, by: str, count: int, seed: int) -> None:
    partition = bf.split(animal.graph(), count, by, seed=seed)
    assert partition.owner.dtype == np.min_scalar_type(count)
    check(partition, True, False)
    again = bf.split(animal.graph(), count, by, seed=seed)
    np.testing.assert_array_equal(partition.owner, again.owner)


@pytest.mark.parametrize("by", NAMES)
@pytest.mark.parametrize("spec", ["kron:12", "grid:60x60"])
@pytest.mark.parametrize("speeds", [None, [1, 1, 1], [2, 1, 1], [0.7, 3.1, 1.9]])
def test_parts_are_in_proportion(by: str, spec: str, speeds: list[float] | None) -> None:
    graph = bf.generate(spec)
    partition = bf.split(graph, 3, by, speeds=speeds)
    wanted = np.array(speeds or [1, 1, 1]) / sum(speeds or [1, 1, 1])
    sizes = np.bincount(partition.owner, minlength=3)
    arcs = np.bincount(partition.owner, weights=graph.degrees, minlength=3)
    work = (sizes + arcs) / (sizes + arcs).sum()
    if by in ("random", "static"):
        assert np.abs(sizes - wanted * graph.num_vertices).max() <= 2
    elif by == "metis":
        np.testing.assert_allclose(sizes / sizes.sum(), wanted, rtol=0.05)
    else:
        assert (work / wanted).max() < (1.12 if by == "biased" else 1.03)


@pytest.mark.parametrize("by", NAMES)
def test_the_same_for_any_number_of_threads(by: str) -> None:
    graph = bf.generate("kron:12")
    found = []
    for number in (1, 2, 7):
        graph.forget()
        with threads.limit(number):
            found.append(bf.split(graph, 5, by, seed=3).owner)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("by", ["random", "biased"])
def test_another_seed_is_another_choice(by: str) -> None:
    graph = bf.generate("kron:10")
    assert (bf.split(graph, 4, by).owner != bf.split(graph, 4, by, seed=1).owner).any()


def test_random_looks_random() -> None:
    owner = bf.split(bf.from_edges([], [], num_vertices=100_000), 2).owner
    pairs = np.bincount(owner[:-1] * 2 + owner[1:])
    np.testing.assert_allclose(pairs, 25_000, rtol=0.03)


def test_static_takes_turns() -> None:
    graph = bf.from_edges([], [], num_vertices=8)
    assert bf.split(graph, 3, "static").owner.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert bf.split(graph, 2, "static", speeds=[2, 1]).owner.tolist() == [0, 1, 0, 0, 1, 0, 0, 1]


def test_range_counts_vertices_and_arcs() -> None:
    graph = bf.generate("star:9")  # the hub weighs 9, the others 2 each
    assert bf.split(graph, 2, "range").owner.tolist() == [0] * 3 + [1] * 6
    owner = bf.split(bf.generate("kron:10"), 5, "range").owner
    assert (np.diff(owner.astype(int)) >= 0).all()


def test_biased_follows_neighbours_as_its_factor_says() -> None:
    graph = bf.generate("grid:100x100")
    cuts = [
        bf.split(graph, 4, "biased", factor=factor).quality().fraction_cut
        for factor in (0, 0.5, 0.9, 1)
    ]
    assert cuts == sorted(cuts, reverse=True)
    assert cuts[0] == pytest.approx(0.75, abs=0.03)
    assert cuts[-1] < 0.2


def test_biased_looks_both_ways() -> None:
    chain = np.arange(999)
    forward = bf.split(bf.from_edges(chain, chain + 1), 2, "biased").quality()
    backward = bf.split(bf.from_edges(chain + 1, chain), 2, "biased").quality()
    assert forward.fraction_cut < 0.3
    assert backward.fraction_cut < 0.3


# ---------------------------------------------------------------------- METIS


def test_metis_cuts_few_edges() -> None:
    grid = bf.generate("grid:60x60:0")
    assert bf.split(grid, 4, "metis").quality().fraction_cut < 0.05
    source, target = grid.sources(), grid.targets
    once = source < target
    loops = np.arange(3600)
    directed = bf.from_edges(
        np.concatenate([source[once], loops]), np.concatenate([target[once], loops])
    )
    assert bf.split(directed, 4, "metis").quality().edges_cut < 0.05 * once.sum()


def test_metis_is_the_same_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = bf.generate("grid:40x40")
    here = bf.split(graph, 4, "metis", seed=5, speeds=[2, 1, 1, 1]).owner
    monkeypatch.setattr(metis, "ARCS_FOR_A_PROCESS", 0)
    graph.forget()
    np.testing.assert_array_equal(
        here, bf.split(graph, 4, "metis", seed=5, speeds=[2, 1, 1, 1]).owner
    )


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise MemoryError('no room')", "MemoryError: no room"),
        ("exit(3)", "exit code 3"),
        ("", ""),
    ],
)
def test_metis_that_fails_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, said: str
) -> None:
    monkeypatch.setattr(metis, "ARCS_FOR_A_PROCESS", 0)
    monkeypatch.setattr(metis, "PROGRAM", tmp_path / "broken.py")
    metis.PROGRAM.write_text(program)
    with pytest.raises(bf.BroadfrontError, match=f"METIS failed: {said}"):
        bf.split(bf.generate("grid:40x40"), 2, "metis")


def test_metis_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(bf.MissingDependencyError, match=r"broadfront\[metis\]"):
        bf.split(bf.generate("path:100"), 2, "metis")


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no such signals on this system")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_metis() -> None:
    graph = bf.generate("kron:15")
    main = threading.main_thread().ident
    assert main is not None
    told = threading.Event()

    def press(stage: str, done: int, total: int) -> None:
        if stage == "partitioning by METIS" and not told.is_set():
            told.set()
            signal.pthread_kill(main, signal.SIGINT)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        bf.split(graph, 8, "metis", progress=press)
    assert time.monotonic() - began < 60


# ---------------------------------------------------------------------- time limits


@pytest.mark.parametrize("by", [*NAMES, lambda graph, count: np.zeros(graph.num_vertices, int)])
def test_no_time_to_split(by: str) -> None:
    graph = bf.generate("grid:30x30")
    with pytest.raises(bf.TimeLimitError, match=r"time_limit=0 s is over"):
        bf.split(graph, 2, by, time_limit=0)
    assert len(kept_with(graph)) == 0
    assert bf.split(graph, 2, by, time_limit=60).count == 2


def test_metis_is_ended_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(metis, "ARCS_FOR_A_PROCESS", 0)
    monkeypatch.setattr(metis, "PROGRAM", tmp_path / "slow.py")
    metis.PROGRAM.write_text("import time; time.sleep(600)")
    graph = bf.generate("grid:30x30")
    began = time.monotonic()
    with pytest.raises(bf.TimeLimitError, match=r"time_limit=0\.3 s is over"):
        bf.bfs(graph, 0, devices=2, partitioner="metis", time_limit=0.3)
    assert time.monotonic() - began < 60
    assert len(kept_with(graph)) == 0


def test_building_parts_is_limited_too() -> None:
    graph = bf.generate("kron:10")
    partition = bf.split(graph, 2)

    def spend(stage: str, done: int, total: int) -> None:
        time.sleep(0.3 if stage == "building parts" else 0)

    with pytest.raises(bf.TimeLimitError, match=r"time_limit=0\.2 s"):
        bf.bfs(graph, 0, devices=2, time_limit=0.2, progress=spend)
    assert partition.nbytes == partition.owner.nbytes
    bf.bfs(graph, 0, devices=2, time_limit=60).verify()
    assert partition.nbytes > graph.targets.nbytes


# ---------------------------------------------------------------------- what is refused


def test_a_function_of_the_users() -> None:
    def halves(graph: bf.Graph, count: int) -> np.ndarray:
        return np.arange(graph.num_vertices) * count // graph.num_vertices

    partition = bf.split(bf.generate("path:10"), 2, halves)
    assert partition.name == "halves"
    assert partition.owner.tolist() == [0] * 5 + [1] * 5
    assert partition.owner.dtype == np.uint8


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([0, 1], r"shape \(2,\); expected \(5,\)"),
        ([[0] * 5], r"shape \(1, 5\)"),
        (None, r"shape \(\)"),
        ([0.0] * 5, "float64; expected integers"),
        ([True] * 5, "bool; expected integers"),
        ([0, 1, 2, 1, 0], r"vertex 2 to 2, which is not a part in 0\.\.1"),
        ([0, -1, 0, 1, 0], "vertex 1 to -1"),
        ([[0], [0, 1]], "returned no array"),
    ],
)
def test_functions_that_answer_badly(answer: object, problem: str) -> None:
    def careless(graph: bf.Graph, count: int) -> object:
        return answer

    with pytest.raises(bf.OptionError, match=f"careless .*{problem}"):
        bf.split(bf.generate("path:5"), 2, careless)


def test_the_users_own_array_is_left_alone() -> None:
    owner = np.zeros(5, np.uint8)
    bf.split(bf.generate("path:5"), 2, lambda graph, count: owner)
    owner[0] = 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"count": 0}, "count=0"),
        ({"count": 2.5}, "count=2.5"),
        ({"count": True}, "count=True"),
        ({"count": 10**9}, "1 to 1,024"),
        ({"by": "magic"}, "no partitioner 'magic'; there are random static range biased metis"),
        ({"by": 3}, "no partitioner 3"),
        ({"by": ["random"]}, "no partitioner"),
        ({"seed": "x"}, "seed='x'"),
        ({"speeds": [1]}, "one for each of 2"),
        ({"speeds": [1, 0]}, "positive"),
        ({"speeds": [1, float("nan")]}, "positive"),
        ({"speeds": "ab"}, "not numbers"),
        ({"factor": 1.5}, "factor=1.5"),
        ({"factor": "x"}, "factor='x'"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], problem: str) -> None:
    with pytest.raises(bf.OptionError, match=problem):
        bf.split(bf.generate("path:5"), **{"count": 2, **options})  # type: ignore[arg-type]


def test_progress_is_told() -> None:
    told = []
    bf.split(bf.generate("kron:10"), 2, "biased", progress=lambda *news: told.append(news))
    assert told[0][0] == "partitioning"
    with progress.listening(lambda *news: told.append(news)):
        bf.split(bf.generate("kron:10"), 2).parts()
    assert told[-1] == ("building parts", 2, 2)


def shuffled(graph: bf.Graph) -> bf.Graph:
    source, target = graph.to_scipy().nonzero()
    anew = np.random.default_rng(0).permutation(graph.num_vertices)
    return bf.from_edges(anew[source], anew[target], num_vertices=graph.num_vertices)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (bf.generate("grid:100x100"), "range"),
        (bf.generate("path:20000"), "range"),
        (bf.generate("kron:11"), "random"),
        (shuffled(bf.generate("grid:100x100")), "random"),
        (bf.generate("path:20"), "random"),
    ],
    ids=["grid", "path", "kron", "shuffled", "small"],
)
@pytest.mark.parametrize("speeds", [None, [3, 1, 2]])
def test_who_decides_when_nobody_is_named(
    graph: bf.Graph, expected: str, speeds: list[float] | None
) -> None:
    chosen = bf.split(graph, 3, speeds=speeds)
    assert chosen is bf.split(graph, 3, expected, speeds=speeds)


def test_a_run_says_who_decided() -> None:
    ring = bf.generate("cycle:20000")
    assert bf.bfs(ring, 0, devices=2, threads=1).report.partitioner == "range"
    assert (
        bf.bfs(ring, 0, devices=2, threads=1, partitioner="static").report.partitioner == "static"
    )
    assert bf.bfs(ring, 0, threads=1).report.partitioner == ""
