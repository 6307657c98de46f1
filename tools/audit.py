"""Ask a public database whether the locked packages have known flaws.

    python tools/audit.py      status 0: none known, 1: some, 2: nobody could be asked

The database is OSV (https://osv.dev). Only names and versions of public packages are
sent. This is a command and no test: what it says changes without any change here.
"""

import json
import pathlib
import re
import sys
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
SERVICE = "https://api.osv.dev/v1/querybatch"


def pins(text):
    """Pairs (name, version) of a lock file."""
    return re.findall(r"^([A-Za-z0-9._-]+)==([^\s;#]+)", text, flags=re.MULTILINE)


def ask(packages, service=SERVICE):
    """Identifiers of known flaws for each package, by one request."""
    queries = [
        {"package": {"name": name, "ecosystem": "PyPI"}, "version": version}
        for name, version in packages
    ]
    request = urllib.request.Request(
        service,
        data=json.dumps({"queries": queries}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        results = json.load(answer)["results"]
    if len(results) != len(packages):
        raise ValueError(f"{len(packages)} questions, {len(results)} answers")
    return [sorted(v["id"] for v in found.get("vulns", [])) for found in results]


def main(lock=LOCK, service=SERVICE):
    """Print what is known; return the exit status."""
    packages = pins(lock.read_text(encoding="utf-8"))
    try:
        flaws = ask(packages, service)
    except (urllib.error.URLError, OSError, ValueError, KeyError) as error:
        print(f"audit: nobody could be asked ({error}); is there a network?")
        return 2
    known = {p: found for p, found in zip(packages, flaws, strict=True) if found}
    for (name, version), found in known.items():
        print(f"{name} {version}: {', '.join(found)}")
    print(f"audit: {len(packages)} packages, {len(known)} with known flaws")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
