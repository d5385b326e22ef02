"""`broadfront cache`: shows what is kept, and clears it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numba.core import config

from broadfront import cache
from broadfront.cli.main import main


def test_it_shows_and_clears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("BROADFRONT_CACHE_SIZE", "2M")
    for name in ("one", "two"):
        cache.write(name, bytes(32), bytes(5000))
    assert main(["cache"]) == 0
    told = capsys.readouterr().out
    assert f"folder  {tmp_path / 'broadfront'}" in told
    assert "files   2" in told
    assert "9.9 KiB of 2.0 MiB at most" in told
    assert main(["cache", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["files"], facts["limit"], facts["removed"]) == (2, 2 << 20, 0)
    assert main(["cache", "--clear"]) == 0
    assert "removed  2 files" in capsys.readouterr().out
    assert cache.survey() == []


def test_an_empty_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "nowhere"))
    assert main(["cache", "--clear"]) == 0
    assert "files    0" in capsys.readouterr().out
