"""Programs that users write: what they can say, and what they are told when it is wrong."""

from __future__ import annotations

import os
import signal
import threading
import time

import networkx as nx
import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Filter, Once, Phase, Program, Reduce, atomics
from broadfront.backends.cpu.operators import buckets

THREADS = [1, 2, 4]


def widen(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return min(state.width[source], state.weight[edge])


def widest_first(vertex, state):  # type: ignore[no-untyped-def]
    return -state.width[vertex]


def widest_path_by_hand(graph: bf.Graph, source: int) -> list[float]:
    """Widest paths by Kruskal's idea: merge by falling weight."""
    width = [0.0] * graph.num_vertices
    width[source] = np.inf
    other = nx.maximum_spanning_tree(graph.to_networkx())
    stack = [source]
    seen = {source}
    while stack:
        here = stack.pop()
        for there in other[here]:
            if there not in seen:
                seen.add(there)
                width[there] = min(width[here], other[here][there]["weight"])
                stack.append(there)
    return width


@pytest.mark.parametrize("priority", [None, widest_first])
@pytest.mark.parametrize("threads", THREADS)
def test_combine_max(threads: int, priority: object) -> None:
    program = Program(
        {"width": Field(np.float64, fill=0, combine="max")},
        step=[Advance(widen, into="width", priority=priority)],
    )
    graph = bf.generate("kron:8:weights=1-99:simple=yes")
    source = int(np.argmax(graph.degrees))
    answer = bf.run(
        program, graph, frontier=[source], init={"width": {source: np.inf}}, threads=threads
    )
    assert answer["width"].tolist() == widest_path_by_hand(graph, source)


def smallest_label(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.label[source]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("spec", ["kron:9", "grid:40x40:0.4", "path:3000"])
def test_vertices_that_improve_often_join_once(spec: str, threads: int) -> None:
    """Labels fall again and again: the queue must hold every vertex, and end."""
    program = Program(
        {"label": Field(np.int32, fill=2**31 - 1, combine="min")},
        step=[Advance(smallest_label, into="label")],
    )
    graph = bf.generate(spec)
    everyone = np.arange(graph.num_vertices)
    answer = bf.run(program, graph, frontier=everyone, init={"label": everyone}, threads=threads)
    expected = bf.connected_components(graph).component
    np.testing.assert_array_equal(answer["label"], expected)
    assert answer.record.frontier.max() <= graph.num_vertices


def one_less(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return -1


def drops_out(vertex, before, after, state):  # type: ignore[no-untyped-def]
    return before == state.core


def still_in(vertex, state):  # type: ignore[no-untyped-def]
    return state.degree[vertex] >= state.core


@pytest.mark.parametrize("threads", THREADS)
def test_combine_sum_with_enters(threads: int) -> None:
    """Peel a k-core: who falls below k takes one from each neighbour."""
    program = Program(
        {"degree": Field(np.int32, combine="sum")},
        step=[Advance(one_less, into="degree", activate=drops_out)],
        parameters=["core"],
    )
    graph = bf.generate("kron:9:simple=yes")
    core = 8
    first = np.flatnonzero(graph.degrees < core)
    answer = bf.run(
        program, graph, frontier=first, init={"degree": graph.degrees},
        parameters={"core": core}, threads=threads,
    )  # fmt: skip
    expected = nx.k_core(graph.to_networkx(), core)
    assert set(np.flatnonzero(answer["degree"] >= core)) == set(expected)


def claim_it(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return source


@pytest.mark.parametrize("threads", THREADS)
def test_combine_any(threads: int) -> None:
    program = Program(
        {"owner": Field(np.int32, fill=-1, combine="any")},
        step=[Advance(claim_it, into="owner")],
    )
    graph = bf.generate("kron:9")
    answer = bf.run(program, graph, frontier=[1], init={"owner": {1: 1}}, threads=threads)
    owner, depth = answer["owner"], bf.bfs(graph, 1).depth
    assert ((owner >= 0) == (depth >= 0)).all()
    for vertex in np.flatnonzero(owner >= 0):
        assert vertex == 1 or owner[vertex] in graph.neighbors(vertex)


def double(vertex, state):  # type: ignore[no-untyped-def]
    state.value[vertex] = 2 * vertex
    return vertex


def note_total(state):  # type: ignore[no-untyped-def]
    state.seen[0] = state.total[0]


def is_even(vertex, state):  # type: ignore[no-untyped-def]
    return vertex % 2 == 0


def count_one(vertex, state):  # type: ignore[no-untyped-def]
    atomics.add(state.count, 0, 1)


@pytest.mark.parametrize("threads", THREADS)
def test_compute_once_filter(threads: int) -> None:
    program = Program(
        {
            "value": Field(np.int64),
            "total": Field(np.float64, length=1),
            "seen": Field(np.float64, length=1),
            "count": Field(np.int64, length=1),
        },
        phases=[
            Phase([Compute(double, sums=("total",)), Once(note_total)]),
            Phase([Filter(is_even), Compute(count_one, over="frontier")]),
        ],
    )
    graph = bf.from_edges([], [], num_vertices=5001)
    answer = bf.run(program, graph, frontier=np.arange(100), threads=threads)
    np.testing.assert_array_equal(answer["value"], 2 * np.arange(5001))
    assert answer["total"][0] == answer["seen"][0] == 5001 * 5000 / 2
    assert answer["count"][0] == 50


def offer_label(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    return neighbor


def keep_it(vertex, total, state):  # type: ignore[no-untyped-def]
    state.best[vertex] = total


@pytest.mark.parametrize(("combine", "start"), [("min", 1e9), ("max", -1.0), ("sum", 0.0)])
def test_reduce(combine: str, start: float) -> None:
    program = Program(
        {"best": Field(np.float64)},
        step=[Reduce(offer_label, keep_it, identity=start, combine=combine)],
    )
    graph = bf.generate("rmat:7:directed=yes")
    best = bf.run(program, graph, threads=2)["best"]
    for vertex in range(graph.num_vertices):
        coming = graph.transpose.neighbors(vertex)
        expected = {"min": min, "max": max, "sum": lambda v: start + sum(v)}[combine](
            [*coming.tolist(), *([] if combine == "sum" else [start])]
        )
        assert best[vertex] == expected


def test_lost_vertices_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of blocks that is far too small only costs rescans."""
    monkeypatch.setattr(buckets, "POOL_SHARE", 0)
    monkeypatch.setattr(buckets, "POOL_LEAST", 3)
    graph = bf.generate("kron:10:weights=1-63")
    for threads in THREADS:
        bf.sssp(graph, 7, threads=threads).verify()


def one_further(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.depth[source] + 1


def without_depth(vertex, state):  # type: ignore[no-untyped-def]
    return state.depth[vertex] == 99


@pytest.mark.parametrize("devices", [1, 2])
def test_a_push_goes_on_from_what_a_pull_has_left(devices: int) -> None:
    graph = bf.generate("kron:10")
    source = int(np.argmax(graph.degrees))
    either = Advance(one_further, into="depth", cond=without_depth)
    program = Program(
        {"depth": Field(np.int32, fill=99, combine="min")},
        phases=[Phase([either], limit=2), Phase([Advance(one_further, into="depth")])],
    )
    start = {"depth": {source: 0}}
    answer = bf.run(program, graph, frontier=[source], init=start, devices=devices, threads=1)
    assert answer.record.direction[:3].tolist() == ["push", "pull", "push"]
    depth = bf.bfs(graph, source).depth
    np.testing.assert_array_equal(answer["depth"], np.where(depth < 0, 99, depth))


# ---------------------------------------------------------------------- errors


def forgets_a_name(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.depht[source] + 1


def returns_text(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return "far"


def returns_a_real(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.depth[source] * 0.5


def needs_weight(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.weight[edge] + 1


@pytest.mark.parametrize(
    ("functor", "line", "message"),
    [
        (forgets_a_name, 1, "does not compile: state has no depht"),
        (returns_text, 0, "must return a number"),
        (returns_a_real, 0, "float64, which does not go into a field of int32"),
        (needs_weight, 1, "the graph has no weights"),
    ],
)
def test_wrong_functors_are_named_with_file_and_line(
    functor: object, line: int, message: str
) -> None:
    program = Program(
        {"depth": Field(np.int32, fill=99, combine="min")},
        step=[Advance(functor, into="depth")],  # type: ignore[arg-type]
    )
    graph = bf.from_edges([0], [1])
    with pytest.raises(bf.FunctorError, match=message) as caught:
        bf.run(program, graph, frontier=[0], threads=2)
    code = functor.__code__  # type: ignore[attr-defined]
    assert f"{code.co_filename}, line {code.co_firstlineno + line}" in str(caught.value)
    assert functor.__name__ in str(caught.value)  # type: ignore[attr-defined]
    bf.bfs(graph, 0).verify()


def test_wrong_programs() -> None:
    field = {"depth": Field(np.int32, combine="min")}
    with pytest.raises(bf.OptionError, match="no field 'depht'; there are depth"):
        Program(field, step=[Advance(widen, into="depht")])
    with pytest.raises(bf.OptionError, match="has no combine"):
        Program({"depth": Field(np.int32)}, step=[Advance(widen, into="depth")])
    with pytest.raises(bf.OptionError, match="either a step or phases"):
        Program(field)
    with pytest.raises(bf.OptionError, match="'weight' cannot be the name"):
        Program({"weight": Field(np.int32)}, step=[Compute(double)])
    with pytest.raises(bf.OptionError, match="expected 'push' or 'pull'"):
        Program(field, step=[Advance(widen, into="depth", direction="up")])
    with pytest.raises(bf.OptionError, match="balance='fair'"):
        Program(field, step=[Advance(widen, into="depth", balance="fair")])
    with pytest.raises(bf.OptionError, match="combine='mean'"):
        Field(np.int32, combine="mean")
    with pytest.raises(bf.OptionError, match="expected real numbers"):
        Field(np.complex128)


def test_wrong_runs() -> None:
    graph = bf.from_edges([0], [1])
    program = Program(
        {"width": Field(np.float64, combine="max")},
        step=[Advance(widen, into="width")],
        parameters=["most"],
    )
    with pytest.raises(bf.OptionError, match="parameters are most; given were none"):
        bf.run(program, graph, frontier=[0])
    for options, message in (
        ({"frontier": None}, r"no frontier to begin with: give run\(frontier"),
        ({"frontier": [5]}, "holds 5, which is no position in 0..1"),
        ({"init": {"length": {}}}, "no field 'length'"),
        ({"init": {"width": np.zeros(3)}}, "has shape"),
        ({"threads": 0}, "threads=0"),
    ):
        given = {"frontier": [0], "parameters": {"most": 1}, **options}
        with pytest.raises(bf.OptionError, match=message):
            bf.run(program, graph, **given)


# ---------------------------------------------------------------------- stopping


def never_content(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.value[source] + 1


ENDLESS = Program(
    {"value": Field(np.int64, combine="max")}, step=[Advance(never_content, into="value")]
)


@pytest.mark.parametrize("threads", THREADS)
def test_a_time_limit_stops_a_run_and_leaves_all_usable(threads: int) -> None:
    graph = bf.generate("cycle:2000")
    bf.run(ENDLESS, bf.from_edges([0], [1]), frontier=[0], threads=threads)
    began = time.perf_counter()
    with pytest.raises(bf.TimeLimitError, match="time_limit=0.2"):
        bf.run(ENDLESS, graph, frontier=[0], threads=threads, time_limit=0.2)
    assert time.perf_counter() - began < 5
    bf.bfs(graph, 0, threads=threads).verify()


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("threads", THREADS)
def test_ctrl_c_stops_a_run_and_leaves_all_usable(threads: int) -> None:
    graph = bf.generate("cycle:2000")
    bf.run(ENDLESS, bf.from_edges([0], [1]), frontier=[0], threads=threads)
    press = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    with pytest.raises(KeyboardInterrupt):
        bf.run(ENDLESS, graph, frontier=[0], threads=threads, time_limit=20)
    press.join()
    bf.bfs(graph, 0, threads=threads).verify()


def test_progress_is_told_while_a_loop_runs() -> None:
    told: list[tuple[str, int, int]] = []
    with pytest.raises(bf.TimeLimitError):
        bf.run(ENDLESS, bf.generate("cycle:2000"), frontier=[0], threads=2, time_limit=0.5,
               progress=lambda *what: told.append(what))  # fmt: skip
    assert told
    assert told[-1][1] >= told[0][1] > 0


def test_several_python_threads_at_once() -> None:
    graph = bf.generate("kron:9")
    expected = bf.bfs(graph, 3).depth
    wrong: list[int] = []

    def work() -> None:
        for _ in range(10):
            if not np.array_equal(bf.bfs(graph, 3, threads=2).depth, expected):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
