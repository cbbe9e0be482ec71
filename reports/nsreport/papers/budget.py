# SPDX-License-Identifier: MIT
# Budget document -> what the slides say of modern hardware, for this machine.
from ..budget import page
from ..picture import Picture
from .found import Found


def budget(document, _item):
    return Found(
        summary=". ".join(one.rstrip(".") for one in page.said(document)) + ".",
        tables=[(heading, html) for _, heading, html in page.tables(document)],
        pictures=[one.name for one in page.pictures(document) if isinstance(one, Picture)],
        lacking=page.incomplete(document) + page.warnings(document),
    )
