"""Tables, pictures and the page of a characterisation, which is opened in a real browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from broadfront.characterize.findings import Findings
from broadfront.characterize.page import SECTIONS, page
from broadfront.characterize.plots import PICTURES
from broadfront.characterize.tables import TABLES, tables
from characterize.characterisation import findings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage"]  # fmt: skip
ELSEWHERE = re.compile(r"""(?:src|href)\s*=\s*["'](?!#)|url\((?!["']?#)|<script|<link|@import""")


def test_every_table_has_its_numbers() -> None:
    made = tables(findings())
    assert len(made) == len(TABLES)
    for table in made:
        assert all(len(row) == len(table.head) for row in table.rows)
    text = findings().table()
    assert "Supersteps / barriers / kernel calls (Table III)" in text
    assert re.search(r"bfs +kron:10 +2\.00 ms +4\.00 ms +6\.00 ms +8\.00 ms", text)
    assert "5 / 11 / 1" in text
    assert "8 / 44 / 5" in text


def test_correlation_needs_rows_that_differ() -> None:
    found = findings()
    lines = found.table().splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("Correlation"))
    told = dict(zip(lines[place + 1].split(), lines[place + 2].split(), strict=False))
    assert told["primitive"] == "bfs"
    assert float(told["barriers"]) > 0.99
    found.rows = found.rows[:1]
    assert all(row[1:] == ["-"] * 4 for table in tables(found) for row in table.rows
               if table.title.startswith("Correlation"))  # fmt: skip


def test_nothing_measured_is_shown_as_nothing() -> None:
    assert tables(Findings()) == []
    assert "Three models" in page_of(Findings())


def test_notes_are_told_in_text_and_page() -> None:
    found = findings()
    found.notes, found.stopped = ["others were at work: load 9 <&>"], True
    assert found.table().endswith(
        "load 9 <&>\n  stopped by Ctrl-C; what is here was measured before"
    )
    text = page_of(found)
    assert "<strong>others were at work: load 9 &lt;&amp;&gt;.</strong>" in text
    assert "<strong>stopped by Ctrl-C" in text


def page_of(found: Findings) -> str:
    pytest.importorskip("matplotlib")
    return page(found)


class Open(HTMLParser):
    """Finds tags that are closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "br"):
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_is_whole_and_needs_nothing_from_elsewhere() -> None:
    text = page_of(findings())
    reader = Open()
    reader.feed(text)
    assert reader.stack == []
    assert not ELSEWHERE.search(text.replace('xlink:href="#', "").replace("url(#", ""))
    assert set(re.findall(r"https?://[^\"'<> ]+", text)) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    }  # fmt: skip
    assert text.count("<svg") == len(PICTURES)
    assert text.count("<table") == len(TABLES)
    assert html.escape("grid:30x30 <&>") in text
    for title, _, _ in SECTIONS:
        assert title in reader.texts


def test_pictures_are_drawn_into_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = findings().plot(tmp_path / "new")
    assert [path.stem for path in paths] == list(PICTURES)
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_saved_numbers_are_plain(tmp_path: Path) -> None:
    findings().save(tmp_path / "all.json")
    told = json.loads((tmp_path / "all.json").read_text())
    first = told["rows"][0]
    assert first["seconds"] == 0.002
    assert first["teps"] == pytest.approx(10_693 / 0.002)
    assert first["bytes_read"] == 4_170_000
    assert first["steps"][0]["pulled"] is False


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_shows_the_page(tmp_path: Path, dark: bool) -> None:
    pytest.importorskip("matplotlib")
    path, shot = findings().page(tmp_path / "page.html"), tmp_path / "page.png"
    flags = [*QUIET, f"--user-data-dir={tmp_path / 'profile'}"]
    if dark:
        flags.append("--force-dark-mode")
    shown = subprocess.run(
        [str(CHROMIUM), *flags, "--window-size=1000,1400", f"--screenshot={shot}", path.as_uri()],
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert shot.exists(), shown.stderr[-2000:]
    pixels = pixels_of(shot)
    assert pixels.shape[:2] == (1400, 1000)
    ground = pixels[5, 5, :3]
    assert (ground.mean() < 64) if dark else (ground.mean() > 250)
    ink = abs(pixels[..., :3].astype(int) - ground).sum(axis=2) > 300
    assert 0.005 < ink.mean() < 0.5, "text and pictures stand out from the ground"


def pixels_of(path: Path):  # type: ignore[no-untyped-def]
    """Return the pixels of a PNG file, 0 to 255."""
    image = pytest.importorskip("matplotlib.image")
    return (image.imread(path) * 255).round().astype("uint8")
