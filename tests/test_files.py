"""Writing: full disks, folders that may not be written, writers that were killed."""

import errno
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time

import numba
import pytest

import wsbnb
from tests import zoo
from wsbnb import _files
from wsbnb.kernels import compiling, rounds
from wsbnb.paper import cli

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def hidden(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("when", ["open", "fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_an_error_names_the_file_that_was_asked_for(
    when, number, tmp_path, monkeypatch
):
    """Not the hidden one; the old content stays, and nothing is left beside it."""
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")

    def fail(*_, **__):
        raise OSError(number, os.strerror(number), "some/hidden/name")

    with monkeypatch.context() as patched:
        target = _files.Path if when == "open" else os
        patched.setattr(target, when, fail)
        if when == "open":  # nor can what is not there be removed, if read-only
            patched.setattr(_files.Path, "unlink", fail)
        with pytest.raises(OSError) as caught:
            _files.replace_file(path, b"new")
    assert caught.value.errno == number and caught.value.filename == str(path)
    assert path.read_bytes() == b"old" and hidden(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
def test_a_link_stays_a_link(tmp_path):
    """People link to a bigger disk: a file in the place of the link fills this one."""
    (tmp_path / "far").mkdir()
    for name, content in (("old", b"old"), ("dangling", None)):
        target, link = tmp_path / "far" / name, tmp_path / name
        if content is not None:
            target.write_bytes(content)
        link.symlink_to(target)
        assert _files.replace_file(link, b"new") == target
        assert link.is_symlink() and target.read_bytes() == b"new"
    assert hidden(tmp_path) == hidden(tmp_path / "far") == []


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_what_was_private_stays_private(mode, tmp_path):
    path = tmp_path / "policy.json"
    zoo.make("Greedy").save(path)
    path.chmod(mode)
    zoo.make("WSBLinTS").save(path)
    assert path.stat().st_mode & 0o777 == mode
    assert isinstance(wsbnb.load(path), wsbnb.WSBLinTS)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root gives files away"
)
def test_what_was_somebody_s_stays_his(tmp_path):
    """Root who writes to a user's private file must not take it from him."""
    path = tmp_path / "policy.json"
    path.touch(0o600)
    os.chown(path, 12345, 54321)
    zoo.make("Greedy").save(path)
    after = path.stat()
    assert (after.st_uid, after.st_gid, after.st_mode & 0o777) == (12345, 54321, 0o600)


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize("mode", [0o444, 0o222])
def test_what_may_not_be_written_is_not_replaced(mode):
    """Root may write everything, and is somebody else here.

    Nobody needs to read what is to be replaced.
    """
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = pathlib.Path(folder, "kept.json")
        path.write_bytes(b"old")
        path.chmod(mode)
        try:
            if root:
                os.seteuid(12345)
            if mode == 0o222:
                _files.replace_file(path, b"new")
            else:
                with pytest.raises(PermissionError, match="kept.json"):
                    _files.replace_file(path, b"new")
        finally:
            if root:
                os.seteuid(0)
        assert path.stat().st_mode & 0o777 == mode
        path.chmod(0o600)
        assert path.read_bytes() == (b"new" if mode == 0o222 else b"old")
        assert os.listdir(folder) == ["kept.json"]


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_links_in_a_circle_stay_and_are_named(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("link")
    with pytest.raises(OSError, match="link") as caught:
        _files.replace_file(link, b"new")
    assert caught.value.errno == errno.ELOOP
    assert link.is_symlink() and hidden(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
def test_a_device_or_a_pipe_is_written_to(tmp_path):
    """Root who names /dev/null or /dev/stdout must find it again afterwards."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert _files.replace_file(pipe, b"some", b"thing") == pipe
    assert os.read(read, 99) == b"something"
    os.close(read)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="/dev/full") as caught:
            _files.replace_file("/dev/full", b"x")
        assert caught.value.errno == errno.ENOSPC
        assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no names of open files")
def test_a_file_that_is_open_already_is_appended_to(tmp_path):
    """`--out /dev/stdout >> tables.csv` replaced what the file had held before."""
    path = tmp_path / "tables.csv"
    path.write_bytes(b"old,")
    with path.open("ab") as file:
        link, again = tmp_path / "link", tmp_path / "again"
        link.symlink_to(f"/dev/fd/{file.fileno()}")
        again.symlink_to("link")
        for name in (f"/dev/fd/{file.fileno()}", link, again):
            assert str(_files.replace_file(name, b"new", b",")) == str(name)
        file.write(b"later")
    assert path.read_bytes() == b"old,new,new,new,later" and hidden(tmp_path) == []
    with pytest.raises(OSError, match="/dev/fd/999") as caught:
        _files.replace_file("/dev/fd/999", b"new")
    assert caught.value.errno == errno.EBADF
    for number in ("9" * 20, "²"):  # no file can have them
        with pytest.raises(FileNotFoundError, match=f"/dev/fd/{number}"):
            _files.replace_file(f"/dev/fd/{number}", b"new")


def test_a_name_of_any_length(tmp_path):
    """As long as a name may be; the hidden one must not be longer."""
    for name in ("a" * 250, "ü" * 120):
        _files.replace_file(tmp_path / name, b"new")
        assert (tmp_path / name).read_bytes() == b"new"


@pytest.mark.parametrize(
    "number, words",
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "give --out and --cache folders that you may write to"),
        (errno.EACCES, "give --out and --cache folders that you may write to"),
        (errno.ENOTDIR, "--out and --cache need a folder, but there is a file"),
    ],
)
def test_the_command_says_what_to_do_in_one_line(
    number, words, tmp_path, monkeypatch, capsys
):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    words_given = ["reproduce", "table2", "--trials", "1", "--dims", "2", "--quiet"]
    words_given += ["--scenario", "abrupt", "--horizon", "8", "--n-jobs", "1"]
    folders = ["--out", str(tmp_path / "t.csv"), "--cache", str(tmp_path / "cache")]
    assert cli.main([*words_given, *folders]) == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("wsbnb: ") and len(said.splitlines()) == 1
    assert words in said and str(tmp_path) in said


def test_killed_writers_are_swept_up(tmp_path):
    """A process that dies between writing and renaming leaves a hidden file."""
    code = textwrap.dedent(
        f"""
        import os, signal
        from wsbnb import _files
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        _files.replace_file({str(tmp_path / "policy.json")!r}, b"half")
        """
    )
    variables = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run([sys.executable, "-c", code], env=variables)
    assert done.returncode == -signal.SIGKILL
    assert len(hidden(tmp_path)) == 1
    zoo.make("Greedy").save(tmp_path / "other.json")
    assert hidden(tmp_path) == []


def test_the_command_sweeps_where_it_writes(tmp_path):
    left = tmp_path / f".t.csv.{_files._host()}-{2**22 + 1}-{'0' * 32}"
    left.touch()  # no process can have this number
    cli._write(tmp_path / "t.csv", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_what_may_be_somebody_s_work_stays(tmp_path):
    ours = tmp_path / f".a.{_files._host()}-{os.getpid()}-{'0' * 32}"
    elsewhere = tmp_path / f".a.{'f' * 8}-1-{'0' * 32}"
    other = tmp_path / ".gitignore"
    for path in (ours, elsewhere, other):
        path.write_text("x")
    assert _files.sweep(tmp_path) == []
    old = time.time() - _files.ABANDONED - 60.0
    for path in (ours, elsewhere, other):
        os.utime(path, (old, old))
    assert _files.sweep(tmp_path) == sorted([ours.name, elsewhere.name])
    assert other.exists()


def test_a_writer_in_another_container_is_left_alone(tmp_path, monkeypatch):
    """With the name of the same host, and a number that no process has here."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "readlink", lambda *_: "pid:[4026539999]")
        theirs = tmp_path / f".a.{_files._host()}-{2**22 + 1}-{'0' * 32}"
    theirs.touch()
    assert _files.sweep(tmp_path) == []


def test_what_cannot_be_swept_does_not_spoil_what_was_saved(tmp_path, monkeypatch):
    """In a shared folder others leave files that only they may remove."""
    left = tmp_path / f".a.{_files._host()}-{2**22 + 1}-{'0' * 32}"
    left.touch()
    policy, path = zoo.make("Greedy"), tmp_path / "policy.json"

    def forbidden(*_, **__):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    with monkeypatch.context() as patched:
        patched.setattr(_files.Path, "unlink", forbidden)
        policy.save(path)
    assert path.exists() and left.exists()
    assert _files.sweep(tmp_path) == [left.name]


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("late", ["numba", "numpy"])
def test_an_interrupt_during_the_import_is_quiet(late, tmp_path):
    """It comes while a package that we need is being imported."""
    # In the background of a shell the signal is ignored, unless somebody wants it.
    code = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"
    code += "\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / f"{late}.py").write_text(code)
    command = [sys.executable, "-m", "wsbnb", "bench", "--quick"]
    variables = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, env=variables, capture_output=True, cwd=tmp_path)
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stdout + done.stderr == b""


def test_other_programs_keep_their_tracebacks(tmp_path):
    code = "import wsbnb, sys\nassert sys.excepthook is sys.__excepthook__\n"
    variables = {**os.environ, "PYTHONPATH": ROOT}
    (tmp_path / "mine.py").write_text(code)
    for words in (["-c", code], ["-m", "mine"], ["mine.py"]):
        done = subprocess.run([sys.executable, *words], env=variables, cwd=tmp_path)
        assert done.returncode == 0


def test_compiled_code_that_cannot_be_kept_is_used_all_the_same(capsys, monkeypatch):
    """A full disk costs the time to compile, not the run."""
    monkeypatch.delenv(compiling.QUIET, raising=False)
    kept = []

    def save(key, data):
        if kept:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        kept.append((key, data))

    attempt = compiling._if_there_is_room(save)
    attempt("one", b"1")
    assert capsys.readouterr().err == ""
    attempt("two", b"2")
    assert kept == [("one", b"1")]
    said = capsys.readouterr().err
    assert said.startswith("wsbnb: cannot keep compiled code (No space left")
    assert len(said.splitlines()) == 1
    stored = getattr(rounds.play, "_cache", None)  # none with the compiler switched off
    if stored is not None:
        assert stored._cache_file.save.__wrapped__.__name__ == "save"


ADD = """
import sys
from wsbnb.kernels import compiling

@compiling.entry
def {name}(x):
    return x + {more}

print({name}({x}), file=sys.stdout)
print(*{name}.stats.cache_hits.values(), file=sys.stderr)
"""


def run_added(folder, name="add", more=1, x="1", **variables):
    """A small entry in a process of its own: what it gives, whether it was kept."""
    (folder / "module.py").write_text(ADD.format(name=name, more=more, x=x))
    variables = {**os.environ, "PYTHONPATH": ROOT, **variables}
    command = [sys.executable, "module.py"]
    done = subprocess.run(
        command, env=variables, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


jitted = pytest.mark.skipif(
    not hasattr(rounds.play, "_cache"), reason="the compiler is switched off"
)


@jitted
def test_compiled_code_of_something_else_is_not_run(tmp_path):
    """Numba's list says float, and the file holds the code for whole numbers."""
    kept = tmp_path / "kept"
    where = {"NUMBA_CACHE_DIR": str(kept)}
    for x, said in (("1", "2"), ("1.5", "2.5")):
        assert run_added(tmp_path, x=x, **where)[0] == said
        assert run_added(tmp_path, x=x, **where) == (said, "1")
    first, second = sorted(kept.rglob("*.nbc"))
    second.write_bytes(first.read_bytes())
    assert run_added(tmp_path, x="1.5", **where) == ("2.5", "")
    assert run_added(tmp_path, x="1.5", **where) == ("2.5", "1")


@jitted
@pytest.mark.parametrize("ending", ["nbc", "nbi"])
@pytest.mark.parametrize("left", [0, 9, 60])
def test_compiled_code_that_is_not_whole_is_made_again(ending, left, tmp_path):
    """After a loss of power a file may be empty, or end early."""
    where = {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    run_added(tmp_path, **where)
    (path,) = (tmp_path / "kept").rglob(f"*.{ending}")
    path.write_bytes(path.read_bytes()[:left])
    assert run_added(tmp_path, **where) == ("2", "")
    assert run_added(tmp_path, **where) == ("2", "1")


@jitted
def test_where_no_compiled_code_can_be_kept_it_is_made(monkeypatch, capsys):
    """A user without a home, in an image that may not be written."""
    monkeypatch.delenv(compiling.QUIET, raising=False)
    monkeypatch.setattr(numba.core.dispatcher, "FunctionCache", no_locator)
    compiling._say_that_nothing_is_kept.cache_clear()
    assert [compiling.entry(lambda x: x + 1)(n) for n in range(2)] == [1, 2]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("wsbnb: no folder for compiled code")


def no_locator(function):
    raise RuntimeError("cannot cache function: no locator available")
