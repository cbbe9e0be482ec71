# SPDX-License-Identifier: MIT
# Input path -> checked document; for a trace also its slices and events, all read through `nsdump
# export`.
import contextlib
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

from . import check, signals, stated
from .errors import EXIT_INPUT, EXIT_SCHEMA, EXIT_TOOL, EXIT_USAGE, ReportError, cannot_read, shown
from .net_only import keep_net

MAX_JSON_BYTES = 256 << 20
MAKES_STATS = "`nsdump stats TRACE --json -o FILE`"
MAKES_COSTS = "`mapi-cost -r CAPTURE -w FILE`"
MAKE_CALIBRATION = "create one with `nscalibrate -w FILE`"
GIVE_INPUT = f"give a trace, .nsl, or the output of {MAKES_STATS} or {MAKES_COSTS}"
READ_SCHEMAS = (check.STATS_SCHEMA, check.COST_SCHEMA)


class Source:
    """document: the JSON. trace_path, nsdump: set when the input is a trace, so that slices and
    events can be read. calibration: path, or None for the trace's own calibration."""

    def __init__(self, document, trace_path=None, nsdump=None, calibration=None):
        self.document = document
        self.trace_path = trace_path
        self.nsdump = nsdump
        self.calibration = calibration
        self.warnings = []  # sentences
        self.incomplete = []  # sentences on what nsdump could not read
        self._heard = set()

    def hear(self, what, code, said):
        """nsdump's exit code and standard error of one export -> sentences, without what an
        earlier export or the document says."""
        heard = said_lines(said, self.trace_path)
        new = [line for line in heard if line not in self._heard]
        self._heard.update(new)
        new = [line for line in new if not stated.is_stated(line, self.document)]
        ordinary = new if code == 0 else self.document.get("warnings") or []
        self.warnings += [f"nsdump reported: {line}." for line in new if line in ordinary]
        found = [line for line in new if line not in ordinary]
        if found or (code != 0 and not heard and not self.incomplete):
            self.incomplete.append(
                f"nsdump export --what {what} failed with exit code {code}: "
                f"{'; '.join(found) or 'no message'}. The figures cover the part that it could "
                "read."
            )

    def rows(self, what, *options):
        """Yields dicts of one CSV export. When nsdump fails, rows read until then are kept and its
        message is reported."""
        if what != "events":  # events are raw
            options += _calibrated(self.calibration)
        command = [
            self.nsdump,
            "export",
            self.trace_path,
            "--what",
            what,
            "--format",
            "csv",
            *options,
        ]
        with (
            tempfile.TemporaryFile() as said_file,
            _running(command, said_file, encoding="utf-8", errors="replace") as process,
        ):
            yield from csv.DictReader(process.stdout)
            if process.wait():
                self.hear(what, process.returncode, _said(said_file))

    def write_flame_graph(self, path):
        """Writes an SVG. Returns what nsdump says of it, without what it said before."""
        command = [
            self.nsdump,
            "export",
            self.trace_path,
            "--what",
            "stacks",
            "--format",
            "flamegraph",
            "-q",
            "-o",
            path,
            *_calibrated(self.calibration),
        ]
        with tempfile.TemporaryFile() as said_file:
            with _running(command, said_file) as process:
                process.communicate()
            said = said_lines(_said(said_file), self.trace_path)
        return [
            line
            for line in said
            if line not in self._heard and not stated.is_stated(line, self.document)
        ]


def _calibrated(path):
    return ("--calibration", path) if path is not None else ()


def said_lines(said, path):
    """A program's standard error -> its lines, without the leading program and file name."""
    lines = []
    for line in said.split("\n"):
        line = (
            shown(line.strip())
            .removeprefix("nsdump: ")
            .removeprefix(f"{shown(path)}: ")
            .removeprefix("incomplete: ")
            .rstrip(".")
        )
        if line and line not in lines:
            lines.append(line)
    return lines


def _said(file, limit=4096):
    file.seek(0)
    return file.read(limit).decode("utf-8", "replace").strip()


@contextlib.contextmanager
def _running(command, said_file, **options):
    process = None
    try:
        with signals.held():  # raises a signal that arrives meanwhile when it ends
            process = _started(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said_file,
                **options,
            )
        yield process
    finally:
        if process:
            process.stdout.close()
            process.kill()
            process.wait()


def _started(command, **options):
    try:
        return subprocess.Popen(command, **options)
    except OSError as error:
        raise _no_nsdump(command[0], error) from error


def _no_nsdump(path, error):
    return ReportError(
        EXIT_TOOL,
        f"{shown(path)}: cannot run: {error.strerror or error} "
        "(put nsdump next to nsreport or set NSDUMP)",
    )


def find_nsdump(program):
    named = os.environ.get("NSDUMP")
    if named:
        return named
    beside = os.path.join(os.path.dirname(program), "nsdump")
    found = beside if os.access(beside, os.X_OK) else shutil.which("nsdump")
    if not found:
        raise ReportError(
            EXIT_TOOL,
            f"nsdump: not found next to {shown(program)} or in PATH, and required to read a trace "
            "(build or install nsdump, or set NSDUMP)",
        )
    return found


def _keep_net(source, name, remedy):
    if source.document["schema"] == check.STATS_SCHEMA:
        source.warnings += keep_net(source.document, name, remedy)


def _json_source(data, name, calibration):
    if calibration is not None:
        raise ReportError(
            EXIT_USAGE,
            f"{name}: --calibration requires a trace (.nsl), because JSON has figures that were "
            "already computed (give the trace or omit --calibration)",
        )
    source = Source(_parse(data, name))
    _keep_net(
        source,
        name,
        "give the trace with --calibration FILE from nscalibrate, or give that option to `nsdump "
        "export`",
    )
    return source


def open_source(path, program, calibration=None):
    """The first character identifies the kind of input: JSON begins with '{', a trace does not."""
    if path == "-" and sys.stdin is None:
        raise ReportError(EXIT_INPUT, "standard input: closed (give a file or pipe in the JSON)")
    if path == "-":
        return _json_source(
            sys.stdin.buffer.read(MAX_JSON_BYTES + 1), "standard input", calibration
        )
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
            if not head:
                raise ReportError(
                    EXIT_INPUT,
                    f"{shown(path)}: empty file (record the trace again or give another file)",
                )
            if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
                return _json_source(head + file.read(MAX_JSON_BYTES + 1), shown(path), calibration)
    except OSError as error:
        raise cannot_read(path, error, GIVE_INPUT) from error
    return _trace(path, find_nsdump(program), calibration)


def _check_readable(path):
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError as error:
        raise cannot_read(path, error, MAKE_CALIBRATION, " calibration") from error


def _cannot_read(path, calibration, reason):
    """Distinguishes nsdump's errors about the calibration from those about the trace."""
    if calibration is not None and "calibration" in reason:
        words, remedy = (
            f"{shown(path)}: nsdump cannot use this calibration: {reason}",
            MAKE_CALIBRATION,
        )
    else:
        words, remedy = f"{shown(path)}: nsdump cannot read it: {reason}", GIVE_INPUT
    return words if reason.endswith(")") else f"{words} ({remedy})"


def _trace(path, nsdump, calibration):
    if calibration is not None:
        _check_readable(calibration)
    safe_path = path if not path.startswith("-") else os.path.join(".", path)
    command = [
        nsdump,
        "export",
        safe_path,
        "--what",
        "stats",
        "--format",
        "json",
        *_calibrated(calibration),
    ]
    with tempfile.TemporaryFile() as said_file:
        with _running(command, said_file) as process:
            printed, code = process.communicate()[0], process.returncode
        said = _said(said_file)
    if code and not printed.strip():
        reason = (
            "; ".join(said_lines(said, safe_path))
            or f"nsdump failed with exit code {code} and no message"
        )
        raise ReportError(EXIT_INPUT, _cannot_read(path, calibration, reason))
    document = _parse(printed, f"{shown(path)} (through {shown(nsdump)})")
    if document["schema"] != check.STATS_SCHEMA:
        raise ReportError(
            EXIT_SCHEMA,
            f'{shown(nsdump)}: printed schema "{document["schema"]}", not "{check.STATS_SCHEMA}" '
            "(use nsdump and nsreport of the same version)",
        )
    source = Source(document, safe_path, nsdump, calibration)
    _keep_net(
        source,
        shown(path),
        "calibrate this machine with `nscalibrate -w FILE` and give --calibration FILE",
    )
    source.hear("stats", code, said)
    return source


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")


def _parse(data, name):
    if len(data) > MAX_JSON_BYTES:
        raise ReportError(
            EXIT_INPUT,
            f"{name}: longer than {MAX_JSON_BYTES >> 20} MiB: not a stats or mapi-cost file "
            f"(give a trace or the output of {MAKES_STATS} or {MAKES_COSTS})",
        )
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ReportError(
            EXIT_INPUT, f"{name}: byte {error.start} is not UTF-8 (write the file again)"
        ) from error
    except json.JSONDecodeError as error:
        raise ReportError(
            EXIT_INPUT,
            f"{name}: line {error.lineno}, column {error.colno}: {error.msg}: "
            "truncated or damaged file (write it again)",
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReportError(
            EXIT_INPUT, f"{name}: not usable JSON: {error} (write the file again)"
        ) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, str) or schema not in READ_SCHEMAS:
        found = f'schema "{shown(schema[:60])}"' if isinstance(schema, str) else "no schema"
        raise ReportError(
            EXIT_SCHEMA,
            f"{name}: {found}; nsreport reads {' and '.join(READ_SCHEMAS)} "
            f"(give a trace or the output of {MAKES_STATS} or {MAKES_COSTS})",
        )
    try:
        return check.check_document(document)
    except check.ShapeError as error:
        raise ReportError(
            EXIT_SCHEMA, f"{name}: {schema} {error} (use programs of the same version)"
        ) from error
