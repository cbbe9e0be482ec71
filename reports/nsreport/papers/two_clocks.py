# SPDX-License-Identifier: MIT
# Document of a ktime run -> the pictures and the CSV of the tests of bpf_ktime_get_ns().
from ..ktime import page, pictures, tables
from ..text import count, plural
from .found import Found, of_id


def _picture(document, name, *of_tables):
    picture = getattr(pictures, name)(document)
    return Found(
        summary=picture.notes[0].split("Measured here: ")[-1],
        tables=of_id(tables.tables(document), *of_tables),
        pictures=[name],
        lacking=_short_of(document),
    )


def _short_of(document):
    said = page.incomplete(document) + page.warnings(document)
    if document["rounds"] * document["runs"] < 4000:
        said.append(
            f"{plural(document['rounds'], 'execution')} of {plural(document['runs'], 'run')}, "
            "fewer than those of the document."
        )
    return said


def both(document, _item):
    made = _picture(document, "two_clocks", "terms")
    made.summary = f"run_time_ns {made.summary.removeprefix('it ')}"
    made.pictures.append("gap_terms")
    return made


def without(document, _item):
    return _picture(document, "without_clock", "guess")


def trend(document, _item):
    return _picture(document, "clock_trend", "means")


def course(document, _item):
    made = _picture(document, "course", "plain")
    made.summary = page.said(document)[-1]
    return made


def runs(document, _item):
    amount = sum(len(one) for place in document["programs"].values() for one in place["run_ns"])
    return Found(
        summary=f"A row for each of {count(amount)} runs of {len(document['programs'])} programs.",
        files=[
            ("every run", "report/data/runs.csv"),
            ("packets of attachments with many", "report/data/packets.csv"),
        ],
        lacking=_short_of(document),
    )
