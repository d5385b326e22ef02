"""`broadfront compare`: every way to run a program, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import broadfront as bf
from broadfront.cli.main import main
from broadfront.scaling import executions

GRAPH = "path:40"
FEW = ["--devices", "2", "--partitioner", "range", "--repeats", "1", "--quiet"]


def test_all_ways_are_in_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "compared.png"
    assert main(["compare", GRAPH, "bfs", *FEW, "--plot", str(picture)]) == 0
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert title == "bfs on path:40, 2 devices, split by range"
    assert head.split() == " ".join(executions.HEAD).split()
    names = ["one device", "bsp", "async, unfused", "async, without priorities", "async"]
    assert [row.split("  ")[0] for row in rows] == names
    assert picture.stat().st_size > 10_000


def test_numbers_for_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", GRAPH, "bfs", *FEW, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    by_name = {row["way"]: row for row in rows}
    assert by_name["one device"]["work_items"] == 40
    assert by_name["bsp"]["barriers"] > 0
    assert by_name["async"]["barriers"] == 0
    assert by_name["async"]["produced"] == by_name["async"]["consumed"]
    assert by_name["async"]["messages"] >= 1


def test_a_wrong_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(*args: object, **options: object) -> Any:
        answer = executions_run(*args, **options)
        if options.get("devices"):
            answer["depth"][3] = 7
        return answer

    executions_run = executions.run
    monkeypatch.setattr(executions, "run", answers)
    graph = bf.generate(GRAPH)
    with pytest.raises(bf.VerificationError, match="not that of one device"):
        executions.compare(graph, "bfs", devices=2, partitioner="range", repeats=1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([GRAPH, "pagerank"], "expected one of bfs, sssp, components"),
        ([GRAPH, "sssp"], "no weights"),
        (["rmat:4:2:directed=yes", "components"], "is directed"),
    ],
    ids=["no such primitive", "no weights", "directed"],
)
def test_what_is_refused(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *arguments, *FEW]) == 1
    assert why in capsys.readouterr().err
