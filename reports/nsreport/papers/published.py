# SPDX-License-Identifier: MIT
# published/*.json -> the documents' tables, figures and claims, as printed.
import json
import os
from dataclasses import dataclass, field

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published")
NAMES = ("scampi_d34", "mapi_kernel", "ktime", "netslice", "conductor")


@dataclass
class Item:
    """A table or figure of a document."""

    seed: str  # number of the document
    document: str
    id: str
    name: str  # "Table 1"
    title: str
    columns: list = field(default_factory=list)  # (name, unit)
    rows: list = field(default_factory=list)  # (name, values); a value that is not there is None
    claims: list = field(default_factory=list)  # sentences of the text
    note: str = ""
    gist: str = ""  # for the table of contents
    row_unit: str = ""
    measured_by: dict = field(default_factory=dict)  # row: (experiment, variant) of nsconduct
    of: str = ""  # of a value in the text: the table that it belongs to

    @property
    def key(self):
        return f"{self.seed}-{self.id}"

    def value(self, row, column=0):
        """By the row's name, or its beginning."""
        return next(values[column] for name, values in self.rows if name.startswith(row))


def _item(document, one):
    return Item(
        seed=document["seed"],
        document=document["document"],
        columns=[(column["name"], column["unit"]) for column in one["columns"]],
        rows=[(row["name"], row["values"]) for row in one["rows"]],
        measured_by={r["name"]: tuple(r["measured_by"]) for r in one["rows"] if "measured_by" in r},
        **{key: one[key] for key in ("id", "name", "title", "claims")},
        **{key: one.get(key, "") for key in ("note", "gist", "row_unit", "of")},
    )


def read(name, folder=FOLDER):
    """The items of one file."""
    with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
        document = json.load(file)
    return [_item(document, one) for one in document["items"]]


def items():
    """Tables and figures of all documents, by key."""
    return {item.key: item for name in NAMES for item in read(name) if not item.of}
