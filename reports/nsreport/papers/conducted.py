# SPDX-License-Identifier: MIT
# Results of nsconduct -> the baselines and the cipher table of the Conductor slides.
import glob
import os
import re
import statistics

from .. import page
from ..text import count, number, plural
from .found import Found

_STATISTICS = ("min", "max", "median", "mean", "stddev")
_MBIT = 1e6
IMPLEMENTATIONS = "implementations"  # member of a document, from the outputs of its steps
_IMPLEMENTATION = "implementation: "
_PLAYER = re.compile(r"; (?=[^\s;:]+: (?:startup|run|collect|reset) )")  # before a player's cause
_MUCH = 0.05  # of the CPU time
_DISTURBANCES = {
    "load_by_others": "Processes that are not the experiment's, kernel threads among them,",
    "steal": "The hypervisor",
}
_HOSTS = (
    "Hosts are network namespaces of this machine, joined by veth pairs, and share its CPUs; 2 "
    "hosts are a source and a sink, and further ones between them "
)
_READING = {  # what names of hosts, variants and values mean, by item
    "baseline-tcp": f"{_HOSTS}forward. offload off: packets of 1500 bytes on the links; offload "
    "on: segments of up to 64 KiB.",
    "baseline-packets": f"{_HOSTS}forward. senders thread: the thread that sends does the work of "
    "all hosts; own threads: each receiving host has a thread, and loses what it has no time for. "
    "refused: packets of a whole trial for which the receiving end had no room. received: the mean "
    "between the first and the last 0.1 s in which packets arrived, which may be above sent.",
    "ciphers": f"{_HOSTS}are gateways, which encrypt. soft: AES without the CPU's instructions for "
    "it; hard: with them; no ipsec: no tunnel.",
}


def _table(item, columns, rows):
    return f"<p>{page.escaped(_READING[item.id])}</p>{page.table(columns, rows)}"


def _unit(unit):
    """(what to divide by, unit that is shown): bits/s as Mbit/s, as on the slides."""
    return (_MBIT, "Mbit/s") if unit == "bits/s" else (1, unit)


def _samples(documents):
    """(experiment, value, unit, variant, statistics) of all that has samples."""
    for experiment, document in documents.items():
        for name, value in document["values"].items():
            for variant, found in value["variants"].items():
                if found.get("samples"):
                    yield experiment, name, value["unit"], variant, found


def _shown(value, factor):
    return number(None if value is None else round(value / factor, 3))


def _cells(found, factor):
    low, high = found.get("ci95") or (None, None)
    between = "" if low is None else f"95 %: {_shown(low, factor)} to {_shown(high, factor)}"
    cells = [_shown(found.get(key), factor) for key in _STATISTICS]
    cells[3] = (cells[3], between)
    return [*cells, count(len(found["samples"]))]


_COLUMNS = [(name, True) for name in ("Min", "Max", "Median", "Avg", "Stddev", "trials")]


def _lacking(documents):
    """What failed, each cause once, with where and how often; players fail in any order."""
    said = {}
    for experiment, document in documents.items():
        for one in document.get("failures", []):
            key = experiment, str(one.get("variant")), _cause(one.get("failure"))
            said[key] = said.get(key, 0) + 1
    return [
        f"{_words(experiment)}, {_words(variant)}: {plural(amount, 'trial')} failed: {cause}."
        for (experiment, variant, cause), amount in said.items()
    ] + [text for name in _DISTURBANCES for text in _disturbed(documents, name)]


def _disturbed(documents, name):
    """The most disturbed trial of all experiments, if that was much."""
    found = [
        (share["max"], experiment, share["round"], share["variant"])
        for experiment, document in documents.items()
        if (share := (document.get("disturbance") or {}).get(name))
    ]
    most, experiment, turn, variant = max(found, default=(0, "", 0, ""))
    if most >= _MUCH:
        yield (
            f"{_DISTURBANCES[name]} had up to {100 * most:.0f} % of the CPU time in Run "
            f"({_words(experiment)}, round {turn}, {_words(variant)})."
        )


def _cause(failure):
    """"sink: startup step1: no; source: startup step1: no" -> players of one cause together."""
    players = {}
    for one in _PLAYER.split(str(failure or "no reason is known")):
        player, _, why = one.partition(": ")
        players.setdefault(why, []).append(player)
    together = sorted((sorted(names), why) for why, names in players.items())
    return "; ".join(": ".join(filter(None, (", ".join(names), why))) for names, why in together)


def _words(name):
    return name.replace("_", " ")


def baseline(documents, item):
    """Set-ups of 2, 3 and 4 hosts, below what was published."""
    measured, middles = {}, {}  # by set-up
    for experiment, name, unit, variant, found in _samples(documents):
        factor, shown = _unit(unit)
        setup = f"{_words(experiment)}, {_words(variant)}"
        cells = [setup, _words(name), shown, *_cells(found, factor)]
        measured.setdefault(setup, []).append(cells)
        if shown in ("Mbit/s", "packets/s"):
            middle = f"{_words(name)} {_shown(statistics.median(found['samples']), factor)} {shown}"
            middles.setdefault(setup, []).append(middle)
    rows = [_of_published(item, i) for i in range(len(item.columns))]
    rows += [row for of_setup in measured.values() for row in of_setup]
    said = [f"{setup}: {', '.join(found)}" for setup, found in middles.items()]
    columns = [("set-up", False), ("value", False), ("unit", False), *_COLUMNS]
    return Found(
        summary=f"{'; '.join(said) or 'No trial succeeded'}.",
        tables=[
            (
                "Statistics of the published seconds, and trials on this machine",
                _table(item, columns, rows),
            )
        ],
        lacking=_lacking(documents),
    )


def _of_published(item, column):
    """Over the seconds that were printed."""
    name, unit = item.columns[column]
    values = [row[column] for _, row in item.rows]
    middles = [statistics.median(values), statistics.mean(values), statistics.stdev(values)]
    shown = [number(round(one, 3)) for one in (min(values), max(values), *middles)]
    return [f"published: {plural(len(values), 'second')}", name, unit, *shown, number(None)]


def ciphers(documents, item):
    """Each row of the slides, and the variant that repeats it."""
    measured, others = {}, []
    rows_of = {place: name for name, place in item.measured_by.items()}
    for experiment, name, unit, variant, found in _samples(documents):
        if unit != "bits/s":
            continue
        if row := rows_of.get((experiment, variant)):
            measured[row] = found
        else:
            others.append((f"{_words(experiment)}, {_words(name)}, {_words(variant)}", found))
    rows = []
    for name, values in item.rows:
        rows.append([name, "published", *_printed(item, values), number(None)])
        found = measured.get(name)
        cells = _cells(found, _MBIT) if found else [number(None)] * len(_COLUMNS)
        rows.append(["", f"here: {', '.join(map(_words, item.measured_by[name]))}", *cells])
    rows += [[words, "here", *_cells(found, _MBIT)] for words, found in others]
    absent = [name for name, _ in item.rows if name not in measured]
    said = [
        f"{name} {_shown(measured[name]['median'], _MBIT)}"
        for name, _ in item.rows
        if name in measured
    ]
    lacking = _lacking(documents)
    if absent:
        lacking.append(f"Not measured: {', '.join(absent)}.")
    return Found(
        summary=f"Medians, Mbit/s: {', '.join(said) or 'none'}.",
        tables=[
            (
                "Mbit/s by cipher, published and here" + _how(documents),
                _table(item, [("algorithm", False), ("", False), *_COLUMNS], rows),
            )
        ],
        lacking=lacking,
    )


def _printed(item, values):
    """A published row; a unit that is not that of the table is named."""
    for (_, unit), value in zip(item.columns, values):
        yield number(value) if unit == "Mbit/s" else (f"{value:,}", unit)


def _how(documents):
    """What carries ESP, for the table's head."""
    found = [one for document in documents.values() for one in document.get(IMPLEMENTATIONS, [])]
    return f"; ESP by {' / '.join(dict.fromkeys(found))}" if found else ""


def implementations(folder):
    """As steps of an experiment say what they use."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "output/*/*/*/collect-step*.out"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.startswith(_IMPLEMENTATION)]
        found |= dict.fromkeys(line.removeprefix(_IMPLEMENTATION) for line in lines)
    return [one for one in found if one != "no IPsec"]
