# SPDX-License-Identifier: MIT
# Pictures, facts and tables -> index.html. Everything from the input is escaped here and nowhere
# else.
import html
import os
import string
from dataclasses import dataclass

from .layout import total_px
from .picture import Absent
from .text import visible


def escaped(value):
    return html.escape(visible(value), quote=True)


@dataclass
class Link:
    """Text of a cell that leads to another place of the page."""

    text: str
    place: str


def _cell(value):
    if isinstance(value, Link):
        return f'<a href="{escaped(value.place)}">{escaped(value.text)}</a>'
    return escaped(value)


def facts_rows(facts):
    return "\n".join(
        f"<tr><th>{escaped(name)}</th><td>{escaped(value)}</td></tr>"
        for name, value in facts
        if value not in (None, "")
    )


def table(columns, rows):
    """columns: (heading, is_number); rows: cells as text or Link, or as (one of these, small text
    below it)."""
    head = "".join(
        f"<th{' class=' + chr(34) + 'n' + chr(34) if is_number else ''}>{escaped(name)}</th>"
        for name, is_number in columns
    )
    body = []
    for row in rows:
        cells = []
        for (_, is_number), cell in zip(columns, row):
            text, small = cell if isinstance(cell, tuple) else (cell, "")
            below = f'<br><span class="where">{escaped(small)}</span>' if small else ""
            cells.append(f'<td class="{"n" if is_number else "name"}">{_cell(text)}{below}</td>')
        body.append("<tr>" + "".join(cells) + "</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n'
        + "\n".join(body)
        + "\n</tbody></table></div>"
    )


def _figure(picture):
    name = escaped(picture.name)
    reported = (
        f"{picture.question} Source: {picture.source}. Samples: {picture.samples}. Losses: "
        f"{picture.losses}."
    )
    notes = "".join(f"<p>{escaped(note)}</p>" for note in picture.notes)
    return (
        f'<section id="{name}"><h2>{escaped(picture.topic)}</h2>\n'
        f'<figure><a href="{name}.png"><img src="{name}.svg" alt="{escaped(reported)}" '
        f'width="1000" height="{total_px(picture)}"></a>\n'
        f"<figcaption><p>How to read it: {escaped(picture.reading)}</p>{notes}\n"
        f'<p class="files"><a href="{name}.png">PNG</a> &middot; '
        f'<a href="{name}.svg">SVG</a> &middot; '
        f'<a href="data/{name}.tsv">figures (TSV)</a> &middot; '
        f'<a href="data/{name}.csv">CSV</a></p></figcaption></figure></section>'
    )


def _absent(picture):
    return (
        f'<section id="{escaped(picture.name)}"><h2>{escaped(picture.topic)}</h2>'
        f'<p class="absent">No picture: {escaped(picture.why)}</p></section>'
    )


def write(path, share, version, title, lead, incomplete, warnings, good, facts, pictures, tables):
    """tables: (id, heading, html). The frame comes from page.html.in."""
    with open(os.path.join(share, "page.html.in"), encoding="utf-8") as file:
        frame = string.Template(file.read())
    contents = [(p.name, p.topic) for p in pictures] + [
        (name, heading) for name, heading, _ in tables
    ]
    sections = [_absent(p) if isinstance(p, Absent) else _figure(p) for p in pictures]
    sections += [
        f'<section class="tables" id="{name}"><h2>{escaped(heading)}</h2>{body}</section>'
        for name, heading, body in tables
    ]
    notices = [
        f'<p class="incomplete"><strong>Incomplete:</strong> {escaped(sentence)}</p>'
        for sentence in incomplete
    ]
    notices += [f'<p class="warning">{escaped(w)}</p>' for w in warnings]
    if not notices and good:
        notices.append(f'<p class="good">{escaped(good)}</p>')
    text = frame.substitute(
        version=escaped(version),
        title=escaped(title),
        lead=escaped(lead),
        warnings="\n".join(notices),
        facts=facts_rows(facts),
        contents="\n".join(
            f'<li><a href="#{escaped(name)}">{escaped(topic)}</a></li>' for name, topic in contents
        ),
        sections="\n".join(sections),
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
