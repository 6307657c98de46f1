"""The command line: `wsbnb reproduce ...`, `wsbnb benchmark`, `wsbnb bench`."""

import argparse
import contextlib
import errno
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import wsbnb
from wsbnb import paper
from wsbnb._files import replace_file, sweep
from wsbnb.paper.tables import DIMS, PROTOCOLS, SCENARIOS

_SLOW = (
    "Under the calibrated protocol the scenario 'slow' is played with a parameter that "
    "stands still: that is what reproduces the printed numbers. With --protocol "
    "printed it moves."
)
_WHAT = ("table2", "table3", "figures", "all")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : list of str, optional
        Words after ``wsbnb``. Default: those of the process.

    Returns
    -------
    int
        0 if all went well, 130 if interrupted (what was finished is stored).
    """
    try:
        with _printing():
            options = _parser().parse_args(argv)
            options.do(options)
    except KeyboardInterrupt:
        print("interrupted; the same command continues from here", file=sys.stderr)
        return 130
    except ValueError as error:
        print(f"wsbnb: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        cut = error.errno == errno.EPIPE and not error.filename
        if not cut:  # `wsbnb ... | head` has what it wants
            print(f"wsbnb: {_advice(error)}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _printing():
    """Print what the terminal has no letters for, too; say here what cannot be."""
    out = sys.stdout
    if hasattr(out, "reconfigure"):
        out.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        _flush(out)


def _flush(out):
    if out is None:  # a process may have none
        return
    try:
        out.flush()
    except OSError:  # Python would try again when it ends, and complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        raise


def _advice(error):
    """What to do about a file that cannot be written, in one line."""
    where = f" {error.filename}" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return (
            f"cannot write{where}: the disk is full; free some space and run the same "
            "command"
        )
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"--out and --cache need a folder, but there is a file:{where}"
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return (
            f"cannot write{where} ({error.strerror}); give --out and --cache folders "
            "that you may write to"
        )
    return str(error)


def _parser():
    parser = argparse.ArgumentParser(
        prog="wsbnb",
        description="Recompute the tables and figures of the paper, and compare "
        "policies beyond it.",
    )
    parser.add_argument("--version", action="version", version=wsbnb.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    bench = commands.add_parser(
        "bench", help="what a round, a first call and an import cost here"
    )
    bench.add_argument("--json", action="store_true", help="print JSON")
    bench.add_argument("--quick", action="store_true", help="fewer repeats and sizes")
    bench.set_defaults(do=_bench)
    _add_benchmark(commands)
    reproduce = commands.add_parser(
        "reproduce",
        help="the paper's tables and regret curves",
        description="Run the cells that are not stored yet, print them beside the "
        "paper's, and write them to a file. A killed run continues where it stopped.",
        epilog=_SLOW + " Chapters 15 and 17 of the book say how this was found.",
    )
    reproduce.set_defaults(do=_reproduce)
    add = reproduce.add_argument
    add("what", choices=_WHAT)
    add("--trials", type=_count, default=100, metavar="N", help="default 100")
    add("--seed", type=_seed, default=0, metavar="N", help="default 0")
    add(
        "--out",
        type=Path,
        help="CSV file for a table (default table2.csv, table3.csv); folder for "
        "figures and all (default figures, reproduced)",
    )
    add("--scenario", choices=SCENARIOS, help="only this one (default both)")
    add("--dims", type=_dim, nargs="+", metavar="D", help="default 2 4 6 16 32")
    add(
        "--protocol",
        choices=tuple(PROTOCOLS),
        default="calibrated",
        help="what reproduces the numbers (default), or what the text says",
    )
    add("--horizon", type=_horizon, default=4000, metavar="T", help="default 4000")
    add("--force", action="store_true", help="compute again what is stored")
    add("--n-jobs", type=int, default=-1, metavar="N", help="default: every core")
    add(
        "--cache",
        type=Path,
        metavar="DIR",
        help=f"folder of stored results (default {_usual_cache()})",
    )
    add("--format", choices=("png", "svg"), default="png", help="of the figures")
    add("--report", type=Path, metavar="CSV", help="also write the comparison")
    add("--quiet", action="store_true", help="no progress bar")
    return parser


def _usual_cache():
    try:
        return str(paper.cache_folder()).replace("%", "%%")
    except FileNotFoundError:
        return "none, since there is no home folder"


def _add_benchmark(commands):
    command = commands.add_parser(
        "benchmark",
        help="policies x worlds, tuned against tuned",
        description="Tune policies on training trials of many worlds and score them on "
        "others. A killed run continues where it stopped.",
    )
    command.set_defaults(do=_benchmark)
    add = command.add_argument
    add("--quick", action="store_true", help="few trials: two minutes in place of ten")
    add(
        "--worlds",
        nargs="+",
        metavar="NAME",
        choices=tuple(paper.WORLDS),
        help="only these (--list shows them)",
    )
    add(
        "--policies",
        nargs="+",
        metavar="NAME",
        choices=tuple(paper.CONTENDERS),
        help="only these (--list shows them)",
    )
    add("--list", action="store_true", help="show worlds and policies, play nothing")
    add("--out", type=Path, metavar="DIR", help="write both tables there (CSV)")
    add(
        "--add-to",
        type=Path,
        metavar="DIR",
        help="put the rows of --policies into the tables of this folder",
    )
    add(
        "--guide",
        action="store_true",
        help="also write what wsbnb.recommend reads (wsbnb/_guide.py)",
    )
    add("--n-jobs", type=int, default=-1, metavar="N", help="default: every core")
    add("--cache", type=Path, metavar="DIR", help="folder of stored results")
    add("--quiet", action="store_true", help="no progress bar")


def _benchmark(options):
    if options.n_jobs == 0:
        raise SystemExit("--n-jobs must not be 0")
    if options.list:
        print(paper.benchmark_list())
        return
    found = paper.run_benchmark(
        options.worlds,
        options.policies,
        quick=options.quick,
        cache=options.cache,
        n_jobs=options.n_jobs,
        progress=not options.quiet,
    )
    if options.add_to is not None:
        try:
            found = paper.read_benchmark(options.add_to).with_rows_of(found)
        except ValueError as error:
            raise SystemExit(f"--add-to: {error}") from None
    print(f"\n{paper.benchmark_report(found)}\n")
    for folder in (options.out, options.add_to):
        if folder is not None:
            for path in found.write(folder):
                print(f"written to {path}")
    if options.guide:
        print(f"written to {paper.write_guide(found)}")


def _bench(options):
    from wsbnb.paper import bench

    bench.report(options.quick, options.json)


def _reproduce(options):
    if options.n_jobs == 0:
        raise SystemExit("--n-jobs must not be 0")
    common = {
        "dims": tuple(dict.fromkeys(options.dims or DIMS)),
        "scenarios": (options.scenario,) if options.scenario else SCENARIOS,
        "trials": options.trials,
        "seed": options.seed,
        "protocol": options.protocol,
        "horizon": options.horizon,
    }
    how = {
        "cache": options.cache,
        "force": options.force,
        "n_jobs": options.n_jobs,
        "progress": not options.quiet,
    }
    whole = options.what == "all"
    if options.report and options.what not in ("table2", "table3"):
        raise SystemExit("--report goes with table2 or table3; all writes both")
    folder = (options.out or Path("reproduced")) if whole else Path()
    if options.what in ("table2", "table3"):
        target = options.out or Path(f"{options.what}.csv")
        if options.report and options.report.absolute() == target.absolute():
            raise SystemExit("--report must not be the file of the table")
        _table(options.what, target, options.report, common, how)
    if whole:
        for name in ("table2", "table3"):
            report = folder / f"{name}_comparison.csv"
            _table(name, folder / f"{name}.csv", report, common, how)
    if options.what in ("figures", "all"):
        target = folder / "figures" if whole else options.out or Path("figures")
        # What --force asked for has been computed with the tables.
        how["force"] = how["force"] and not whole
        _figures(target, options.format, common, how)


def _table(name, target, report, common, how):
    table = paper.run_table(getattr(paper, name)(**common), **how)
    _write(target, table.to_csv(index=False).encode())
    print(f"\n{paper.text_table(table)}\n\nwritten to {target}\n")
    if common["protocol"] == "calibrated" and "slow" in common["scenarios"]:
        print(textwrap.fill(_SLOW, 79) + "\n")
    if common["horizon"] != 4000:
        print("The paper's values are for 4000 rounds: no comparison.")
        return
    comparison = paper.compare(table)
    print(paper.text_report(comparison))
    if common["trials"] < 30:
        print("With so few trials z is not normal: it says little.")
    if report is not None:
        _write(report, comparison.to_csv(index=False).encode())


def _figures(folder, kind, common, how):
    import io

    from wsbnb.paper import figures

    for (scenario, dim), figure in figures.regret_figures(**common, **how).items():
        picture = io.BytesIO()
        figure.savefig(picture, format=kind, dpi=150)
        path = folder / f"regret_{scenario}_d{dim}.{kind}"
        _write(path, picture.getvalue())
        print(f"written to {path}")


def _write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(replace_file(path, data).parent)  # what a killed run has left


def _at_least(minimum):
    def number(text):
        value = int(text)
        if value < minimum:
            raise argparse.ArgumentTypeError(f"{value} is less than {minimum}")
        return value

    number.__name__ = "whole number"
    return number


_count, _seed, _dim, _horizon = map(_at_least, (1, 0, 2, 4))
