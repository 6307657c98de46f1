"""A stock JupyterLab in the browser, and what is wrong with a notebook in it."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HIDDEN = shutil.ignore_patterns(".*")
PATIENCE = 120  # seconds until the server answers
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Lab:
    """JupyterLab over a folder while the `with` block lasts, with its own settings.

    Nothing is installed into it and nothing is taken from the user's settings. It works
    on a copy, since Lab saves what it has open. All cells are drawn at once; Lab would
    otherwise draw only those on the screen.
    """

    def __init__(self, folder, scratch):
        self.scratch = pathlib.Path(scratch)
        self.folder = self.scratch / "notebooks"
        shutil.copytree(folder, self.folder, ignore=HIDDEN)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        settings = self.scratch / "settings"
        for name, values in SETTINGS.items():
            file = settings / f"@jupyterlab/{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        environment = {
            **os.environ,
            "JUPYTERLAB_SETTINGS_DIR": str(settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.scratch / "workspaces"),
            "JUPYTER_CONFIG_DIR": str(self.scratch / "config"),
            "JUPYTER_RUNTIME_DIR": str(self.scratch / "runtime"),
        }
        options = {
            "ServerApp.port": self.port,
            "ServerApp.root_dir": self.folder,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "IdentityProvider.token": "",
        }
        self.server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab"]
            + [f"--{name}={value}" for name, value in options.items()],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.wait()
        return self

    def wait(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(self.url + "api", timeout=5).close()
                return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.5)
        self.server.terminate()
        raise RuntimeError(f"JupyterLab did not answer within {PATIENCE} s")

    def __exit__(self, *exception):
        self.server.terminate()
        self.server.wait(30)

    def open(self, browser, notebook, **context):
        """A page with the notebook, drawn; close its context when done."""
        tab = browser.new_context(**context).new_page()
        tab.set_default_timeout(PATIENCE * 1000)
        tab.goto(f"{self.url}lab/tree/{notebook}?reset")
        tab.wait_for_selector(".jp-Notebook .jp-RenderedMarkdown h1")
        tab.wait_for_function(ALL_DRAWN)
        tab.wait_for_timeout(500)
        return tab


# No Markdown cell is still without its rendering, no formula still in dollars.
ALL_DRAWN = """() => {
  const cells = [...document.querySelectorAll('.jp-Notebook .jp-MarkdownCell')];
  return cells.length > 1 && cells.every(c => c.querySelector('.jp-RenderedMarkdown')
    && !/\\$[^$]+\\$/.test(text(c)));
  function text(cell) {
    const copy = cell.querySelector('.jp-RenderedMarkdown').cloneNode(true);
    copy.querySelectorAll('pre, code, mjx-container').forEach(e => e.remove());
    return copy.textContent;
  }
}"""

RED = """() => [...document.querySelectorAll('.jp-Notebook mjx-container')].flatMap(
e => {
  const name = (e.querySelector('mjx-assistive-mml') || e).textContent.slice(0, 60);
  if (e.querySelector('mjx-merror, merror, [data-mjx-error]'))
    return ['error in formula: ' + name];
  const red = [...e.querySelectorAll('*')].find(
    part => getComputedStyle(part).color === 'rgb(255, 0, 0)');
  return red ? ['red in formula: ' + red.textContent + ' in ' + name] : [];
})"""

TEXT = """() => [...document.querySelectorAll('.jp-Notebook .jp-RenderedMarkdown')].map(
  e => { const copy = e.cloneNode(true);
    copy.querySelectorAll('pre, code, mjx-container').forEach(c => c.remove());
    return copy.textContent; })"""

OPEN = """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].map(
  e => Boolean(e.querySelector('.jp-InputArea-editor .cm-editor')))"""

# Directives, roles, TeX and Markdown that should have become something else.
RAW = re.compile(
    r":::|```|\{[a-z:]+\}[`\s]|\$|\\[a-zA-Z]{2,}|^>|\*\*|«|»|&lt;|plain:|</?details",
    re.MULTILINE,
)


def red_formulas(tab):
    yield from tab.evaluate(RED)


def raw_markup(tab):
    for text in tab.evaluate(TEXT):
        for found in RAW.finditer(text):
            around = text[max(0, found.start() - 30) : found.end() + 30]
            yield f"raw markup {found[0]!r} in {around!r}"


def open_cells(tab):
    """For every code cell whether its code is on the screen."""
    return tab.evaluate(OPEN)
