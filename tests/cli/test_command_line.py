"""The command line as a person or a script meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import broadfront as bf
from broadfront import progress
from broadfront.cli.main import main
from zoo import same_from_file


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(argument) for argument in arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("broadfront: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_info_tells_what_matters(capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "info", "grid:3x3:0:weights=2-2")
    for fact in ("vertices  9", "edges     12", "directed  no", "int32, 2 to 2",
                 "min 2, mean 2.67, max 4", "time"):  # fmt: skip
        assert fact in out
    assert "2-3" in out
    assert "█" in out


def test_info_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(answer(capsys, "info", "star:5", "--json"))
    assert facts["vertices"] == 5
    assert facts["edges"] == 4
    assert facts["degree_max"] == 4
    assert facts["directed"] is False
    assert facts["weights"] is None
    assert facts["origin"]["name"] == "star:5"


def test_info_of_odd_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, graph in enumerate(
        [bf.from_edges([], []), bf.from_edges([], [], num_vertices=3),
         bf.from_edges([0], [0], weight=[0.5]), bf.from_edges(["a"], ["b"])]
    ):  # fmt: skip
        path = tmp_path / f"{number}.bfg"
        graph.save(path)
        assert f"{graph.num_vertices} (" in answer(capsys, "info", path)
        assert json.loads(answer(capsys, "info", path, "--json"))["edges"] == graph.num_edges


def test_reading_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("when,who,whom\n1,0,0\n2,0,1\n")
    facts = json.loads(
        answer(capsys, "info", path, "--columns", "who,whom", "--undirected", "--simple",
               "--vertices", 4, "--header", "--ids", "integer", "--json")
    )  # fmt: skip
    assert (facts["vertices"], facts["edges"], facts["directed"]) == (4, 1, False)


def test_convert_and_generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a.mtx.gz", tmp_path / "b.bfg"
    out = answer(capsys, "generate", "kron:6:weights=1-5", first, "--seed", 3, "--simple")
    assert f"written   {first}" in out
    answer(capsys, "convert", first, second)
    expected = bf.generate("kron:6", seed=3, weights=(1, 5), simple=True)
    same_from_file(expected, bf.read(second), first)
    facts = json.loads(answer(capsys, "convert", second, tmp_path / "c.txt", "--json"))
    assert facts["written"]["bytes"] == os.path.getsize(tmp_path / "c.txt")


def test_errors_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no generator of that name" in complaint(capsys, "info", "missing.el")
    assert "known:" in complaint(capsys, "generate", "krom:5", tmp_path / "x.bfg")
    assert "unknown suffix" in complaint(capsys, "convert", "path:3", tmp_path / "x.doc")
    assert "No such file" in complaint(capsys, "convert", "path:3", tmp_path / "no" / "x.el")
    wrong = tmp_path / "wrong.el"
    wrong.write_text("0 1\n0 -1\n")
    assert f"{wrong}, line 2: vertex id -1 is negative" in complaint(capsys, "info", wrong)


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["info"], ["info", "path:3", "--colour"],
                                       ["info", "path:3", "--columns", "1"]])  # fmt: skip
def test_misspelt_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, word in ((["--help"], "examples:"), (["generate", "--help"], "kron:SCALE")):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 0
        assert word in capsys.readouterr().out


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "broadfront", "info", "path:4", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout)["edges"] == 3


def run(*arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "broadfront", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=120, **settings)  # type: ignore[call-overload,no-any-return]


def test_an_output_without_blocks() -> None:
    done = run("info", "path:10", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 0
    assert b"#####" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="closes a descriptor by number")
def test_a_closed_output() -> None:
    done = run("info", "path:10", preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (1, b"broadfront: error: standard output is closed\n")
    assert run("info", "path:10", preexec_fn=lambda: os.close(2)).returncode == 0


def test_json_without_numbers_that_json_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "far.wel"
    path.write_text("0 1 inf\n1 2 3.5\n")
    facts = json.loads(answer(capsys, "info", path, "--json"), parse_constant=pytest.fail)
    assert (facts["weight_min"], facts["weight_max"]) == (3.5, "inf")


@pytest.mark.parametrize("count", ["0", "9" * 5000, "-1", "٣"])
def test_a_wrong_number_of_threads_is_not_the_fault_of_the_spec(
    count: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROADFRONT_THREADS", count)
    error = complaint(capsys, "info", "path:10")
    assert error.startswith("broadfront: error: BROADFRONT_THREADS=")


def test_a_missing_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goal = tmp_path / "no" / "x.el"
    error = complaint(capsys, "convert", "path:3", goal)
    assert error == f"broadfront: error: {goal}: No such file or directory\n"


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stage", ["generating edges", "dealing edges", "sorting neighbours"])
def test_ctrl_c_stops_long_work(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(now: str, done: int, total: int) -> None:
        if now == stage:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(progress, "report", press)
        assert main(["generate", "kron:12", str(tmp_path / "out.bfg")]) == 130
    assert capsys.readouterr().err == "broadfront: stopped\n"
    assert os.listdir(tmp_path) == []
    assert "4,096" in answer(capsys, "info", "kron:12")


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "broadfront", "info", "kron:12"],
        stdout=subprocess.DEVNULL, stderr=follower, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(follower)
    shown = b""
    try:
        while block := os.read(leader, 4096):
            shown += block
    except OSError:
        pass  # Linux says that the other end is closed in this way
    assert process.wait(timeout=120) == 0
    assert b"0:00:" in shown


def test_a_command_does_not_load_linear_algebra() -> None:
    """Numba would, for `dot`, which no kernel needs: a fifth of the time of a short command."""
    script = (
        "import sys; from broadfront.cli.main import main; sys.argv[1:] = ['info', 'path:9'];"
        "main(); print([name for name in sys.modules if name.startswith('scipy.linalg')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.endswith("[]\n")
