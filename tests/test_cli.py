"""The command line, end to end."""

import errno
import os
import pathlib
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest

import wsbnb
from wsbnb import __main__ as entry
from wsbnb import paper
from wsbnb.paper import bench, cli, figures, running
from wsbnb.paper.cli import main

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WSBNB_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_table2_from_a_shell(own_folder):
    words = "reproduce table2 --trials 3 --seed 5 --out out/t2.csv --scenario abrupt"
    done = subprocess.run(
        [sys.executable, "-m", "wsbnb", *words.split(), "--dims", "2", "4"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(own_folder / "out" / "t2.csv")
    columns = ["scenario", "algorithm", "dimension", "mean", "std", "trials", "se"]
    assert list(table.columns) == columns
    assert len(table) == 14 and set(table["dimension"]) == {2, 4}
    assert set(table["scenario"]) == {"abrupt"} and set(table["trials"]) == {3}
    expected = paper.run_table(
        paper.table2([2, 4], ["abrupt"], trials=3, seed=5), cache=False
    )
    np.testing.assert_allclose(table["mean"], expected["mean"], rtol=1e-12)
    assert "WSB-RandLinUCB" in done.stdout and "14 cells" in done.stdout
    assert "left" in done.stderr  # the time left


def run(words):
    return main([*words.split(), "--quiet", "--n-jobs", "1"])


def test_table3_and_protocol(own_folder, capsys):
    short = "--trials 2 --dims 3 --horizon 80"
    assert run(f"reproduce table3 {short} --out a.csv") == 0
    assert run(f"reproduce table3 {short} --out b.csv --protocol printed") == 0
    ours, printed = pd.read_csv("a.csv"), pd.read_csv("b.csv")
    assert list(ours.columns[:4]) == [
        "scenario",
        "algorithm",
        "prior_mean_norm",
        "dimension",
    ]
    assert len(ours) == 18
    differs = ours["mean"] != printed["mean"]
    slow, rand = ours["scenario"] == "slow", ours["algorithm"] == "WSB-RandLinUCB"
    assert (differs == (slow | rand)).all()
    assert "no comparison" in capsys.readouterr().out


def test_report_file(own_folder):
    words = "reproduce table2 --trials 2 --dims 2 --scenario slow --report r.csv"
    assert run(words) == 0
    report = pd.read_csv("r.csv")
    assert {"ratio", "z", "paper_mean", "std_ratio", "f_pvalue"} <= set(report)
    assert (own_folder / "table2.csv").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("table2 --out x.csv --report ./x.csv", "must not be the file of the table"),
        ("table3 --report table3.csv", "must not be the file of the table"),
        ("all --report r.csv", "goes with table2 or table3"),
        ("figures --report r.csv", "goes with table2 or table3"),
    ],
)
def test_a_report_that_would_be_lost_is_refused_at_once(words, why, own_folder):
    with pytest.raises(SystemExit, match=why):
        run(f"reproduce {words}")
    assert not list(own_folder.iterdir())


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_figures(own_folder, kind, start):
    words = f"reproduce figures --trials 2 --dims 2 3 --horizon 80 --format {kind}"
    assert run(words) == 0
    files = sorted(p.name for p in (own_folder / "figures").iterdir())
    assert files == [
        f"regret_{s}_d{d}.{kind}" for s in ("abrupt", "slow") for d in (2, 3)
    ]
    assert (own_folder / "figures" / files[0]).read_bytes().startswith(start)


def test_all(own_folder):
    assert run("reproduce all --trials 2 --dims 2 --horizon 80 --out x") == 0
    files = {
        p.relative_to(own_folder / "x").as_posix()
        for p in (own_folder / "x").rglob("*.*")
    }
    assert files == {
        "table2.csv",
        "table3.csv",
        "figures/regret_abrupt_d2.png",
        "figures/regret_slow_d2.png",
    }


def test_cache_and_force(own_folder, monkeypatch):
    words = "reproduce table2 --trials 2 --dims 2 --horizon 80 --cache here"
    run(words)
    assert len(list((own_folder / "here").glob("*.npz"))) == 14
    monkeypatch.setattr(running, "simulate", None)
    assert run(words) == 0
    with pytest.raises(TypeError):
        run(words + " --force")


def test_interrupt_says_how_to_continue(monkeypatch, capsys):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_reproduce", interrupt)
    assert run("reproduce table2") == 130
    assert "continues" in capsys.readouterr().err


def test_one_trial_is_not_compared(capsys):
    assert run("reproduce table2 --trials 1 --dims 2 --scenario slow") == 0
    assert "no spread" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("reproduce table2 --trials 0", "--trials"),
        ("reproduce table2 --dims 1", "--dims"),
        ("reproduce table2 --dims two", "--dims"),
        ("reproduce table2 --seed -1", "--seed"),
        ("reproduce table2 --protocol guess", "--protocol"),
        ("reproduce table9", "table9"),
        ("reproduce table2 --scenario fast", "--scenario"),
    ],
)
def test_bad_words_are_named(words, named, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words.split())
    assert stopped.value.code == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--n-jobs -20000", "n_jobs must be at least -10000"),
        ("--trials 1000000000000", "trials must be small enough"),
        ("--horizon 900000000000", "horizon must be at most"),
        ("--dims 100000000", "dims must be at most 32768"),
    ],
)
def test_what_the_library_refuses_is_one_line(words, named, tmp_path, capsys):
    folders = ["--cache", str(tmp_path), "--out", str(tmp_path / "table.csv")]
    assert main(["reproduce", "table2", *words.split(), "--quiet", *folders]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wsbnb: {named}")


def in_a_shell(words, stdout, **variables):
    """The command with its own standard output; the code, and what it complains of."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    variables.pop("PYTHONUNBUFFERED", None)  # it hides what is left to the end
    command = [sys.executable, "-m", "wsbnb", *words.split()]
    done = subprocess.run(command, env=variables, stdout=stdout, stderr=subprocess.PIPE)
    return done.returncode, done.stderr.decode()


@pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
@pytest.mark.parametrize("words", ["benchmark --list", "--version"])
def test_nobody_has_to_read_all(words):
    """As in `wsbnb benchmark --list | head -1`."""
    read, write = os.pipe()
    os.close(read)
    assert in_a_shell(words, write) == (1, "")
    os.close(write)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is full")
@pytest.mark.parametrize("words", ["benchmark --list", "--version"])
def test_what_could_not_be_printed_is_said(words):
    with open("/dev/full", "wb") as full:
        code, said = in_a_shell(words, full)
    assert code == 1 and len(said.splitlines()) == 1
    assert said.startswith("wsbnb: cannot write: the disk is full")


def test_letters_that_the_terminal_does_not_have(own_folder):
    with open("listed", "wb") as file:
        where = {"PYTHONIOENCODING": "ascii"}
        assert in_a_shell("benchmark --list", file, **where) == (0, "")
    assert b"\\u03c3 given too small" in (own_folder / "listed").read_bytes()


def test_zero_jobs_are_refused():
    with pytest.raises(SystemExit, match="n-jobs"):
        main(["reproduce", "table2", "--n-jobs", "0"])


def test_bench_gets_its_words(monkeypatch):
    asked = []
    monkeypatch.setattr(
        bench, "report", lambda quick, json: asked.append((quick, json))
    )
    assert main(["bench", "--json"]) == 0
    assert main(["bench", "--quick"]) == 0
    assert asked == [(False, True), (True, False)]


def test_both_ways_in_are_the_same_function(monkeypatch):
    """The console script and `python -m wsbnb`; an interrupt ends both quietly."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["scripts"] == {"wsbnb": "wsbnb.__main__:main"}
    monkeypatch.setattr(cli, "main", lambda: 7)
    assert entry.main() == 7

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    assert entry.main() == 130


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "disk is full"), (errno.EACCES, "give --out and --cache")],
)
def test_a_file_that_cannot_be_written_is_one_line(number, words, monkeypatch, capsys):
    def refuse(path, data):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(cli, "replace_file", refuse)
    assert run("reproduce table2 --trials 2 --dims 2 --horizon 80") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("wsbnb: ") and words in line and "table2.csv" in line


def test_panels_mark_the_change_points():
    options = {"trials": 2, "horizon": 80, "cache": False}
    panels = figures.regret_figures([2], **options)
    marks = {}
    for (scenario, _), figure in panels.items():
        lines = figure.axes[0].lines
        vertical = [line for line in lines if len(set(line.get_xdata())) == 1]
        marks[scenario] = [line.get_xdata()[0] for line in vertical]
        assert len(lines) - len(vertical) == 7
        assert len(figure.axes[0].collections) == 7  # the bands
    assert marks == {"abrupt": [20, 40, 60], "slow": []}


def test_the_standing_parameter_is_not_hidden(own_folder, capsys):
    words = "reproduce table2 --trials 2 --dims 2"
    run(words)
    said = " ".join(capsys.readouterr().out.split())
    assert "parameter that stands still" in said and "z is not normal" in said
    run(f"{words} --protocol printed")
    assert "stands still" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "stands still" in said and "default" in said.split("folder of stored")[1]


def test_a_user_without_a_home_names_a_folder(own_folder, monkeypatch, capsys):
    """As in a container, whose user the system does not know."""

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(pathlib.Path, "home", homeless)
    for name in ("WSBNB_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    words = "reproduce table2 --trials 1 --dims 2 --horizon 8"
    assert run(words) == 1
    assert "wsbnb: cache must name a folder, or WSBNB" in capsys.readouterr().err
    assert run(f"{words} --cache here") == 0
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", "there")
        assert paper.cache_folder() == pathlib.Path("there/wsbnb")


def test_the_help_shows_any_folder(monkeypatch, capsys):
    monkeypatch.setenv("WSBNB_CACHE", "100%d/50%(prog)s")
    with pytest.raises(SystemExit, match="0"):
        main(["reproduce", "--help"])
    assert "100%d/50%(prog)s" in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.strip() == wsbnb.__version__
