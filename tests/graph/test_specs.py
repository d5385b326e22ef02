"""Generators by text: what is understood, what is refused, and in which words."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadfront import Graph, OptionError, OutOfMemoryError
from broadfront.graph.generate import (
    generate,
    is_spec,
    known,
    summaries,
)
from specs import SPECS
from zoo import same

size = importlib.import_module("broadfront.graph.size")


@pytest.fixture
def small_memory(monkeypatch):
    """Make every graph of more than a few thousand edges an absurd one."""
    monkeypatch.setattr(size, "memory", lambda: 100_000)


def test_specs_are_told_from_files():
    assert all(is_spec(spec) for spec in SPECS)
    assert is_spec("kron:")
    for text in ("kron", "kron.mtx", "", ":", "C:/kron:20", "kran:20", "KRON:20", "a/kron:20"):
        assert not is_spec(text)


def test_known_forms():
    forms = known()
    assert forms["kron"] == "kron:SCALE[:EDGE_FACTOR]"
    assert forms["grid"] == "grid:WIDTHxHEIGHT[:REMOVED]"
    assert forms["smallworld"] == "smallworld:N:K:P"
    assert forms["rmat"].startswith("rmat:SCALE[:EDGE_FACTOR][:a=0.57]")
    assert forms["rmat"].endswith("[:directed=no][:permuted=yes]")
    assert set(forms) == {spec.split(":")[0] for spec in SPECS} == set(summaries())
    assert all(line.endswith(".") for line in summaries().values())


def test_keys_and_positions_say_the_same():
    same(generate("kron:6:8"), generate("kron:edge_factor=8:scale=6"))
    same(generate("grid:6x5:0.2"), generate("grid:width=6:height=5:removed=0.2"))
    assert generate("kron:5:simple=yes").num_self_loops == 0


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("kran:20", "unknown generator 'kran'; did you mean kron?"),
        ("zzz:20", "known: complete, cycle, delaunay"),
        ("", "unknown generator ''"),
        ("kron", "SCALE is missing; the form is kron:SCALE[:EDGE_FACTOR]"),
        ("kron:", "scale is an integer, not ''"),
        ("kron:x", "scale is an integer, not 'x'"),
        ("kron:4.0", "scale is an integer, not '4.0'"),
        ("kron:" + "9" * 5000, "scale is an integer"),
        ("kron:4:4:4", "'4' is one argument too many"),
        ("kron:4:scale=4", "scale is given twice"),
        ("kron:4:depth=4", "there is no key 'depth'"),
        ("kron:60", "scale=60 is not in 0..40"),
        ("kron:40", "this machine has"),
        ("kron:-1", "scale=-1 is not in 0..40"),
        ("kron:4:-1", "edge_factor=-1 is below 0"),
        ("kron:4:999999999999999999", "more vertices or edges than any memory holds"),
        ("rmat:4:a=0.9", "are not probabilities"),
        ("rmat:4:a=nan", "a=nan: expected a number"),
        ("rmat:4:directed=perhaps", "directed is yes or no, not 'perhaps'"),
        ("grid:5", "'5' is not WIDTHxHEIGHT"),
        ("grid:5x5x5", "'5x5x5' is not WIDTHxHEIGHT"),
        ("grid:5x-5", "height=-5 is below 0"),
        ("grid:5x5:1.5", "removed=1.5 is not in 0..1"),
        ("grid:5x5:nan", "removed=nan: expected a number"),
        ("grid:999999999x999999999", "more vertices or edges"),
        ("rgg:5:inf", "radius_factor=inf is not a length"),
        ("rgg:5:-1", "radius_factor=-1.0 is not a length"),
        ("rgg:30:1000", "more vertices or edges"),
        ("delaunay:39", "this machine has"),
        ("uniform:38", "this machine has"),
        ("regular:5:3", "both odd"),
        ("regular:5:5", "degree=5 needs more than 5 vertices"),
        ("smallworld:10:3:0.5", "k=3 is not an even number below n=10"),
        ("smallworld:10:10:0.5", "k=10 is not an even number below n=10"),
        ("smallworld:10:4:2", "p=2.0 is not in 0..1"),
        ("smallworld:10:4", "P is missing"),
        ("path:-1", "n=-1 is below 0"),
        ("path:999999999999999", "more vertices or edges"),
        ("tree:0:3", "branching=0 is below 1"),
        ("tree:2:999999999999", "more vertices than any memory holds"),
        ("tree:1:999999999999999", "more vertices or edges"),
        ("complete:99999999", "more vertices or edges"),
        ("path:4:weights=5", "weights is a range such as 1-63, not '5'"),
        ("path:4:weights=5-1", "weights=5-1 is not a range"),
        ("path:4:seed=x", "seed is an integer, not 'x'"),
        ("path:4\n:5", "n is an integer, not '4\\n'"),
    ],
)
def test_bad_specs_are_refused_in_one_line(spec, said):
    with pytest.raises(OptionError) as caught:
        generate(spec)
    message = str(caught.value)
    assert said in message
    assert "\n" not in message
    assert len(message) < 300


def test_no_memory_is_told_as_such(monkeypatch):
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("broadfront.graph.generate.kronecker._draw", full)
    with pytest.raises(OutOfMemoryError, match="'kron:4': there is not enough free memory"):
        generate("kron:4")


def test_machine_memory_is_asked(monkeypatch, tmp_path):
    assert 1 << 20 < size.memory() <= size.LARGEST
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(size, "CONTAINER_LIMIT", limit)
    limit.write_text("max\n")
    free = size.memory()
    limit.write_text("1000000\n")
    assert size.memory() == 1_000_000 < free
    with pytest.raises(OptionError, match=r"need about .* this machine has 976.6 KiB"):
        generate("kron:16")


def test_progress_is_told():
    heard = []
    generate("kron:8", weights=(1, 2), progress=lambda *news: heard.append(news))
    assert {"generating edges", "drawing weights"} <= {stage for stage, _, _ in heard}
    assert all(0 <= done <= total for _, done, total in heard)


numbers = st.one_of(
    st.integers(-2, 40).map(str),
    st.integers().map(str),
    st.floats(-0.5, 1.5).map(str),
    st.sampled_from(["", "nan", "inf", "1e3", "3x4", "0x0", "x", "-", "seed=1", "weights=1-9",
                     "weights=9", "a=0.2", "simple=yes", "directed=yes", "removed=1"]),
)  # fmt: skip
likely = st.builds(
    lambda name, parts: ":".join([name, *parts]),
    st.sampled_from([*known(), "kran", ""]),
    st.lists(numbers, max_size=4),
)


@pytest.mark.usefixtures("small_memory")
def test_any_text_gives_a_graph_or_an_option_error():
    said: set[str] = set()

    @settings(max_examples=300, deadline=None)
    @given(st.one_of(likely, st.text(max_size=30)))
    def check(text: str) -> None:
        try:
            graph = generate(text)
        except OptionError as error:
            said.add(str(error))
        else:
            assert isinstance(graph, Graph)
            assert graph.origin.name == text

    check()
    assert said
    assert all(len(message.splitlines()) == 1 for message in said)


def test_weights_as_text_or_as_a_pair() -> None:
    text, pair = (generate("path:9", weights=weights) for weights in ("1-3", (1, 3)))
    np.testing.assert_array_equal(text.weights, pair.weights)
    for wrong in ("1", "a-b", 5, (1,), (1, 2, 3), (1.5, 2)):
        with pytest.raises(OptionError, match="expected a range such as"):
            generate("path:9", weights=wrong)  # type: ignore[arg-type]
