"""What fuzzing began with and what it found stays answered as it must be."""

from __future__ import annotations

import pytest

from fuzz import targets


@pytest.mark.parametrize("name", targets.TARGETS)
def test_every_file_of_the_corpus(name: str) -> None:
    files = targets.corpus(name)
    assert files
    for path in files:
        targets.TARGETS[name](path.read_bytes())


def test_the_corpus_is_small_and_belongs_to_targets() -> None:
    assert set(targets.FOLDER.iterdir()) == {targets.folder_of(name) for name in targets.TARGETS}
    files = [path for path in targets.FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1 << 18
    assert len(files) < 400
