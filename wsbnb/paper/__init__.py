"""The laboratory: the paper's experiments as data, run, stored, compared, questioned.

The library itself imports nothing from here.
"""

from wsbnb.paper.algorithms import ALGORITHMS, BASELINES, TABLE, Algorithm
from wsbnb.paper.benchmark import benchmark_list, run_benchmark
from wsbnb.paper.benchmark_policies import CONTENDERS, Contender
from wsbnb.paper.benchmark_tables import (
    Benchmark,
    benchmark_report,
    read_benchmark,
    recorded_benchmark,
)
from wsbnb.paper.benchmark_worlds import WORLDS, BenchmarkWorld, Known
from wsbnb.paper.cache import Cache, cache_folder, source_checksum
from wsbnb.paper.calibration import READINGS, calibration_study
from wsbnb.paper.guide import guide_rows, write_guide
from wsbnb.paper.recorded import long_run, record, recorded
from wsbnb.paper.report import (
    agreement,
    bootstrap_std_ratio,
    compare,
    run_papercells,
    run_table,
    summarise,
    text_report,
    text_table,
)
from wsbnb.paper.robustness import (
    fit_exponents,
    study_arms,
    study_baselines,
    study_discount,
    study_horizon,
    study_noise_law,
    study_noise_level,
)
from wsbnb.paper.running import run_cells
from wsbnb.paper.settings import Cell, Player, Setting, changed
from wsbnb.paper.studies import (
    CLAIMS,
    honest_claims,
    honest_slow,
    study,
    study_matched_scale,
    study_ucb_variants,
)
from wsbnb.paper.tables import (
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

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "BASELINES",
    "Benchmark",
    "BenchmarkWorld",
    "CALIBRATED",
    "CLAIMS",
    "CONTENDERS",
    "Cache",
    "Cell",
    "Contender",
    "DIMS",
    "Known",
    "PRINTED",
    "PRIOR_NORMS",
    "PROTOCOLS",
    "PaperCell",
    "Player",
    "Protocol",
    "READINGS",
    "SCENARIOS",
    "Setting",
    "TABLE",
    "WORLDS",
    "agreement",
    "benchmark_list",
    "benchmark_report",
    "bootstrap_std_ratio",
    "cache_folder",
    "calibration_study",
    "changed",
    "compare",
    "fit_exponents",
    "guide_rows",
    "honest_claims",
    "honest_slow",
    "long_run",
    "printed_table",
    "read_benchmark",
    "record",
    "recorded",
    "recorded_benchmark",
    "run_benchmark",
    "run_cells",
    "run_papercells",
    "run_table",
    "source_checksum",
    "study",
    "study_arms",
    "study_baselines",
    "study_discount",
    "study_horizon",
    "study_matched_scale",
    "study_noise_law",
    "study_noise_level",
    "study_ucb_variants",
    "summarise",
    "table2",
    "table3",
    "text_report",
    "text_table",
    "write_guide",
]
