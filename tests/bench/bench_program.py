# SPDX-License-Identifier: MIT
# bench_program: one program of benches.txt -> the figures that it prints, one JSON object per line.
import json
import os
import subprocess

SKIP = 77
SENSES = ("at most", "at least", "below", "equal")


class Skipped(Exception):
    """It cannot run on this machine."""


class Broken(Exception):
    """It ran, but failed."""


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def check(figure):
    """A figure that violates the protocol means a broken program, not a number to print."""
    if not isinstance(figure, dict) or not isinstance(figure.get("figure"), str):
        raise Broken("a line is not an object with a 'figure'")
    name = figure["figure"]
    if "skipped" in figure:
        return
    if not _is_number(figure.get("value")):
        raise Broken(f"{name}: 'value' is not a number")
    if not isinstance(figure.get("row", {}), dict):
        raise Broken(f"{name}: 'row' is not an object")
    lines = figure.get("lines", [])
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise Broken(f"{name}: 'lines' is not a list of strings")
    if figure.get("bar") is not None and (
        not _is_number(figure["bar"]) or figure.get("sense") not in SENSES
    ):
        raise Broken(f"{name}: a bar requires a number and a sense: {', '.join(SENSES)}")


def _find(word, bin_folder, source):
    for candidate in (
        bin_folder / word,
        bin_folder.parent / "tests" / word,
        source / "tests/bench" / word,
        source / word,
    ):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    raise Broken(
        f"{word} is not built: not found in {bin_folder}, its sibling tests/, or tests/bench"
    )


def run(bench, bin_folder, source):
    reason = bench.missing(source, bin_folder)
    if reason:
        raise Skipped(reason)
    places = {"bin": str(bin_folder), "source": str(source), "build": str(bin_folder.parent)}
    words = [word.format(**places) for word in bench.command]
    environment = os.environ | {"NETSLICE_BIN": str(bin_folder), "NETSLICE_SOURCE": str(source)}
    command = [_find(words[0], bin_folder, source), *words[1:]]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment,
            timeout=bench.timeout_seconds,
        )
    except subprocess.TimeoutExpired:
        raise Broken(f"timed out after {bench.timeout_seconds} s") from None
    except OSError as error:
        raise Broken(f"{command[0]}: {error.strerror}") from None
    reported = (done.stderr.strip() or done.stdout.strip()).splitlines()
    if done.returncode == SKIP:
        raise Skipped(reported[-1] if reported else "no reason given")
    if done.returncode != 0:
        raise Broken(f"exit {done.returncode}: {reported[-1] if reported else 'no message'}")
    figures = []
    for line in done.stdout.splitlines():
        if not line.strip():
            continue
        try:
            figures.append(json.loads(line))
        except json.JSONDecodeError:
            raise Broken(f"a line is not JSON: {line[:80]}") from None
        check(figures[-1])
    return figures
