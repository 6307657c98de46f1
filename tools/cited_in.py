"""A Sphinx extension: the bibliography says where each work is cited."""

from docutils import nodes


def pages_by_key(env):
    """For every work, the pages that cite it, in the order of the book."""
    order = {name: place for place, name in enumerate(reading_order(env))}
    found = {}
    for reference in env.domains["cite"].citation_refs:
        for target in reference.targets:
            found.setdefault(target.key, set()).add(reference.docname)
    last = len(order)
    return {
        key: sorted(names, key=lambda name: (order.get(name, last), name))
        for key, names in found.items()
    }


def reading_order(env, page=None):
    page = page or env.config.root_doc
    yield page
    for child in env.toctree_includes.get(page, []):
        yield from reading_order(env, child)


def short_name(env, page):
    """The number of a chapter, or the title of a page without one."""
    number = env.toc_secnumbers.get(page, {}).get("")
    return ".".join(map(str, number)) if number else env.titles[page].astext()


def add_places(app, doctree, docname):
    domain = app.env.domains["cite"]
    keys = {
        citation.citation_id: citation.key
        for citation in domain.citations
        if citation.bibliography_key.docname == docname
    }
    citing = pages_by_key(app.env) if keys else {}
    for entry in list(doctree.findall(nodes.citation)):
        key = next((keys[name] for name in entry["ids"] if name in keys), None)
        pages = [page for page in citing.get(key, []) if page != docname]
        if pages:
            entry += said_in(app, docname, pages)


def said_in(app, docname, pages):
    line = nodes.paragraph("", "Cited in ", classes=["cited-in"])
    for place, page in enumerate(pages):
        line += nodes.Text(", " if place else "")
        link = nodes.reference("", short_name(app.env, page), internal=True)
        link["refuri"] = app.builder.get_relative_uri(docname, page)
        link["reftitle"] = app.env.titles[page].astext()
        line += link
    return line


def setup(app):
    app.connect("doctree-resolved", add_places, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
