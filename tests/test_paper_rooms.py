"""The picture of the library on the page about how it is built."""

import matplotlib.pyplot as plt

from tests.test_architecture import PACKAGE, imports_of
from wsbnb.paper import rooms

BUILD = """
import numpy as np
policy = wsbnb.WSBLinTS(
    prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.9, rng=0
)
X = np.eye(2)
"""


def test_arrows_are_the_imports():
    """Against the list of imports that the test of the architecture makes."""
    expected = {room: set() for room in rooms.PLACES}
    for module, names in imports_of(PACKAGE).items():
        room = module.partition(".")[0]
        if room in expected:
            expected[room] |= {n.partition(".")[0] for n in names} & set(expected)
    for room in expected:
        expected[room] -= {room}
    assert rooms.imports() == expected


def test_arrows_go_left():
    for room, others in rooms.imports().items():
        for other in others:
            assert rooms.PLACES[other][0] < rooms.PLACES[room][0]


def test_arrows_that_follow_from_others_are_left_out():
    graph = {"c": {"a", "b"}, "b": {"a"}, "a": set()}
    assert rooms._direct(graph) == {"c": {"b"}, "b": {"a"}, "a": set()}


def test_walk_counts_calls_only():
    assert rooms.walk("1 + 1", before=BUILD) == []
    pulled = rooms.walk("policy.pull(X)", before=BUILD)
    assert pulled[0] == "policies/base.py"
    assert {"posterior.py", "kernels/rounds.py", "kernels/explore.py"} <= set(pulled)
    assert "kernels/bank.py" not in pulled


def test_rooms_on_the_way_are_numbered():
    fig, ax = plt.subplots()
    rooms.draw_rooms(ax, ["policies/base.py", "_validate.py", "posterior.py"])
    texts = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert texts["1"] == rooms.PLACES["policies"][0]
    assert texts["2"] == rooms.PLACES["posterior"][0]
    assert "3" not in texts and set(rooms.PLACES) <= set(texts)
    plt.close(fig)
