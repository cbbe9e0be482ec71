# SPDX-License-Identifier: MIT
# What the pages of measured traffic say above their pictures.
from ..text import count, plural
from . import figures

DISTURBED = 0.05
GENERATOR = "mapi-gen"
_METHODS = {"xdp": "XDP live frames", "af_packet": "AF_PACKET"}
ONE_CPU = (
    "A veth pair has no hardware between its ends: the receiving end's softirq runs on the "
    "sending CPU and limits the rate, which a network card would not."
)


def samples(document):
    return f"{plural(document['rounds'], 'round')} of {document['seconds']:g} s each"


def losses(rows):
    """Packets not received over all rows, for the foot of a picture."""
    lost, sent = sum(map(figures.lost, rows)), sum(row["sent"] for row in rows)
    return f"{count(lost)} of {count(sent)} packets sent were not received"


def facts(document):
    sending, reading = document["cpus"]
    return [
        ("Kernel", document["kernel"]),
        ("CPU", document["cpu"]),
        (
            "Sender",
            f"{GENERATOR} on CPU {sending}{_method(document)}, on a veth pair in a network "
            "namespace",
        ),
        ("Reader", f"mapi-reader on CPU {reading}, pinned"),
        ("Time in softirq", figures.SOFTIRQ_SOURCE),
        ("Process time", figures.PROCESS_SOURCE),
        ("Rounds", f"{samples(document)}, systems in turns"),
    ]


def _method(document):
    method = document.get("method")
    return f" by {_METHODS.get(method, method)}" if method else ""


def incomplete(document):
    behind = [row for row in document["points"] if row["sent"] == 0]
    return [f"{plural(len(behind), 'measurement')} sent no packet."] if behind else []


def warnings(document):
    said = [
        f"\u201c{system}\u201d is missing: {why}."
        for system, why in document["unavailable"].items()
    ]
    if document.get("no_softirq"):
        said.append(
            f"Time in softirq is unavailable ({document['no_softirq']}), and so are sums with it."
        )
    slow = [row for row in document["points"] if is_slow(row)]
    if slow:
        rate = min(row["rate"] for row in slow)
        said.append(
            f"The sender did not reach its rate in {plural(len(slow), 'measurement')}, at "
            f"{count(rate)} packets/s and above; pictures show them at the rate that it "
            "reached, and tables name it."
        )
    disturbed = [row for row in document["points"] if is_disturbed(row)]
    if disturbed:
        said.append(
            f"Other programs held the reader's CPU, or a hypervisor took CPUs (steal), for more "
            f"than {100 * DISTURBED:g} % of the time in {plural(len(disturbed), 'measurement')}; "
            "losses there may be theirs. Tables mark them. Measure again on a quiet machine."
        )
    refused = sum(row["refused"] for row in document["points"])
    if refused:
        said.append(
            f"The sending interface refused {plural(refused, 'packet')}; these are not losses."
        )
    dropped = sum(row.get("sender_dropped", 0) for row in document["points"])
    if dropped > refused:
        said.append(
            f"The receiving end had no room for {plural(dropped - refused, 'packet')} (tx_dropped "
            "of the sending one); these are losses."
        )
    if document["cpus"][0] == document["cpus"][1]:
        said.append("Sender and reader share the only CPU.")
    return said


def is_disturbed(row):
    held_ns = max(row.get("waited_ns", 0), row.get("steal_ns", 0))
    return held_ns > DISTURBED * row["seconds"] * figures.NS_PER_S


def disturbed_note(rows):
    """Of a picture, as a list of sentences."""
    disturbed = sum(map(is_disturbed, rows))
    if not disturbed:
        return []
    return [f"{disturbed} of its {plural(len(rows), 'measurement')} were disturbed (see the top)."]


def is_slow(row):
    return bool(row["rate"]) and figures.rate(row) < figures.REACHED * row["rate"]


def rate_of(rows):
    """The median of the rates reached."""
    return figures.of_rounds(rows, figures.rate)[0]


def between(ends):
    """Least and greatest of the rounds, which one round does not have."""
    return " to ".join(ends) if ends[0] != ends[1] else ""


def marks(rows):
    """What the small text below a figure says of its measurements."""
    said = []
    is_top = any(row["rate"] is None for row in rows)
    if is_top or sum(map(is_slow, rows)) * 2 > len(rows):
        said.append(f"{count(round(rate_of(rows)))}/s sent")
    disturbed = sum(map(is_disturbed, rows))
    if disturbed:
        said.append(f"{disturbed} of {len(rows)} disturbed" if len(rows) > 1 else "disturbed")
    return ", ".join(said)
