"""Make the three pictures of the front page and the README: read, execute, import.

python tools/pictures.py            (after make book; needs Chromium, as the tests do)

They are screenshots of the real things: a page of the built book, the same chapter in
a stock JupyterLab, and the README's example in a Python session.
"""

import code
import contextlib
import html
import io
import re
import sys
import tempfile

from common import HTML, NOTEBOOKS, ROOT
from PIL import Image

sys.path.insert(0, str(ROOT))
from tests.book import browser as look
from tests.book import lab

TARGET = ROOT / "book" / "_assets" / "doors"
CHAPTER = "book/part1_estimators/02_wrls"
VIEW = {"viewport": {"width": 1000, "height": 640}}
COLORS = 128  # enough for text and formulas, and a third of the bytes

SESSION = """<body style="margin:0;background:#fff">
<pre style="margin:0;padding:18px 22px;font:15px/1.45 monospace;color:#222">{}</pre>
</body>"""


def save(shown, name):
    """A screenshot of a tab or of a part of it."""
    path = TARGET / f"{name}.png"
    picture = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


def read(browser):
    with look.Site(HTML) as site:
        tab = browser.new_context(**VIEW).new_page()
        tab.goto(f"{site.url}{CHAPTER}.html")
        tab.wait_for_selector("mjx-container")
        show(tab, "The objective and its solution")
        save(tab, "read")


def show(tab, heading):
    """Scroll a heading to the top and let the page settle."""
    place = tab.locator("h2", has_text=heading).first
    place.evaluate("e => e.scrollIntoView({block: 'start'})")
    tab.mouse.move(0, 0)
    tab.wait_for_timeout(1500)


def execute(browser):
    with (
        tempfile.TemporaryDirectory() as scratch,
        lab.Lab(NOTEBOOKS, scratch) as running,
    ):
        tab = running.open(browser, f"{CHAPTER}.ipynb", **VIEW)
        tab.keyboard.press("Control+B")  # without the list of files
        show(tab, "Two observations by hand")
        save(tab, "execute")


def example():
    """The README's first example."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]


def transcript(source):
    """What a Python session shows while somebody types the lines."""
    console, shown = code.InteractiveConsole(), []
    for line in filter(None, source.splitlines()):
        told = io.StringIO()
        with (
            contextlib.redirect_stdout(told),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            before = ">>> " if not console.buffer else "... "
            if console.buffer and not line[0].isspace() and line[0] != ")":
                console.push("")  # the blank line that ends a block
                before = ">>> "
            console.push(line)
        shown += [before + line, told.getvalue().rstrip()]
    return "\n".join(filter(None, shown))


def use(browser):
    tab = browser.new_context(**VIEW).new_page()
    tab.set_content(SESSION.format(html.escape(transcript(example()))))
    save(tab.locator("pre"), "import")


def main():
    from playwright.sync_api import sync_playwright

    TARGET.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        path = look.find_browser(playwright)
        if path is None:
            raise SystemExit("There is no Chromium: apt-get install chromium")
        browser = playwright.chromium.launch(executable_path=path, args=look.FLAGS)
        for picture in (read, execute, use):
            picture(browser)
        browser.close()


if __name__ == "__main__":
    main()
