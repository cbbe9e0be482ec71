# SPDX-License-Identifier: MIT
# Command line -> report. Decides exit codes; everything else is in the parts.
import argparse
import os
import sys
import traceback

from . import check, cost_page, cost_pictures, errors, folder, gnuplot, page, signals, source, trace_page, trace_pictures
from .picture import Picture

EPILOG = """examples:
  nsreport trace.nsl -o report             a page with pictures from a trace
  nsreport trace.nsl -o report --unit 4711 the timeline shows unit 4711
  nsreport raw.nsl -o report --calibration calibration.json
                                           a trace without calibration
  mapi-cost big.pcap --json cost.json
  nsreport cost.json -o cost-report        the cost table, against 2004 and against line rates
  nsdump export trace.nsl --what stats --format json | nsreport - -o report

exit codes:
  0 the report is complete; records that are lost and counted are a warning
  1 the report is there, but its input is not whole: interrupted, no record,
    no footer, damaged, or records missing without a cause
  2 wrong command line            5 gnuplot or nsdump is missing or failed
  3 the input cannot be read      6 the output folder cannot be written
  4 JSON of another schema        7 a bug in nsreport
  128 + signal: interrupted; no half report is left

environment: NSDUMP and GNUPLOT name those programs; else nsdump is looked for
beside nsreport, then in PATH, and gnuplot in PATH."""


def parse_arguments(arguments, version):
    parser = argparse.ArgumentParser(
        prog="nsreport", formatter_class=argparse.RawDescriptionHelpFormatter, epilog=EPILOG,
        description="Makes a folder with index.html, PNG and SVG pictures from a trace, stats JSON or mapi-cost JSON.")
    parser.add_argument("input", metavar="TRACE|JSON", help="trace (.nsl), stats JSON or mapi-cost JSON; - reads JSON from standard input")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, type=_folder_name,
                        help="folder to make; an older report there is replaced as a whole, any other folder is refused")
    parser.add_argument("--calibration", metavar="FILE", type=_file_name, help="what nscalibrate wrote, instead of the trace's own constants")
    parser.add_argument("--unit", metavar="N", type=_unit_number, help="unit that the timeline shows (default: the one nearest the median cost)")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument("--version", action="version", version=f"nsreport {version}")
    return parser.parse_args(arguments)


def _folder_name(text):
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty; name one, such as -o report")
    return text


def _file_name(text):
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty; name one, or leave the option out")
    return text


def _unit_number(text):
    number = int(text)
    if not 0 <= number < 2**64:
        raise ValueError(text)
    return number


def _tell(text, end="\n"):
    """Standard error may be closed or on a full disk: the report and the exit code do not depend on it."""
    try:
        print(text, file=sys.stderr, end=end, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _say(quiet, text):
    if not quiet:
        _tell(errors.shown(text))


def _progress(quiet, text):
    if not quiet and sys.stderr.isatty():
        _tell(f"\r\033[K{text}", end="")


def make_report(options, program, share, version):
    place = folder.ReportFolder(options.output)
    place.refuse_input(options.input)
    gnuplot_path = gnuplot.find_gnuplot()
    given = source.open_source(options.input, program, options.calibration)
    document = given.document
    is_trace = document["schema"] == check.STATS_SCHEMA
    if options.unit is not None and given.trace_path is None:
        raise errors.ReportError(errors.EXIT_USAGE, f"{errors.shown(options.input)}: --unit needs the trace itself (.nsl), as JSON holds no single slices; "
                                                    "give the trace, or leave --unit out")
    head = trace_page if is_trace else cost_page
    with place:
        made = trace_pictures.pictures(document, given, options.unit) if is_trace else cost_pictures.pictures(document)
        drawn = [p for p in made if isinstance(p, Picture)]
        for i, picture in enumerate(drawn, 1):
            _progress(options.quiet, f"drawing {i} of {len(drawn)}: {picture.name}")
            gnuplot.draw(picture, gnuplot_path, share, place.work)
        _progress(options.quiet, "")
        incomplete = given.incomplete + head.incomplete(document)
        warnings = list(dict.fromkeys(given.warnings)) + head.warnings(document)
        page.write(os.path.join(place.work, "index.html"), share, version, head.title(document), head.lead(document), incomplete, warnings,
                   "No record was lost and issued = drained + lost holds.", head.facts(document), made, head.tables(document))
        place.publish()
    for sentence in incomplete:
        _tell(errors.shown(f"nsreport: {options.input}: not complete: {sentence}"))
    for warning in warnings:
        _say(options.quiet, f"nsreport: warning: {warning}")
    _say(options.quiet, f"nsreport: {len(drawn)} pictures, {len(made) - len(drawn)} left out with a reason: "
                        f"{os.path.join(options.output, 'index.html')}")
    return errors.EXIT_INCOMPLETE if incomplete else errors.EXIT_OK


def main(arguments, program, share, version):
    options = parse_arguments(arguments, version)
    try:
        with signals.installed():
            return _report(options, program, share, version)
    except errors.Interrupted as error:
        _progress(options.quiet, "")
        _tell("nsreport: interrupted; no half report is left")
        return errors.EXIT_SIGNAL + error.signal_number


def _report(options, program, share, version):
    try:
        return make_report(options, program, share, version)
    except errors.ReportError as error:
        _progress(options.quiet, "")
        _tell(f"nsreport: {error}")
        return error.code
    except errors.Interrupted:
        raise
    except RecursionError:
        _tell(f"nsreport: {errors.shown(options.input)}: is nested too deep for a stats or mapi-cost file")
        return errors.EXIT_INPUT
    except OSError as error:
        _tell(f"nsreport: {errors.shown(error.filename or options.input)}: {error.strerror or error}; "
              "is the temporary folder (TMPDIR) there, and has it space?")
        return errors.EXIT_OUTPUT
    except Exception as error:  # whatever it is, the user sees a sentence and scripts see a code
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = errors.shown(f"{type(error).__name__}: {error}")[:300]
        _tell(f"nsreport: {errors.shown(options.input)}: a bug in nsreport at {os.path.basename(place.filename)}:{place.lineno} ({said}); "
              "no half report is left; tell the maintainers, with the input")
        return errors.EXIT_INTERNAL
