# SPDX-License-Identifier: MIT
# Document of a placement run -> figures 2.1 to 2.10 of the evaluation of MAPI in the kernel (2004).
from ..placement import page, pictures, values
from ..placement.words import FIGURES
from .found import Found, of_id


def figure(document, item):
    number = item.name.removeprefix("Figure ")
    chosen = [one for one in FIGURES if number in one.number.split(" and ")]
    costs = values.costs_of(document)
    parts = dict.fromkeys(f"{one.part}-figures" for one in chosen)
    own = [one for one in chosen if one.number == number] or chosen
    return Found(
        summary=" ".join(dict.fromkeys(pictures.sentence(document, costs, one) for one in own)),
        tables=of_id(page.tables(document), *parts),
        pictures=[one.name for one in chosen],
        lacking=page.warnings(document, {one.part for one in chosen}),
    )
