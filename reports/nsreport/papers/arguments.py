# SPDX-License-Identifier: MIT
# Command line of `nsreport papers` -> checked options.
import argparse

from ..arguments import Parser, folder_name
from .parts import LONG, NAMES, PARTS, SHORT, seconds

EPILOG = """Parts, with the time of the short and the long form:
{parts}

Examples:
  nsreport papers -o papers                 the short form, as root
  nsreport papers -o papers --long          every measurement in full, some hours
  nsreport papers -o papers --only sids,qos measure these parts, and keep the others
  nsreport papers -o papers --again load    measure a part again that is complete
  nsreport papers -o again --from papers    the page from earlier results

Parts that are complete in DIR, from this machine and version, are not measured
again. A part that fails has its reason on the page, and the others go on; after
Ctrl-C the page has what was complete.

Exit codes:
  0 every part has results                  6 the output folder cannot be written
  1 the page was written, but a part failed or is missing
  2 invalid usage                           7 a bug in nsreport
  128 + signal: interrupted; the page has what was complete"""


def _parts():
    words = "\n".join(
        f"  {part.name:10} {seconds(part, SHORT) / 60:4.1f} min "
        f"{seconds(part, LONG) / 60:5.0f} min  {part.words}"
        for part in PARTS
    )
    total = [sum(seconds(part, form) for part in PARTS) / 60 for form in (SHORT, LONG)]
    return f"{words}\n  {'all':10} {total[0]:4.1f} min {total[1]:5.0f} min"


def parse(arguments, version):
    parser = Parser(
        prog="nsreport papers",
        usage="nsreport papers [OPTIONS] -o DIR",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Make every table and figure of the documents that the toolkit follows again, "
        "beside the published values, on one page; requires root.",
        epilog=EPILOG.format(parts=_parts()),
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=folder_name, help="folder of the page and its parts"
    )
    parser.add_argument(
        "--long", action="store_true", help="the long form, with the documents' numbers of runs"
    )
    parser.add_argument(
        "--only", metavar="NAMES", type=_names, default=(), help="comma-separated parts to measure"
    )
    parser.add_argument(
        "--again",
        metavar="NAMES",
        type=_names,
        default=(),
        help="parts to measure although they are complete; all: every part",
    )
    parser.add_argument(
        "--from",
        dest="results",
        metavar="FOLDER",
        type=folder_name,
        help="measure nothing; FOLDER is an earlier output, or has reports of nsreport --load "
        "and others in folders with these names (load, sids, ...)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    parser.add_argument("--version", action="version", version=f"nsreport {version}")
    options = parser.parse_args(arguments)
    if options.output is None:
        parser.error("--output is required")
    if options.results and (options.long or options.only or options.again):
        parser.error("--long, --only and --again cannot be combined with --from")
    options.form = LONG if options.long else SHORT
    return options


def _names(text):
    names = tuple(NAMES) if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f'"{name}" is not a part ({", ".join(NAMES)})')
    return names
