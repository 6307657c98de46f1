"""A real browser looks at pages and reports what is wrong with them.

Each check yields sentences, so that it runs on the book's pages and on small spoilt
pages alike. A page is opened with `Visit`, which also writes down every request.
"""

import functools
import http.server
import os
import pathlib
import shutil
import threading

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}
PATIENCE = 30_000  # milliseconds
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def missing(reason):
    """Skip with the reason, or fail where nothing may be skipped (as in CI)."""
    if os.environ.get("WSBNB_REQUIRE_BROWSER", "") not in ("", "0"):
        pytest.fail(f"{reason} (WSBNB_REQUIRE_BROWSER is set)")
    pytest.skip(reason)


def find_browser(playwright):
    """The path of a Chromium: WSBNB_BROWSER, the system's, or playwright's; or None."""
    named = os.environ.get("WSBNB_BROWSER")
    if named:
        return named
    installed = next(filter(None, map(shutil.which, NAMES)), None)
    own = playwright.chromium.executable_path
    return installed or (own if own and os.path.exists(own) else None)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Site:
    """A folder served on localhost while the `with` block lasts."""

    def __init__(self, folder):
        handler = functools.partial(QuietHandler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.server.shutdown()
        self.server.server_close()


class Visit:
    """One page in a fresh browser context, with its requests and errors noted."""

    def __init__(self, browser, base, page="", viewport=WIDE):
        self.base = base if base.endswith("/") else base + "/"
        self.context = browser.new_context(viewport=viewport)
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(PATIENCE)
        self.requests, self.errors = [], []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("requestfailed", self._note_failure)
        self.tab.on("response", self._note_response)
        self.tab.on("console", self._note_message)
        self.tab.on("pageerror", lambda error: self.errors.append(f"script: {error}"))
        self.tab.goto(self.base + page, wait_until="load")
        self.wait_for_formulas()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.context.close()

    def _note_failure(self, request):
        if "ERR_ABORTED" not in (request.failure or ""):
            self.errors.append(f"request failed: {request.url} ({request.failure})")

    def _note_response(self, response):
        if response.status >= 400:
            self.errors.append(f"status {response.status}: {response.url}")

    def _note_message(self, message):
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def wait_for_formulas(self):
        self.tab.wait_for_function(
            "() => !window.MathJax || (MathJax.startup && MathJax.startup.promise"
            " && MathJax.startup.promise.then(() => true))"
        )


def requests_outside(visit):
    """Requests that leave the book."""
    for url in visit.requests:
        if not url.startswith((visit.base, "data:", "blob:", "about:")):
            yield f"asks for {url}"


def script_errors(visit):
    yield from visit.errors


FORMULAS = """() => {
  const said = [];
  const inside = e => e.parentElement.closest('.math');
  for (const e of document.querySelectorAll('.math')) {
    if (!e.querySelector('mjx-container') && !inside(e))
      said.push('not typeset: ' + e.textContent.trim().slice(0, 60));
  }
  for (const e of document.querySelectorAll('mjx-container')) {
    const name = (e.querySelector('mjx-assistive-mml') || e).textContent.slice(0, 60);
    if (e.querySelector('mjx-merror, merror, [data-mjx-error]'))
      said.push('error in formula: ' + name);
    for (const part of e.querySelectorAll('*'))
      if (getComputedStyle(part).color === 'rgb(255, 0, 0)') {
        said.push('red in formula: ' + part.textContent + ' in ' + name); break;
      }
  }
  const main = document.querySelector('main') || document.body;
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  const skip = 'pre, code, script, style, mjx-container, textarea';
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent;
    const raw = text.match(/\\\\[a-zA-Z]{2,}|\\$\\$/);
    if (raw && !walker.currentNode.parentElement.closest(skip))
      said.push('raw TeX in the text: ' + text.trim().slice(0, 60));
  }
  return said;
}"""


def broken_formulas(visit):
    """Formulas that are not typeset, contain an error or an undefined macro."""
    yield from visit.tab.evaluate(FORMULAS)


BROKEN_IMAGES = """() => [...document.images]
  .filter(i => i.loading !== 'lazy' && i.complete && i.naturalWidth === 0)
  .map(i => 'image does not show: ' + i.getAttribute('src').slice(0, 80))"""


def broken_images(visit):
    yield from visit.tab.evaluate(BROKEN_IMAGES)


# After this the page is as it was told to be: two frames have been drawn.
NEXT_PICTURE = """() => new Promise(
  done => requestAnimationFrame(() => requestAnimationFrame(done)))"""
WIDEST = """() => {
  const page = document.documentElement, width = page.clientWidth;
  if (page.scrollWidth <= width) return [];
  const scrolls = e => { for (let p = e.parentElement; p; p = p.parentElement) {
    if (p !== document.body && p !== page &&
        getComputedStyle(p).overflowX !== 'visible') return true; } return false; };
  const wide = [...document.body.querySelectorAll('*')].filter(
    e => e.getBoundingClientRect().right > width + 1 && !scrolls(e));
  const names = wide.slice(-3).map(e => e.tagName.toLowerCase() + '.' + e.className);
  return ['page is ' + page.scrollWidth + ' px wide in a window of ' + width +
          ': ' + names.join(' | ')];
}"""


def horizontal_overflow(visit):
    """Whether the page is wider than a telephone; leaves the window narrow."""
    visit.tab.set_viewport_size(NARROW)
    visit.tab.evaluate(NEXT_PICTURE)
    yield from visit.tab.evaluate(WIDEST)


CUT_TABLES = """() => [...document.querySelectorAll('.bd-article table')].filter(
  table => table.scrollWidth > table.clientWidth + 1 && table.checkVisibility()
).flatMap(table => {
  const name = table.textContent.trim().slice(0, 40);
  if (table.matches('.autosummary')) return ['summary must be moved sideways: ' + name];
  return ['auto', 'scroll'].includes(getComputedStyle(table).overflowX)
    ? [] : ['table is cut: ' + name];
})"""


def cut_tables(visit):
    """Tables whose right side cannot be reached, or not without moving a summary."""
    yield from visit.tab.evaluate(CUT_TABLES)


PICTURES = """() => [...document.querySelectorAll('.cell_output img')].map(image =>
  [image.getAttribute('src'), image.getBoundingClientRect().width, image.naturalWidth])
"""


def squeezed_pictures(visit):
    """Pictures narrower than drawn and than 540 px: their letters get too small."""
    for source, width, natural in visit.tab.evaluate(PICTURES):
        if width < min(540, natural) - 1:
            yield f"squeezed to {width:.0f} px: {source}"


def choose_theme(visit, theme):
    """Switch between light and dark as the theme's own button does."""
    visit.tab.evaluate(
        "theme => { document.documentElement.dataset.theme = theme;"
        " document.documentElement.dataset.mode = theme; }",
        theme,
    )
    visit.tab.add_style_tag(content="* { transition: none !important; }")
    visit.tab.evaluate(NEXT_PICTURE)


@functools.cache
def axe_script():
    import axe_playwright_python

    folder = pathlib.Path(axe_playwright_python.__file__).parent
    return next(folder.rglob("axe.min.js")).read_text(encoding="utf-8")


# Formulas are the business of MathJax, and contrast of CONTRAST below: without both the
# answer comes in seconds on long pages as well.
RUN_AXE = """options => axe.run({exclude: [['mjx-container']]}, options).then(result =>
  result.violations.flatMap(v => v.nodes.map(n => [v.id, v.impact,
    n.target.join(' '), n.html.slice(0, 120), (n.any[0] || {}).message || v.help])))"""


def accessibility(visit, rules=None, impacts=("serious", "critical")):
    """What axe-core finds, of the given severity."""
    if not visit.tab.evaluate("() => Boolean(window.axe)"):
        visit.tab.evaluate(axe_script())
    options = {
        "resultTypes": ["violations"],
        "rules": {"color-contrast": {"enabled": False}},
    }
    if rules:
        options = {"runOnly": {"type": "rule", "values": list(rules)}}
    for name, impact, target, html, message in visit.tab.evaluate(RUN_AXE, options):
        if impact in impacts:
            yield f"{name} ({impact}) at {target}: {message} {html}"


# WCAG's contrast of each piece of visible text with the ground below it. axe-core
# measures the same, but takes seconds for a page with much code.
CONTRAST = """() => {
  const numbers = text => {
    const n = (text.match(/[\\d.]+/g) || []).map(Number);
    return n.length < 3 ? [0, 0, 0, 0] : [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
  };
  const over = (a, b) => [0, 1, 2].map(i => a[3] * a[i] + (1 - a[3]) * b[i]).concat(1);
  const grounds = new Map();
  const ground = e => {
    if (!e) return [255, 255, 255, 1];
    if (!grounds.has(e)) {
      const own = numbers(getComputedStyle(e).backgroundColor);
      grounds.set(e, own[3] === 1 ? own : over(own, ground(e.parentElement)));
    }
    return grounds.get(e);
  };
  const luminance = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(
      v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const said = new Map(), code = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, text = walker.currentNode.textContent;
    const frame = e.tagName === 'SPAN' && e.closest('pre');
    if (frame) {  // a page has thousands of words of code, in a dozen colours
      const kind = [e, e.parentElement, frame.parentElement].map(p => p.className);
      const word = kind.join('|') + getComputedStyle(frame).backgroundColor;
      if (code.has(word)) continue;
      code.add(word);
    }
    if (!/[\\p{L}\\p{N}]/u.test(text) || e.closest('svg, script, style, mjx-container'))
      continue;
    if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (box.width < 2 || box.height < 2 || style.clip === 'rect(0px, 0px, 0px, 0px)')
      continue;
    const back = ground(e), front = over(numbers(style.color), back);
    const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      const key = style.color + ' on ' + back.slice(0, 3).map(Math.round);
      if (!said.has(key)) said.set(key, 'contrast ' + ratio.toFixed(2) + ', ' + key +
        ': ' + text.trim().slice(0, 40) + ' in ' + e.tagName + '.' + e.className);
    }
  }
  return [...said.values()];
}"""


def poor_contrast(visit, theme):
    """Text that is hard to read in the light or dark theme.

    Formulas take the colour of the text around them; pictures are not looked at.
    """
    choose_theme(visit, theme)
    for complaint in visit.tab.evaluate(CONTRAST):
        yield f"{theme}: {complaint}"
