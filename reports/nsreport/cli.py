# SPDX-License-Identifier: MIT
# Options -> report and exit code. The other modules do the work.
import json
import os

from . import check, errors, folder, gnuplot, measured, page, signals, source
from .arguments import PAPERS, parse_arguments
from .cost import page as cost_page, pictures as cost_pictures
from .messages import progress, say, tell
from .papers import cli as papers_cli
from .picture import Picture
from .system import (
    figures as system_figures,
    page as system_page,
    results as system_results,
    run as system_run,
)
from .text import plural
from .trace import flame_graph, page as trace_page, pictures as trace_pictures


def make_report(options, program, share, version):
    place = folder.ReportFolder(options.output)
    place.refuse_input(options.input)
    gnuplot_path = gnuplot.find_gnuplot()
    given = source.open_source(options.input, program, options.calibration)
    document = given.document
    is_trace = document["schema"] == check.STATS_SCHEMA
    if options.unit is not None and given.trace_path is None:
        raise errors.ReportError(
            errors.EXIT_USAGE,
            f"{errors.shown(options.input)}: --unit requires a trace (.nsl), because JSON has no "
            "individual slices (give the trace or omit --unit)",
        )
    head = trace_page if is_trace else cost_page
    with place:
        made = (
            trace_pictures.pictures(document, given, options.unit)
            if is_trace
            else cost_pictures.pictures(document)
        )
        drawn = _draw(made, options, gnuplot_path, share, place)
        graphs = flame_graph.section(given, place.work) if is_trace else []
        incomplete = given.incomplete + head.incomplete(document)
        warnings = list(dict.fromkeys(given.warnings)) + head.warnings(document)
        page.write(
            os.path.join(place.work, "index.html"),
            share,
            version,
            head.title(document),
            head.lead(document),
            incomplete,
            warnings,
            "No record was lost, and issued = drained + lost holds.",
            head.facts(document),
            made,
            graphs + head.tables(document),
        )
        place.publish()
    return _tell_made(options, made, drawn, incomplete, warnings)


def make_system_report(options, program, share, version):
    place = folder.ReportFolder(options.output)
    if options.results:
        place.refuse_input(options.results)
    gnuplot_path = gnuplot.find_gnuplot()
    if not options.results:
        say(options.quiet, f"nsreport: {system_run.plan(options)}")
    with place:
        text = (
            system_run.read(options.results)
            if options.results
            else system_run.measured(
                share, program, options, place.work, lambda line: progress(options.quiet, line)
            )
        )
        if "\n== size " not in text:
            text = text.rstrip("\n") + "\n" + system_run.sizes(program, options)
        document = system_results.parse(text, options.input)
        made = system_page.pictures(document)
        drawn = _draw(made, options, gnuplot_path, share, place)
        _keep_results(place.work, text, document)
        incomplete, warnings = system_page.incomplete(document), system_page.warnings(document)
        page.write(
            os.path.join(place.work, "index.html"),
            share,
            version,
            system_page.title(document),
            system_page.lead(document),
            incomplete,
            warnings,
            "All three variants were measured.",
            system_page.facts(document),
            made,
            system_page.tables(document),
        )
        place.publish()
    return _tell_made(options, made, drawn, incomplete, warnings)


def make_traffic_report(options, program, share, version):
    report = measured.REPORTS[options.kind]
    place = folder.ReportFolder(options.output)
    for path in (options.results, options.costs, options.memory):
        if path:
            place.refuse_input(path)
    gnuplot_path = gnuplot.find_gnuplot()
    if not options.results:
        say(options.quiet, f"nsreport: {report.run.announced(options)}")
    with place:
        document = measured.document(
            report, program, options, lambda line: progress(options.quiet, line)
        )
        measured.keep(place.work, report, document)
        made = report.page.pictures(document)
        drawn = _draw(made, options, gnuplot_path, share, place)
        incomplete, warnings = report.page.incomplete(document), report.page.warnings(document)
        page.write(
            os.path.join(place.work, "index.html"),
            share,
            version,
            report.page.title(document),
            report.page.lead(document),
            incomplete,
            warnings,
            report.page.GOOD,
            report.page.facts(document),
            made,
            report.page.tables(document),
        )
        place.publish()
    for sentence in getattr(report.page, "said", lambda _: [])(document):
        say(options.quiet, f"nsreport: {sentence}")
    return _tell_made(options, made, drawn, incomplete, warnings)


def _keep_results(work, text, document):
    """Keeps the page's input, so that the page can be made again, and its figures as JSON."""
    os.makedirs(os.path.join(work, "data"), exist_ok=True)
    beside = os.path.join(work, "results.txt")
    if os.path.exists(beside):
        os.remove(beside)
    with open(os.path.join(work, "data/results.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(work, "data/system.json"), "w", encoding="utf-8") as file:
        json.dump(system_figures.as_json(document), file, indent=1)
        file.write("\n")


def _draw(made, options, gnuplot_path, share, place):
    drawn = [p for p in made if isinstance(p, Picture)]
    for i, picture in enumerate(drawn, 1):
        progress(options.quiet, f"drawing {i} of {len(drawn)}: {picture.name}")
        gnuplot.draw(picture, gnuplot_path, share, place.work)
    progress(options.quiet, "")
    return drawn


def _tell_made(options, made, drawn, incomplete, warnings):
    for sentence in incomplete:
        tell(errors.shown(f"nsreport: {options.input}: incomplete: {sentence}"))
    for warning in warnings:
        say(options.quiet, f"nsreport: warning: {warning}")
    say(
        options.quiet,
        f"nsreport: {plural(len(drawn), 'picture')}, {len(made) - len(drawn)} unavailable: "
        f"{os.path.join(options.output, 'index.html')}",
    )
    return errors.EXIT_INCOMPLETE if incomplete else errors.EXIT_OK


def main(arguments, program, share, version):
    if arguments[:1] == [PAPERS.removeprefix("--")] or PAPERS in arguments:
        rest = arguments[1:] if PAPERS not in arguments else arguments
        return papers_cli.main([one for one in rest if one != PAPERS], program, share, version)
    options = parse_arguments(arguments, version)
    try:
        with signals.installed():
            return _report(options, program, share, version)
    except errors.Interrupted as error:
        progress(options.quiet, "")
        tell("nsreport: interrupted; no partial report is left")
        return errors.EXIT_SIGNAL + error.signal_number


def _report(options, program, share, version):
    try:
        if options.kind in measured.REPORTS:
            return make_traffic_report(options, program, share, version)
        make = make_system_report if options.system else make_report
        return make(options, program, share, version)
    except errors.ReportError as error:
        progress(options.quiet, "")
        tell(f"nsreport: {error}")
        return error.code
    except errors.Interrupted:
        raise
    except RecursionError:
        tell(
            f"nsreport: {errors.shown(options.input)}: nested too deeply for a stats or mapi-cost "
            "file (write the file again)"
        )
        return errors.EXIT_INPUT
    except OSError as error:
        tell(
            f"nsreport: {errors.shown(error.filename or options.input)}: {error.strerror or error} "
            "(check that the temporary folder, TMPDIR, exists and has space)"
        )
        return errors.EXIT_OUTPUT
    except Exception as error:  # any bug: the user gets a message and scripts an exit code
        tell(
            f"nsreport: {errors.shown(options.input)}: {errors.bug(error)}; no partial report is "
            "left (please report this with the input)"
        )
        return errors.EXIT_INTERNAL
