"""The chapters' services keep what was acknowledged, however they are killed.

The chapters kill their processes once, at one moment. Here their own code meets the
moments that are rare: an answer cut in the middle, a crash while a journal is mended,
an event that must not be written, a full disk.
"""

import ast
import builtins
import json
import pathlib
import socket
import threading

import nbformat
import pytest

from tests.book import notebook_rules as rules
from tests.book.sources import BOOK

FLEET = BOOK / "part5_use" / "fleet.ipynb"
SAVING = BOOK / "part5_use" / "save_restore.ipynb"
ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"
EVENT = dict(number=0, user=3, x=[1.0, 0.5], reward=0.3)
LINE = json.dumps(EVENT).encode() + b"\n"


def definitions(path, *constants):
    """A chapter's imports, functions and these of its constants, without the rest."""
    parts = []
    for _, cell in rules.code_cells(nbformat.read(path, as_version=4)):
        for part in ast.parse(rules.without_magics(rules.source(cell))).body:
            kept = isinstance(part, ast.Import | ast.ImportFrom | ast.FunctionDef)
            if isinstance(part, ast.Assign):
                kept = ast.unparse(part.targets[0]) in constants
            parts += [part] if kept else []
    space = {}
    exec(compile(ast.Module(parts, []), str(path), "exec"), space)
    return space


def answers(lines):
    """A server that answers with these bytes in turn, a connection each."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        for line in lines:
            connection, _ = server.accept()
            with connection:
                text = b""
                while not text.endswith(b"}"):
                    text += connection.recv(65536)
                connection.sendall(line)

    threading.Thread(target=serve, daemon=True).start()
    return server, f"http://127.0.0.1:{server.getsockname()[1]}"


BROKEN = {
    "nothing": b"",
    "half a status": ANSWER[:7],
    "half the headers": ANSWER[:30],
    "no body": ANSWER[:-2],
    "half a body": ANSWER[:-1],
    "another protocol": b"\x16\x03\x01\r\n\r\n",
    "what was asked": b"POST /update HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_a_client_repeats_what_was_answered_by_half(answer):
    space = definitions(FLEET)
    server, space["address"] = answers([answer, ANSWER])
    space.update(acknowledged=[], repeated=[], refused=[], killed=threading.Event())
    with server:
        space["client"]([0])
    assert space["acknowledged"] == [0] and space["repeated"] == [0]
    assert not space["refused"]


def test_a_client_does_not_repeat_what_was_refused():
    space = definitions(FLEET)
    server, space["address"] = answers([ANSWER.replace(b"200 OK", b"400 Bad"), ANSWER])
    space.update(acknowledged=[], repeated=[], refused=[], killed=threading.Event())
    with server:
        space["client"]([0, 1])
    assert space["refused"] == [0] and space["acknowledged"] == [1]
    assert not space["repeated"]


class Died(Exception):
    """Instead of a process that is killed."""


def dying_open(path, *mode):
    """Like `open`, but the process dies when a file was emptied."""
    file = builtins.open(path, *mode)
    if mode and "w" in mode[0]:
        file.close()
        raise Died
    return file


def die_when_emptied(path, *words):
    path.open("w").close()
    raise Died


@pytest.fixture
def mortal(monkeypatch):
    """Whoever empties a file dies before anything is in it again."""
    for name in ("write_text", "write_bytes"):
        monkeypatch.setattr(pathlib.Path, name, die_when_emptied)


@pytest.fixture
def service(tmp_path):
    """The state and the answers of the fleet's service, in this process."""
    space = definitions(FLEET, "STATE", "ANSWERS")
    services = []

    def start():
        run = {"open": dying_open}
        state = space["STATE"].replace("sys.argv[1:]", repr([str(tmp_path), "port"]))
        exec(state + space["ANSWERS"], run)
        services.append(run)
        return run

    yield start
    for run in services:
        run["log"].close()


@pytest.mark.parametrize("torn", [b"", b'{"number": 1, "us', b"{}"])
def test_a_service_that_dies_while_it_starts_keeps_its_journal(service, tmp_path, torn):
    (tmp_path / "journal").write_bytes(LINE + torn)
    for _ in range(2):
        assert service()["fleet"].rounds(3)[0] == 1
        assert (tmp_path / "journal").read_bytes() == LINE


@pytest.mark.parametrize(
    "change",
    [
        dict(user=100),
        dict(user=-1),
        dict(x=[1.0]),
        dict(x=[1.0, float("nan")]),
        dict(x="ab"),
        dict(reward=None),
        dict(reward=float("inf")),
        dict(number=[]),
    ],
    ids=str,
)
def test_a_refused_event_is_not_in_the_journal(service, tmp_path, change):
    run = service()
    with pytest.raises((ValueError, TypeError)):
        run["update"](EVENT | change)
    assert (tmp_path / "journal").read_bytes() == b""
    assert run["update"](EVENT)["rounds"] == 1
    assert service()["fleet"].rounds().sum() == 1


def test_an_event_is_on_the_disk_before_it_is_acknowledged(service, tmp_path):
    run, synced, journal = service(), [], tmp_path / "journal"
    run["os"] = Os(fsync=lambda number: synced.append(journal.read_bytes()))
    assert run["update"](EVENT)["rounds"] == 1
    assert run["update"](EVENT)["rounds"] == 1  # sent again
    assert synced == [LINE]


def test_a_service_whose_disk_is_full_forgets_what_is_not_on_it(service, tmp_path):
    def full(number):
        raise OSError(28, "No space left on device")

    def die(code):
        raise Died

    run = service()
    run["os"] = Os(fsync=full, _exit=die)
    with pytest.raises(Died):
        run["update"](EVENT)
    assert EVENT["number"] not in run["done"]


class Os:
    """The two calls of `os` that a test replaces."""

    def __init__(self, **calls):
        self.__dict__.update(calls)


def test_a_policy_that_dies_while_it_recovers_keeps_its_journal(tmp_path, request):
    space = definitions(SAVING, "SETTINGS")
    policy, lines = space["new_policy"](), []
    policy.save(tmp_path / "checkpoint.json")
    for t in range(3):
        arms, rewards = space["offer"](t)
        k = policy.pull(arms)
        policy.update(arms[k], rewards[k])
        entry = {"t": t, "arms": arms.tolist(), "k": k, "reward": rewards[k]}
        lines.append(json.dumps(entry) + "\n")
    journal = tmp_path / "journal.jsonl"
    journal.write_text("".join(lines) + lines[0][:20])
    request.getfixturevalue("mortal")
    recovered = space["recover"](tmp_path)
    assert recovered.rounds == 3
    assert (recovered.posterior.mean == policy.posterior.mean).all()
    assert journal.read_text() == "".join(lines)
