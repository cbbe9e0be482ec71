# SPDX-License-Identifier: MIT
# A trace -> flame_graph.svg in the folder of the page, made by nsdump, and its section.
import os

from ..page import escaped

FILE = "flame_graph.svg"
READING = (
    "How to read it: a frame is a slice, and the frames below it are the slices inside it; its "
    "width is the net time of all its slices together, without the probes. The widest are on the "
    "left. Click a frame to zoom, and search by a part of a name."
)


def section(source, folder):
    """(id, heading, html) in a list; empty if the input has no slices of its own."""
    if source.trace_path is None:
        return []
    notes = source.write_flame_graph(os.path.join(folder, FILE))
    said = "".join(f"<p>{escaped(note)}.</p>" for note in notes)
    if not os.path.exists(os.path.join(folder, FILE)):
        body = f'<p class="absent">No picture.</p>{said}'
    else:
        body = (
            f'<figure><object type="image/svg+xml" data="{FILE}" aria-label="flame graph">'
            f'<a href="{FILE}">{FILE}</a></object>\n'
            f"<figcaption><p>{READING}</p>{said}"
            f'<p class="files"><a href="{FILE}">open it alone</a></p></figcaption></figure>'
        )
    return [("flame_graph", "Flame graph", body)]
