"""A Sphinx extension that mends what the theme and its companions get wrong.

- sphinx-thebe, which Jupyter Book always loads, writes its settings twice into each
  page, and the second time is a script error. The book does not use it.
"""


def leave_out_thebe(app):
    """Disconnect every function through which Thebe takes part in the build."""
    for listeners in list(app.events.listeners.values()):
        for listener in list(listeners):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)


def setup(app):
    app.connect("builder-inited", leave_out_thebe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
