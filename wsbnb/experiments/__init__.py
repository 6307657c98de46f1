"""The paper's experiments as data, run, stored, compared and questioned."""

from wsbnb.experiments.cache import Cache, CellResult, cache_folder, source_checksum
from wsbnb.experiments.paper import (
    CALIBRATED,
    DIMS,
    PRINTED,
    PRIOR_NORMS,
    PROTOCOLS,
    SCENARIOS,
    PaperCell,
    Protocol,
    printed_table,
    table2,
    table3,
)
from wsbnb.experiments.report import (
    agreement,
    bootstrap_std_ratio,
    compare,
    run_papercells,
    run_table,
    summarise,
    text_report,
    text_table,
)
from wsbnb.experiments.run import run_cells
from wsbnb.experiments.specs import (
    ALGORITHMS,
    BASELINES,
    Cell,
    Player,
    Setting,
    changed,
)

__all__ = [
    "ALGORITHMS",
    "BASELINES",
    "CALIBRATED",
    "Cache",
    "Cell",
    "CellResult",
    "DIMS",
    "PRINTED",
    "PRIOR_NORMS",
    "PROTOCOLS",
    "PaperCell",
    "Player",
    "Protocol",
    "SCENARIOS",
    "Setting",
    "agreement",
    "bootstrap_std_ratio",
    "cache_folder",
    "changed",
    "compare",
    "printed_table",
    "run_cells",
    "run_papercells",
    "run_table",
    "source_checksum",
    "summarise",
    "table2",
    "table3",
    "text_report",
    "text_table",
]
