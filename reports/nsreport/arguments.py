# SPDX-License-Identifier: MIT
# Command line -> checked options.
import argparse
import re
import sys

from . import errors
from .budget import line
from .messages import tell

# rounds, seconds of each measurement
SYSTEM, LOAD, PLACEMENT, KTIME = "--system", "--load", "--placement", "--ktime"
SIDS, QOS, BUDGET, PAPERS = "--sids", "--qos", "--budget", "--papers"
KINDS = (SYSTEM, LOAD, PLACEMENT, KTIME, SIDS, QOS, BUDGET)
DEFAULTS = {SYSTEM: (6, 1), LOAD: (3, 0.5), PLACEMENT: (3, 0.3), KTIME: (4, None)}
DEFAULTS |= {SIDS: (3, 1), QOS: (1, 20), BUDGET: (None, None)}
QUICK = {SIDS: (1, 1), QOS: (1, 2.5), LOAD: (1, 0.2), PLACEMENT: (1, 0.1), SYSTEM: (1, 1)}
QUICK |= {KTIME: (2, None)}
QUICK_RUNS = 25
RUNS = 1000
RATE, BYTES = 100e9, 64
ANY_KIND = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
IN_ROUNDS = f"{', '.join(KINDS[:-2])} or {KINDS[-2]}"  # all but --budget

QUICK_KIND = " or ".join(QUICK)

EPILOG = """Examples:
  nsreport trace.nsl -o report             a page with pictures from a trace
  nsreport trace.nsl -o report --unit 4711 show unit 4711 in the timeline
  nsreport raw.nsl -o report --calibration calibration.json
                                           a trace without calibration
  mapi-cost -r big.pcap -w cost.json
  nsreport cost.json -o cost-report        costs compared with 2004 and with line rates
  nsdump stats trace.nsl --json | nsreport - -o report
  nsreport --system -o system              cost of the kernel module: TCP over loopback
                                           without it, with it idle, and recording
  nsreport --load -o load                  loss and time of capturing, against 2004
  nsreport --placement -o placement        functions in the kernel, in user space, and
                                           libpcap side by side
  nsreport --ktime -o ktime                why bpf_ktime_get_ns() and the kernel's run
                                           statistics disagree, term by term
  nsreport --sids -o sids                  load and loss of sids by its number of rules,
                                           as in 2004
  nsreport --qos -o qos                    delay and loss by mapi-qos, against those that
                                           a node makes, as in 2004
  nsreport papers -o papers                all of these beside what was published, on one
                                           page (nsreport papers --help)
  nsreport --budget cost.json -o budget --rate 100G --bytes 64
                                           time and cycles of a packet at a line rate, and
                                           what functions and cache misses take of them
  nsreport --load --from load/data/results.json -o again
                                           the page again, without measuring

Exit codes:
  0 the report is complete; lost records that were counted are a warning
  1 a report was written, but its input is incomplete: interrupted, no records,
    no footer, damaged, or records missing without a cause
  2 invalid usage                 5 a program or root's rights are missing
  3 the input cannot be read      6 the output folder cannot be written
  4 unsupported JSON schema       7 a bug in nsreport
  128 + signal: interrupted; no partial report is left

Environment: NSDUMP, GNUPLOT, MAPI_GEN, MAPI_READER, MAPI_IMPAIR, MAPI_QOS,
SIDS, NSCALIBRATE and KTIME_RUNNER name the programs to run. Without them, all but
gnuplot are searched for next to nsreport, then in PATH, and gnuplot in PATH."""


class Parser(argparse.ArgumentParser):
    """Reports errors as the other programs do."""

    def error(self, message):
        words = reworded(message)
        remedy = "" if words.endswith(")") else " (see nsreport --help)"
        tell(errors.shown(f"nsreport: {words}{remedy}"))
        sys.exit(errors.EXIT_USAGE)


def reworded(message):
    """argparse's messages in the words of the other programs."""
    for pattern, words in (
        (r"unrecognized arguments: (-\S+).*", r'unknown option "\1"'),
        (r"unrecognized arguments: (\S*).*", r'unexpected argument "\1"'),
        (r"argument (?:-\w/)?(\S+): expected one argument", r"\1 requires a value"),
        (r"argument (?:-\w/)?(\S+): ignored explicit argument .*", r"\1 takes no value"),
        (r"argument (?:-\w/)?(\S+): ", r"\1: "),
    ):
        reworded, count = re.subn(rf"\A{pattern}", words, message, flags=re.DOTALL)
        if count:
            return reworded
    return message


def parse_arguments(arguments, version):
    parser = Parser(
        prog="nsreport",
        usage="nsreport [OPTIONS] -o DIR TRACE|JSON\n"
        f"       nsreport [OPTIONS] -o DIR {'|'.join(KINDS)}\n"
        "       nsreport [OPTIONS] -o DIR --budget [TRACE|JSON]\n"
        "       nsreport papers [OPTIONS] -o DIR",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EPILOG,
        description="Create a folder with index.html and PNG and SVG pictures from a trace, stats "
        "JSON or mapi-cost JSON.",
    )
    parser.add_argument(
        "input",
        metavar="TRACE|JSON",
        nargs="?",
        type=_file_name,
        help="trace (.nsl), stats JSON or mapi-cost JSON; - reads JSON from standard input",
    )
    parser.add_argument(
        "-r",
        "--read",
        dest="read",
        metavar="FILE",
        type=_file_name,
        help="the same as the argument",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=folder_name,
        help="folder to create; an existing report is replaced as a whole, any other existing "
        "folder is refused",
    )
    parser.add_argument(
        "--calibration",
        metavar="FILE",
        type=_file_name,
        help="calibration file from nscalibrate, used instead of the trace's own constants",
    )
    parser.add_argument(
        "--unit",
        metavar="N",
        type=_unit_number,
        help="unit to show in the timeline (default: the one with the median cost)",
    )
    system = parser.add_argument_group("system cost")
    system.add_argument(
        "--system",
        action="store_true",
        help="measure this machine instead of reading an input; requires sockperf or iperf3; as "
        "root it loads and unloads the kernel module nsmod",
    )
    traffic = parser.add_argument_group("captured traffic")
    traffic.add_argument(
        "--load",
        action="store_true",
        help="measure loss against rate, and the time of a packet by function, on a veth pair "
        "of its own; requires root, mapi-gen, iproute2 and ethtool",
    )
    traffic.add_argument(
        "--placement",
        action="store_true",
        help="the same for functions in the kernel, MAPI in user space and libpcap, by rate, and "
        "by number of filters and strings",
    )
    traffic.add_argument(
        "--ktime",
        action="store_true",
        help="measure the time of an XDP program by bpf_ktime_get_ns() and by the kernel's run "
        "statistics, and what makes up the difference; requires root, iproute2, ethtool and a "
        "build with libbpf, clang and bpftool",
    )
    traffic.add_argument(
        "--sids",
        action="store_true",
        help="measure load and loss of sids with 1 to 1,000 rules; requires root, mapi-gen, sids, "
        "iproute2 and ethtool",
    )
    traffic.add_argument(
        "--qos",
        action="store_true",
        help="measure delay and loss of traffic through a node that makes them, by mapi-qos; "
        "requires root, mapi-gen, mapi-impair, mapi-qos, iproute2 and ethtool",
    )
    traffic.add_argument(
        "--papers",
        action="store_true",
        help="the same as the command papers, which has options of its own: nsreport papers --help",
    )
    traffic.add_argument(
        "--runs",
        metavar="N",
        type=_runs,
        help=f"runs of each program in each of the rounds of --ktime (default {RUNS}; 50 take "
        "about 3 minutes)",
    )
    budget = parser.add_argument_group("budget of a packet")
    budget.add_argument(
        "--budget",
        action="store_true",
        help="show the time and cycles that a packet may take at a line rate, what the functions "
        "of TRACE|JSON take of them, and the cost of a cache miss, which nscalibrate measures",
    )
    budget.add_argument(
        "--rate",
        metavar="RATE",
        type=_rate,
        help="bits a second of the line, such as 100G (default), 2.5G or 100M",
    )
    budget.add_argument(
        "--bytes",
        dest="frame_bytes",
        metavar="N",
        type=_frame_bytes,
        help=f"size of the frames with their checksum (default {BYTES})",
    )
    budget.add_argument(
        "--memory",
        metavar="FILE",
        type=_file_name,
        help="output of `nscalibrate --memory --json`, instead of measuring",
    )
    stored = parser.add_argument_group("all measurements")
    stored.add_argument(
        "--quick",
        action="store_true",
        help="one round of shorter measurements, for a result within about 2 minutes (2 rounds of "
        f"{QUICK_RUNS} runs with {KTIME})",
    )
    stored.add_argument(
        "--from",
        dest="results",
        metavar="FILE",
        type=_file_name,
        help="results of an earlier measurement (data/results.txt of --system, data/results.json "
        "of the others), from which the page is made again; - reads standard input",
    )
    stored.add_argument(
        "--rounds",
        metavar="N",
        type=_positive,
        help="number of rounds; each measures everything (default 6 with --system, 4 with --ktime, "
        "1 with --qos, otherwise 3)",
    )
    stored.add_argument(
        "-d",
        "--duration",
        dest="seconds",
        metavar="SECONDS",
        type=_seconds,
        help="duration of each measurement (default 1 with --system, 0.5 with --load, 0.3 with "
        "--placement, 1 with --sids, 20 with --qos)",
    )
    system.add_argument(
        "--module",
        metavar="FILE",
        type=_file_name,
        help="nsmod.ko whose size is reported (default: the installed one)",
    )
    system.add_argument(
        "--bare",
        metavar="DIR",
        type=folder_name,
        help="build or install prefix made with NETSLICE_DISABLE, for sizes without probes",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    parser.add_argument("--version", action="version", version=f"nsreport {version}")
    options = parser.parse_args(arguments)
    _check(parser, options)
    rounds, seconds = (QUICK if options.quick else DEFAULTS)[options.kind or SYSTEM]
    options.rounds = options.rounds or rounds
    options.seconds = options.seconds or seconds
    options.runs = options.runs or (QUICK_RUNS if options.quick else RUNS)
    if not options.results:  # which has its own
        options.rate = options.rate or RATE
        options.frame_bytes = options.frame_bytes or BYTES
    options.costs = options.input or options.read
    options.input = options.input or options.read or options.results or options.kind
    return options


def _check(parser, options):
    """Reports options that would have no effect."""
    chosen = [name for name in KINDS if getattr(options, name.removeprefix("--"))]
    options.kind = chosen[0] if chosen else None
    of_ktime = {"--runs": options.runs}
    measured_by = {"--rounds": options.rounds, "--duration": options.seconds, **of_ktime}
    of_system = {"--module": options.module, "--bare": options.bare}
    of_input = {"--calibration": options.calibration, "--unit": options.unit}
    of_budget = {"--rate": options.rate, "--bytes": options.frame_bytes, "--memory": options.memory}
    is_budget = options.kind == BUDGET
    has_input = options.input is not None or options.read is not None
    if options.input is not None and options.read is not None:
        parser.error("-r cannot be combined with a second TRACE|JSON")
    if len(chosen) > 1:
        parser.error(f"{chosen[1]} cannot be combined with {chosen[0]}")
    if chosen and has_input and (options.results or not is_budget):
        parser.error(
            f"TRACE|JSON cannot be combined with {'--from' if is_budget else options.kind}"
        )
    if not chosen and not has_input:
        parser.error(f"TRACE|JSON, {ANY_KIND} is required")
    for name in _given(of_input) if chosen else ():
        if not is_budget or name != "--calibration" or not has_input:
            parser.error(f"{name} cannot be combined with {options.kind}")
    for name in _given(of_budget) if not is_budget else ():
        parser.error(f"{name} requires {BUDGET}")
    for name in _given(measured_by) if is_budget else ():
        parser.error(f"{name} cannot be combined with {BUDGET}")
    if options.memory is not None and options.results:
        parser.error("--memory cannot be combined with --from, which has its results")
    for name in _given(of_system) if options.kind != SYSTEM else ():
        parser.error(f"{name} requires {SYSTEM}")
    if options.results and not chosen:
        parser.error(f"--from requires {ANY_KIND}")
    for name in _given(measured_by) if not chosen else ():
        parser.error(f"{name} requires {IN_ROUNDS}")
    for name in _given(of_ktime) if options.kind != KTIME else ():
        parser.error(f"{name} requires {KTIME}")
    if options.quick and (options.kind not in QUICK or options.results):
        parser.error(f"--quick requires {QUICK_KIND}, without --from")
    if options.kind == KTIME and options.seconds:
        parser.error(f"--duration cannot be combined with {KTIME} (use --runs)")
    for name in _given(measured_by) if options.results else ():
        parser.error(f"{name} cannot be combined with --from, which measures nothing")
    if options.kind == SYSTEM and options.seconds and options.seconds != int(options.seconds):
        parser.error(f"--duration: {SYSTEM} requires whole seconds")
    if options.output is None:  # argparse would report this before an unknown option
        parser.error("--output is required")


def _given(options):
    return [name for name, value in options.items() if value is not None]


def _rate(text):
    rate = line.rate_of(text)
    if rate is None:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a rate from 1k to 100T bits a second (examples: 100G, 2.5G, 100M)'
        )
    return rate


def _frame_bytes(text):
    return _number(text, line.LEAST_BYTES, line.MOST_BYTES)


def _positive(text):
    return _number(text, 1, 1000)


def _runs(text):
    return _number(text, 5, 100000)


def _seconds(text):
    """Whole seconds as such, for the tools of --system."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.1 <= number <= 1000:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from 0.1 to 1000')
    return int(number) if number == int(number) else number


def folder_name(text):
    if not text:
        raise argparse.ArgumentTypeError("the folder name is empty (example: -o report)")
    return text


def _file_name(text):
    if not text:
        raise argparse.ArgumentTypeError("the file name is empty (give one or omit the option)")
    return text


def _unit_number(text):
    return _number(text, 0, 2**64 - 1)


def _number(text, least, most):
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from {least} to {most}')
    return number
