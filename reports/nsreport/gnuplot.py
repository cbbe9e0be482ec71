# SPDX-License-Identifier: MIT
# Picture -> NAME.png, NAME.svg (gnuplot) and data/NAME.tsv. Drawn files are checked: gnuplot's exit
# code does not report a full disk.
import os
import shutil
import signal
import subprocess
import tempfile

from . import signals
from .csv_file import write_csv
from .errors import EXIT_OUTPUT, EXIT_TOOL, ReportError, shown
from .layout import WIDTH_PX, foot_of, legend_table, top_px, total_px
from .text import label


def find_gnuplot():
    named = os.environ.get("GNUPLOT")
    found = named or shutil.which("gnuplot")
    if not found:
        raise ReportError(
            EXIT_TOOL,
            "gnuplot: not found in PATH (install it, on Debian with apt install gnuplot-nox, "
            "or set GNUPLOT)",
        )
    return found


def _cell(value):
    if value is None:
        return "nan"
    return label(value, 200) or " " if isinstance(value, str) else repr(value)


def _value(value):
    if isinstance(value, str):
        return "'" + label(value, 4000) + "'"  # label() removes quotes
    return repr(float(value)) if isinstance(value, float) else str(int(value))


def _write_table(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write("\t".join(_cell(v) for v in row) + "\n")


def _write_variables(path, variables):
    with open(path, "w", encoding="utf-8") as file:
        for name, value in variables.items():
            if isinstance(value, list):
                file.write(f"array {name}[{max(1, len(value))}]\n")
                for i, part in enumerate(value, 1):
                    file.write(f"{name}[{i}] = {_value(part)}\n")
            else:
                file.write(f"{name} = {_value(value)}\n")


def _is_whole(path, kind):
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 64))
            tail = file.read()
    except OSError:
        return False
    return b"IEND" in tail if kind == "png" else b"</svg>" in tail


def _ended(command, **options):
    """Runs a program to its end -> exit code, standard error. A signal never leaves it running."""
    process = None
    try:
        with signals.held():  # raises a signal that arrives meanwhile when it ends
            process = subprocess.Popen(command, **options)
        said = process.communicate()[1]
    finally:
        if process:
            process.kill()
            process.wait()
    return process.returncode, said.decode("utf-8", "replace").strip()[-600:]


def _run(gnuplot, share, scratch, picture, kind, output):
    script = os.path.join(share, picture.script)
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "GNUTERM": "unknown"}
    try:
        code, said = _ended(
            [gnuplot, "-d", "variables.gp", script],
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise ReportError(
            EXIT_TOOL,
            f"{shown(gnuplot)}: cannot run: {error.strerror or error} (install gnuplot 5.4 or "
            "newer)",
        ) from error
    if _is_whole(output, kind) and code == 0:
        return
    if code in (0, -signal.SIGXFSZ) or "write" in said.lower() or "space" in said.lower():
        raise ReportError(
            EXIT_OUTPUT,
            f"{shown(os.path.basename(output))}: gnuplot could not write the whole picture: "
            f"{said or 'no message'} (free some space, check the file size limit with ulimit -f, "
            "or choose another folder with -o)",
        )
    raise ReportError(
        EXIT_TOOL,
        f"{picture.script}: gnuplot failed (exit code {code}) on {picture.name}.{kind}: "
        f"{said or 'no message'} "
        "(install gnuplot 5.4 or newer, or set GNUPLOT to another one)",
    )


def draw(picture, gnuplot, share, folder):
    """Writes the picture's three files into `folder` and removes the scratch files for gnuplot."""
    with tempfile.TemporaryDirectory(prefix=".scratch-", dir=folder) as scratch:
        for stem, rows in picture.tables.items():
            _write_table(os.path.join(scratch, stem + ".tsv"), rows)
        _write_table(os.path.join(scratch, "legend.tsv"), legend_table(picture.legend)[0])
        foot_rows, foot_px = foot_of(picture)
        _write_table(
            os.path.join(scratch, "foot.tsv"),
            [(x, picture.height_px + y, text) for x, y, text in foot_rows],
        )
        for kind in ("png", "svg"):
            output = os.path.join(folder, f"{picture.name}.{kind}")
            _write_variables(
                os.path.join(scratch, "variables.gp"),
                {
                    "kind": kind,
                    "output_name": f"../{picture.name}.{kind}",
                    "width_px": WIDTH_PX,
                    "height_px": total_px(picture),
                    "foot_px": foot_px,
                    "top_px": top_px(picture.legend),
                    "legend_rows": len(picture.legend),
                    "picture_title": label(picture.question, 100),
                    **picture.variables,
                },
            )
            with open(os.path.join(scratch, "variables.gp"), "a", encoding="utf-8") as file:
                file.write("share = '" + share.replace("'", "''") + "/'\n")
            _run(gnuplot, share, scratch, picture, kind, output)
    data_path = os.path.join(folder, "data", f"{picture.name}.tsv")
    os.makedirs(os.path.dirname(data_path), exist_ok=True)
    _write_table(data_path, [picture.data_header, *picture.data_rows])
    csv_path = data_path.removesuffix(".tsv") + ".csv"
    write_csv(csv_path, picture.data_header, picture.data_rows)
