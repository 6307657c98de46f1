"""What comes from elsewhere: actions pinned by hash, few permissions, the audit."""

import http.server
import json
import pathlib
import re
import sys
import threading

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
sys.path.insert(0, str(ROOT / "tools"))

import audit  # noqa: E402


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash(path):
    """A tag can be moved to other code; the hash of a commit cannot."""
    lines = re.findall(r"uses:.*", path.read_text(encoding="utf-8"))
    assert lines
    pin = re.compile(r"uses: [\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
    assert [line for line in lines if not pin.fullmatch(line)] == []


#: What the jobs that publish may do: pages, and the branch of plain notebooks.
PUBLISHING = {
    "publish": {"pages": "write", "id-token": "write"},
    "notebooks": {"contents": "write"},
}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_do_little(path):
    """Reading is all, but for the jobs that publish; no checkout keeps its token."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    everybody = content["permissions"]
    assert everybody in ({"contents": "read"}, {})
    for name, job in content["jobs"].items():
        allowed = PUBLISHING.get(name, {"contents": "read"})
        assert job.get("permissions", everybody) == allowed
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
    assert "pull_request_target" not in path.read_text(encoding="utf-8")


@pytest.fixture
def database():
    """A stand-in for the public database: one flaw in one version of one package."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answers = [
                {"vulns": [{"id": "PYSEC-1"}]}
                if (query["package"]["name"], query["version"]) == ("bad", "1.0")
                else {}
                for query in asked["queries"]
            ]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"results": answers}).encode())

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    "lock, status, words",
    [
        ("# x\nbad==1.0\ngood==2.0\n", 1, "bad 1.0: PYSEC-1"),
        ("bad==1.1\ngood==2.0\n", 0, "2 packages, 0 with known flaws"),
    ],
)
def test_audit(lock, status, words, database, tmp_path, capsys):
    (tmp_path / "lock.txt").write_text(lock)
    assert audit.main(tmp_path / "lock.txt", database) == status
    assert words in capsys.readouterr().out


def test_audit_without_a_network(tmp_path, capsys):
    (tmp_path / "lock.txt").write_text("good==2.0\n")
    assert audit.main(tmp_path / "lock.txt", "http://127.0.0.1:9/") == 2
    assert "nobody could be asked" in capsys.readouterr().out


def test_audit_reads_the_whole_lock():
    text = audit.LOCK.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(audit.pins(text)) == len(lines) > 50
