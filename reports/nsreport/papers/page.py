# SPDX-License-Identifier: MIT
# Published items and results of parts -> the page.
import os

from .. import page
from ..errors import ReportError, bug
from ..text import number, plural
from . import parts, published
from .earlier import FORM as EARLIER, PARTS_FOLDER

_MOST_PICTURE_PX = 1000
_FORMS = {
    parts.SHORT: "short: fewer and shorter runs than those of the documents",
    parts.LONG: "long: as many runs as those of the documents",
    EARLIER: "earlier: reports that were made separately",
}
_WORDS = {
    "IFACE": "the network interface that receives: one end of a veth pair",
    "MAPI on IFACE": "packets come by a packet socket, and functions run in user space",
    "MAPI on xdp:IFACE": "functions run in the kernel, in an XDP program, where they can; with "
    "drop, packets end there",
}


class Results:
    """What each part says on each item; a part is read once."""

    def __init__(self, kept):
        self._kept, self._read = kept, {}

    def of_part(self, part):
        """(status or None, document or None, reasons)."""
        if part.name not in self._read:
            self._read[part.name] = self._of_part(part)
        return self._read[part.name]

    def _of_part(self, part):
        status, failure = self._kept.status(part.name), self._kept.failure(part.name)
        reasons = [f"{failure['started']}: {failure['why']}"] if failure else []
        if status is None:
            return None, None, reasons or ["It was not measured."]
        reasons += status.get("failures", [])
        try:
            return status, parts.document(part, self._kept.place(part.name)), reasons
        except (ReportError, OSError) as error:
            return status, None, [*reasons, str(error)]

    def of_item(self, item):
        """(part, status, Found or None, reasons) of each part that has the item."""
        made = []
        for part in parts.PARTS:
            table = part.tables.get(item.key)
            if not table:
                continue
            status, document, reasons = self.of_part(part)
            found, lacking = _found(table, document, item)
            made.append((part, status, found, reasons + lacking))
        return made


def _found(table, document, item):
    """What results say on an item, and what is missing; results that no table expects leave the
    rest of the page as it is."""
    if document is None:
        return None, []
    try:
        found = table(document, item)
    except Exception as error:
        return None, [f"{bug(error)} (please report this with the results)"]
    return found, found.lacking


def _where(status):
    load = status.get("load")
    busy = f", load average {load:.1f} before" if isinstance(load, (int, float)) else ""
    return f"{status['cpu']}, {status['kernel']}{busy}"


def _contents_row(item, made):
    measured = [(part, status, found) for part, status, found, _ in made if found]
    reasons = list(dict.fromkeys(why for *_, whys in made for why in whys))
    whens = [status["started"] for _, status, _ in measured]
    commands = dict.fromkeys(one for _, status, _ in measured for one in status["commands"])
    wheres = dict.fromkeys(_where(status) for _, status, _ in measured)
    return [
        (page.Link(item.name, f"#{anchor(item)}"), item.title),
        item.gist,
        " ".join(found.summary for *_, found in measured) or "not measured",
        ("; ".join(commands) or number(None), "; ".join([*dict.fromkeys(whens), *wheres])),
        " ".join(reasons) or number(None),
    ]


_CONTENTS = ("table or figure", "published", "measured here", "by, when and where")
_CONTENTS += ("unavailable, and why",)


def anchor(item):
    return f"item-{item.key}"


def contents(items, results):
    """The table at the top, by document."""
    text = []
    for document in dict.fromkeys(item.document for item in items):
        rows = [
            _contents_row(item, results.of_item(item))
            for item in items
            if item.document == document
        ]
        columns = [(name, False) for name in _CONTENTS]
        text.append(f"<h3>{page.escaped(document)}</h3>{page.table(columns, rows)}")
    return "".join(text)


def _paragraph(text, name=""):
    attribute = f' class="{name}"' if name else ""
    return f"<p{attribute}>{page.escaped(text)}</p>"


def _published(item):
    said = "".join(f"<blockquote>{page.escaped(claim)}</blockquote>" for claim in item.claims)
    if item.rows:
        columns = [(item.row_unit or "", False)]
        columns += [(_heading(name, unit), True) for name, unit in item.columns]
        rows = [[name, *(_printed(value) for value in values)] for name, values in item.rows]
        said += page.table(columns, rows)
    if not item.rows and not item.claims:
        said += _paragraph("The document's text has no figures of it.")
    if item.note:
        said += _paragraph(item.note, "where")
    return f"<h4>Published</h4>{said}"


def _heading(name, unit):
    return name if unit in name.split() else f"{name}, {unit}"


def _printed(value):
    return number(None) if value is None else f"{value:,}"


def _pictures(part, found, folder):
    said = []
    for name in found.pictures:
        path = f"{PARTS_FOLDER}/{part.name}/{parts.REPORT}/{name}"
        if not os.path.exists(os.path.join(folder, f"{path}.svg")):
            said.append(_paragraph(f"No picture {name}: the report of {part.name} says why."))
            continue
        said.append(
            f'<figure><a href="{page.escaped(path)}.png"><img src="{page.escaped(path)}.svg" '
            f'alt="{page.escaped(name)}" width="{_MOST_PICTURE_PX}"></a></figure>'
        )
    return "".join(said)


def _links(part, found, folder):
    place = f"{PARTS_FOLDER}/{part.name}"
    named = [(words, f"{place}/{path}") for words, path in found.files]
    named.append((f"report of {part.name}", f"{place}/{parts.REPORT}/index.html"))
    links = [
        f'<a href="{page.escaped(path)}">{page.escaped(words)}</a>'
        for words, path in named
        if os.path.exists(os.path.join(folder, path))
    ]
    return f'<p class="files">{" &middot; ".join(links)}</p>' if links else ""


def _measured(part, status, found, reasons, folder):
    said = [f"<h4>Measured: {page.escaped(part.words)}</h4>"]
    if found:
        said.append(_paragraph(found.summary))
        said += [f"{_paragraph(heading, 'where')}{html}" for heading, html in found.tables]
        said.append(_pictures(part, found, folder))
        said.append(_links(part, found, folder))
        commands = "; ".join(status["commands"])
        said.append(_paragraph(f"{status['started']}, {_where(status)}: {commands}", "where"))
    said += [_paragraph(why, "absent") for why in reasons]
    return "".join(said)


def _section(document, items, results, folder):
    said = []
    for item in items:
        said.append(
            f'<section id="{anchor(item)}"><h3>{page.escaped(item.name)}: '
            f"{page.escaped(item.title)}</h3>{_published(item)}"
        )
        made = results.of_item(item)
        said += [_measured(*one, folder) for one in made]
        said.append("</section>")
    return f"document-{items[0].seed}", document, "".join(said)


def missing(results):
    """Parts without results, with the reason."""
    said = []
    for part in parts.PARTS:
        _, document, reasons = results.of_part(part)
        if document is None:
            said.append(f"{part.name} ({part.words}): {' '.join(reasons)}")
    return said


def write(folder, share, version, kept, notices):
    """Replaces the page at once; returns the parts without results."""
    items, results = list(published.items().values()), Results(kept)
    documents = dict.fromkeys(item.document for item in items)
    tables = [("contents", "Contents", contents(items, results))]
    for document in documents:
        chosen = [item for item in items if item.document == document]
        tables.append(_section(document, chosen, results, folder))
    absent = missing(results)
    forms = {s["form"] for s in (results.of_part(part)[0] for part in parts.PARTS) if s}
    path = os.path.join(folder, ".index.html.new")
    page.write(
        path,
        share,
        version,
        "Published tables and figures, made again",
        f"{plural(len(items), 'table')} and figures of {len(documents)} documents, each as "
        "published and as measured here. The contents table says what was measured, when, where, "
        "by which command, and what this machine could not do.",
        notices,
        [f"No results of {one}" for one in absent],
        "Every part has results.",
        [
            ("Form", "; ".join(_FORMS.get(form, form) for form in sorted(forms))),
            *_WORDS.items(),
            ("Parts", f"{len(parts.PARTS) - len(absent)} of {len(parts.PARTS)} have results"),
        ],
        [],
        tables,
    )
    os.replace(path, os.path.join(folder, "index.html"))
    return absent
