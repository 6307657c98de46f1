"""One table of algorithms: name, class, family, how to tune and how to draw it.

Whoever needs a list of policies (the tables, the studies, the pictures, the benchmark)
takes it from here.
"""

from dataclasses import dataclass

from wsbnb._types import Any, TuningRule
from wsbnb.policies import named
from wsbnb.policies.oracle import Oracle


@dataclass(frozen=True)
class Algorithm:
    """One row of the table.

    Attributes
    ----------
    name : str
        As in the paper.
    cls : type
        The policy.
    estimator : {"WSB", "D", ""}
        Whether it is one of the paper's on the weighted posterior, one of its rivals
        on weighted least squares, or a baseline.
    explores : {"ucb", "randucb", "ts", ""}
        How it explores: the family in which it is compared.
    tuning : {"ucb", "thompson"}
        The rule of :func:`wsbnb.tuned_discount` that the paper uses for it.
    colour, line, marker
        How it is drawn.
    """

    name: str
    cls: type
    estimator: str
    explores: str
    tuning: TuningRule
    colour: str
    line: Any
    marker: str

    @property
    def in_paper(self) -> bool:
        """Whether it is one of the seven of the paper's Table 2."""
        return bool(self.estimator)


# The colour says how it explores (warm: UCB, blue: randomised UCB, green: Thompson
# sampling), a solid line that it uses the WSB posterior. Contrast against white is at
# least 3 to 1, and any two differ in line style or stay apart for readers with
# red-green blindness.
_ROWS = (
    ("D-LinUCB", named.DLinUCB, "D", "ucb", "#bd8100", "--", "o"),
    ("LB-WeightUCB", named.LBWeightUCB, "D", "ucb", "#c558b4", "-.", "s"),
    ("WSB-LinUCB", named.WSBLinUCB, "WSB", "ucb", "#b8320a", "-", "D"),
    ("D-RandLinUCB", named.DRandLinUCB, "D", "randucb", "#3f8fd0", "--", "^"),
    ("WSB-RandLinUCB", named.WSBRandLinUCB, "WSB", "randucb", "#0b4f9e", "-", "v"),
    ("D-LinTS", named.DLinTS, "D", "ts", "#2f9d74", "--", "<"),
    ("WSB-LinTS", named.WSBLinTS, "WSB", "ts", "#00664a", "-", ">"),
    ("LinUCB", named.LinUCB, "", "ucb", "#5b5b5b", "-.", "P"),
    (
        "SW-LinUCB",
        named.SWLinUCB,
        "",
        "ucb",
        "#8a5a2b",
        (0, (5, 1, 1, 1, 1, 1)),
        "h",
    ),
    ("Restart-LinUCB", named.RestartLinUCB, "", "ucb", "#77771f", (0, (8, 3)), "p"),
    ("LinTS", named.LinTS, "", "ts", "#7a2f55", ":", "X"),
    ("Greedy", named.Greedy, "", "", "#b3546f", (0, (3, 1, 1, 1)), "2"),
    ("Uniform", named.Uniform, "", "", "#8c8c8c", ":", "1"),
    ("Oracle", Oracle, "", "", "#000000", (0, (1, 2)), "*"),
)

#: Every named policy by its name, the paper's seven first and in the paper's order.
TABLE = {
    name: Algorithm(
        name,
        cls,
        estimator,
        explores,
        "thompson" if explores == "ts" else "ucb",
        *look,
    )
    for name, cls, estimator, explores, *look in _ROWS
}
#: How the policies without a known variation are drawn, by the names of the benchmark
#: and of the chapters: colour, line and marker.
ADAPTIVE_STYLES = {
    name: look
    for names, *look in (
        (("Change points", "bank"), "#a8329a", "-", "o"),
        (("Change points, RandLinUCB",), "#a8329a", ":", "v"),
        (("starts alone",), "#d2420a", "--", "^"),
        (("Discount mixture", "mixture"), "#5a4fcf", "-.", "s"),
        (("Surprise restart", "surprise"), "#9c5b00", "--", "x"),
        (("Surprise restart, RandLinUCB",), "#9c5b00", ":", "v"),
        (("Bandit over discounts", "bandit"), "#00797a", (0, (5, 1)), "D"),
        (("bandit, warm",), "#2f7fd0", ":", "^"),
        (("Random-walk LinTS", "random walk"), "#5f8a1f", (0, (3, 1, 1, 1)), "*"),
        (("MASTER",), "#444444", (0, (1, 1)), "P"),
    )
    for name in names
}
#: The paper's seven algorithms, in the order of its Table 2.
ALGORITHMS = tuple(name for name, row in TABLE.items() if row.in_paper)
BASELINES = tuple(name for name, row in TABLE.items() if not row.in_paper)
