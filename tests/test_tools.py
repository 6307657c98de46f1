"""Style, and the tools behind make."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(*command, **variables):
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_finds_nothing(command):
    done = run(sys.executable, "-m", "ruff", *command, "--no-cache", ".")
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_help_lists_the_targets():
    done = run("make", "help")
    assert done.returncode == 0
    listed = {line.split()[1] for line in done.stdout.splitlines() if line.strip()}
    expected = {"book", "test", "clean", "serve", "lock", "lint", "format", "chapter"}
    assert expected <= listed


def test_readme_begins_with_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("make book") < text.index("make test") < 300


def test_continuous_integration_runs_the_test_command():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text(encoding="utf-8").splitlines()
    assert "make test" in lines


def test_too_old_python_is_told(tmp_path):
    """The environment's script, asked to believe it runs in an old Python."""
    code = (
        "import sys, runpy; sys.version_info = (3, 8, 0, 'final', 0)\n"
        "import subprocess; subprocess.call = lambda *a, **k: 1\n"
        f"runpy.run_path({str(ROOT / 'tools/environment.py')!r}, run_name='__main__')"
    )
    done = run(sys.executable, "-c", code)
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr


@pytest.fixture
def installer(tmp_path, monkeypatch):
    """The installation script, at work on an environment in a temporary folder."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import install

    venv = tmp_path / ".venv"
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "VENV", venv)
    monkeypatch.setattr(install, "PYTHON", venv / "bin" / "python")
    monkeypatch.setattr(install, "READY", venv / ".wsbnb-ready")
    monkeypatch.setattr(install, "BUSY", venv / ".wsbnb-installing")
    monkeypatch.setattr(install, "SCRATCH", tmp_path / "scratch")
    monkeypatch.setattr(install, "fingerprint", lambda: f"abc {install.VENV}\n")
    monkeypatch.setattr(install, "pip", lambda *arguments: None)
    return install


@pytest.fixture
def finished(installer):
    """The same with a complete environment."""
    (installer.VENV / "bin").mkdir(parents=True)
    installer.PYTHON.symlink_to(sys.executable)
    installer.install()
    assert installer.is_ready()
    return installer


def test_no_environment_yet_is_no_complaint(installer):
    assert not installer.is_ready()
    assert installer.why_start_again() is None


def test_interrupted_installation_starts_afresh(finished, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(finished, "pip", interrupted)
    monkeypatch.setattr(finished, "fingerprint", lambda: f"def {finished.VENV}\n")
    with pytest.raises(SystemExit, match="Run make again"):
        finished.main()
    assert not finished.is_ready()
    assert "interrupted" in finished.why_start_again()


def test_half_made_environment_starts_afresh(installer):
    installer.VENV.mkdir()
    assert "does not start" in installer.why_start_again()


def test_moved_environment_starts_afresh(finished):
    finished.READY.write_text("abc /somewhere/else/.venv\n")
    assert "moved" in finished.why_start_again()


def test_changed_lock_is_installed_on_top(finished, monkeypatch):
    monkeypatch.setattr(finished, "fingerprint", lambda: f"def {finished.VENV}\n")
    assert not finished.is_ready()
    assert finished.why_start_again() is None
    finished.main()
    assert finished.is_ready()
