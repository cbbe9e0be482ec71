# SPDX-License-Identifier: MIT
# netslice: tables of a trace -> a folder of Parquet files, as `nsdump export --format parquet`.
import argparse
import math
import signal
import sys
import time

import pyarrow

from .folder import FolderError, OutputFolder
from .library import LibraryMissing
from .parquet_files import TableFiles
from .trace import TraceError, TracePass

EXIT_OK, EXIT_FINDINGS, EXIT_USAGE, EXIT_UNREADABLE, EXIT_OUTPUT = range(5)
EXIT_INTERRUPTED = 130
UNITS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
COMPRESSIONS = ("none", "lz4", "snappy", "zstd")


class Interrupted(Exception):
    """Ctrl-C; the folder is removed."""


def partition(text):
    """cpu,time=1s -> whether by CPU, and the width of a time window in ns or None."""
    by_cpu, window_ns = False, None
    for part in text.split(","):
        name, _, width = part.partition("=")
        if part == "cpu":
            by_cpu = True
        elif name == "time":
            window_ns = nanoseconds(width)
        else:
            raise argparse.ArgumentTypeError(f'"{part}" is neither cpu nor time=DURATION')
    return by_cpu, window_ns


def nanoseconds(text):
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        ns = float(number) * UNITS_NS[text[len(number) :]]
    except (KeyError, ValueError):
        ns = math.nan
    if not 1 <= ns < 2**62:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a duration, which is a number and one of {", ".join(UNITS_NS)}: 1s'
        )
    return round(ns)


def arguments(words):
    parser = argparse.ArgumentParser(
        prog="python3 -m netslice.parquet", description="A trace -> a folder of Parquet files."
    )
    parser.add_argument("trace")
    parser.add_argument("folder", help="to make; must not exist, or be empty")
    parser.add_argument("--events", action="store_true", help="events instead of slices and units")
    parser.add_argument("--calibration", help="calibration.json of nscalibrate")
    parser.add_argument("--slice", help="only slices, or events, with this name")
    parser.add_argument("--unit", type=int, help="only the unit with this number")
    parser.add_argument("--count", type=int, help="maximum number of slices, or of events")
    for option, when in (("from", "later"), ("to", "earlier")):
        parser.add_argument(
            f"--{option}",
            dest=f"{option}_ns",
            type=int,
            metavar="NS",
            help=f"only what ends at this time since the start or {when}",
        )
    parser.add_argument(
        "--partition",
        type=partition,
        default=(False, None),
        metavar="cpu,time=1s",
        help="folders by CPU and by time, for Spark, ClickHouse and DuckDB",
    )
    parser.add_argument("--compression", choices=COMPRESSIONS, default="none")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    return parser.parse_args(words)


def tell(text):
    print(f"nsdump: {text}", file=sys.stderr)


_was_interrupted = False


def _interrupt(_number, _frame):
    global _was_interrupted
    _was_interrupted = True


def catch_signals():
    """Only a flag: an exception could come anywhere, also where the folder is removed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, _interrupt)


class Progress:
    """A line on a terminal."""

    def __init__(self, is_quiet):
        self.is_shown = not is_quiet and sys.stderr.isatty()
        self.next_s = time.monotonic() + 1

    def show(self, done):
        if self.is_shown and time.monotonic() >= self.next_s:
            self.next_s = time.monotonic() + 0.2
            print(f"\r{done:4.0%} read", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def write(asked, one):
    """Writes the tables of a pass to the folder."""
    by_cpu, window_ns = asked.partition
    progress = Progress(asked.quiet)
    with OutputFolder(asked.folder) as folder:
        files = {
            table: TableFiles(folder.work, table, schema, asked.compression, by_cpu, window_ns)
            for table, schema in one.schemas.items()
        }
        try:
            for got in one:
                if _was_interrupted:
                    raise Interrupted
                if got:
                    files[got[0]].write(got[1])
                progress.show(one.done())
        finally:
            progress.end()
        for of in files.values():
            of.close()
        folder.finish()


def export(asked):
    one = TracePass(
        asked.trace,
        ("events", "losses") if asked.events else ("slices", "units", "losses"),
        **{"calibration": asked.calibration, "slice": asked.slice},
        **{"unit": asked.unit, "limit": asked.count},
        **{"from_ns": asked.from_ns, "to_ns": asked.to_ns},
    )
    write(asked, one)
    for line in one.findings():
        tell(f"{asked.trace}: {line}")
    return EXIT_FINDINGS if one.has_findings() else EXIT_OK


def main(words=None):
    asked = arguments(words)
    catch_signals()
    try:
        return export(asked)
    except Interrupted:
        tell("interrupted; nothing was written")
        return EXIT_INTERRUPTED
    except (FolderError, LibraryMissing) as error:
        tell(error)
        return EXIT_OUTPUT
    except MemoryError:
        tell("out of memory (select less with --slice, --unit or -c, or omit --partition)")
        return EXIT_OUTPUT
    except pyarrow.ArrowException as error:
        tell(
            f"{asked.folder}: cannot write: {error} (see the version of pyarrow: pip show pyarrow)"
        )
        return EXIT_OUTPUT
    except (TraceError, ValueError) as error:
        tell(error)
        return EXIT_UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
