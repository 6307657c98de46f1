"""TeX that any front end shows: the book's own macros written out.

Only the book's pages know the macros of `_config.yml`. What is written here is what
MathJax and KaTeX understand by themselves, inside the dollars of a notebook.
"""

import re

CONTROL_WORD = re.compile(r"\\([a-zA-Z]+)")
ENVIRONMENTS = {  # those that may not stand between dollars, and their inner twins
    "align": "aligned",
    "alignat": "alignedat",
    "eqnarray": "aligned",
    "gather": "gathered",
    "multline": "gathered",
    "split": "aligned",
}


def argument(tex, start):
    """The argument of a macro that begins at `start`, and where it ends."""
    while start < len(tex) and tex[start].isspace():
        start += 1
    if start == len(tex):
        raise ValueError(f"a macro lacks its argument at the end of {tex!r}")
    if tex[start] != "{":
        word = CONTROL_WORD.match(tex, start)
        end = word.end() if word else start + 1
        return tex[start:end], end
    depth, position = 0, start
    while position < len(tex):
        if tex[position] == "\\":
            position += 2  # an escaped brace does not count
            continue
        depth += {"{": 1, "}": -1}.get(tex[position], 0)
        position += 1
        if depth == 0:
            return tex[start + 1 : position - 1], position
    raise ValueError(f"a brace stays open in {tex!r}")


def expand(tex, macros):
    """Write out every macro, also inside arguments and definitions."""
    done, position = [], 0
    while word := CONTROL_WORD.search(tex, position):
        done.append(tex[position : word.start()])
        position = word.end()
        definition = macros.get(word[1])
        if definition is None:
            done.append(word[0])
            continue
        body, count = (definition, 0) if isinstance(definition, str) else definition
        arguments = []
        for _ in range(count):
            given, position = argument(tex, position)
            arguments.append(given)
        filled = expand(fill(body, arguments), macros)
        done.append(apart(filled, tex[position : position + 1]))
    return "".join(done) + tex[position:]


def fill(body, arguments):
    return re.sub(r"#(\d)", lambda slot: arguments[int(slot[1]) - 1], body)


def apart(tex, following):
    """A space where a control word would otherwise swallow the next letter."""
    if following.isalpha() and re.search(r"\\[a-zA-Z]+$", tex):
        return tex + " "
    return tex


def tidy(tex):
    """One line without comments; Markdown must not see tags in it."""
    lines = [re.sub(r"(?<!\\)%.*", "", line) for line in tex.strip().splitlines()]
    tex = re.sub(r"\s+", " ", " ".join(lines)).strip()
    tex = re.sub(r"(?<!\\)<\s*", r"\\lt ", tex)
    return re.sub(r"(?<!\\)>\s*", r"\\gt ", tex)


def inline(tex, macros):
    return f"${tidy(expand(tex, macros))}$"


def display(tex, macros, number="", bare=False):
    """A formula on a line of its own, with its number; on one line, so that a quote
    or a list can hold it."""
    tex = tidy(expand(tex, macros))
    for outer, inner in ENVIRONMENTS.items():
        tex = re.sub(
            rf"\\(begin|end)\{{{outer}\*?\}}", rf"\\\1{{{inner}}}", tex
        )  # the number is set by \tag
    tex = re.sub(r"\\(begin|end)\{equation\*?\}", "", tex).strip()
    if r"\\" in tex and r"\begin{" not in tex and not bare:
        tex = rf"\begin{{aligned}} {tex} \end{{aligned}}"
    tag = rf" \tag{{{number}}}" if number else ""
    return f"$$ {tex}{tag} $$"
