"""Findings as a value: saved, shown, drawn."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import broadfront as bf
from broadfront.scaling import Findings, load
from broadfront.scaling.plots import PICTURES
from scaling.made_up import findings, row


def test_saved_and_loaded_they_are_equal(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    found = findings()
    found.stopped = True
    found.save(path)
    again = load(path)
    assert again == found
    assert again.rows[0].trials == found.rows[0].trials
    assert again.table() == found.table()


def test_csv_has_a_row_each_with_relative_numbers(tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    findings().save(path)
    with open(path, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(findings().rows)
    two = rows[1]
    assert (two["study"], two["devices"], two["repeats"]) == ("strong", "2", "3")
    assert float(two["speed_up"]) == 2
    assert float(two["relative_memory"]) == 2
    assert "frontier" not in two


def test_a_data_frame_has_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    frame = findings().to_pandas()
    kept = frame[(frame["study"] == "ids") & (frame["ids"] == "kept")]
    assert kept["relative_time"].tolist() == [1.5]
    assert kept["seconds"].tolist() == [3]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "\xff", '{"kind": "other"}', '{"kind": "broadfront scaling study"}',
     '{"kind": "broadfront scaling study", "rows": [{}]}',
     '{"kind": "broadfront scaling study", "rows": [], "more": 1}'],
)  # fmt: skip
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(bf.FormatError, match="this is no scaling study"):
        load(path)


@pytest.mark.parametrize(
    ("name", "value"), [("devices", "2"), ("trials", 3), ("trials", ["1"]), ("study", 1)]
)
def test_values_of_another_kind_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    findings().save(path)
    told = json.loads(path.read_text())
    told["rows"][0][name] = value
    path.write_text(json.dumps(told))
    with pytest.raises(bf.FormatError, match="this is no scaling study"):
        load(path)


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bf.OptionError, match=r"--save .*x: expected a name that ends in \.json"):
        findings().save(tmp_path / "x")


def test_tables_tell_what_matters() -> None:
    text = findings().table()
    lines = [line.split() for line in text.splitlines()]
    assert ["rmat:3", "pagerank", "3,000.00", "ms", "1,500.00", "ms", "750.00", "ms"] in lines
    assert ["rmat", "bfs", "2.00", "4.00"] in lines
    assert ["rmat", "bfs", "1.20", "1.40"] in lines
    assert ["bfs", "rmat:4", "4x1", "100", "1,000.00", "ms", "0.0", "4.00", "100%"] in lines
    assert ["rgg", "bfs", "metis", "50.00", "0.50", "1.00", "1.00"] in lines
    assert ["rgg", "bfs", "fixed", "0.50", "1.00", "3.00"] in lines
    assert text.startswith("Strong scaling, devices x threads, median of at most 3\n")
    for title in ("Speed-up against one device",
                  "Partitioners on 4x1, relative to random", "Ids on 4x1, relative to relabelled",
                  "Memory schemes on 4x1, relative to minimal", "  a note"):  # fmt: skip
        assert title in text.splitlines()
    assert Findings().table() == ""


def test_every_picture_is_drawn(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    paths = findings().plot(tmp_path / "new" / "folder")
    assert [path.stem for path in paths] == list(PICTURES)
    for path in paths:
        pixels = image.imread(path)
        assert min(pixels.shape[:2]) > 300
        assert pixels.std() > 0.02, f"{path.name} is empty"


def test_only_what_there_is_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert Findings().plot(tmp_path) == []
    alone = Findings(rows=[row("strong", "rgg:3", 1, 1.0), row("ids", "rgg:3", 2, 1.0)])
    assert alone.plot(tmp_path) == []
    wrong = row("strong", "rgg:3", 2, 1.0, status="wrong")
    assert Findings(rows=[row("strong", "rgg:3", 1, 1.0), wrong]).plot(tmp_path) == []


def test_pictures_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(
        bf.MissingDependencyError, match=r"matplotlib: pip install 'broadfront\[plots\]'"
    ):
        findings().plot(tmp_path)
