# SPDX-License-Identifier: MIT
# Steps -> what was measured beside what the node did, and their difference.
import statistics

US_PER_MS = 1000


def rows(document, part, rate):
    """(step, report) at this rate, by what was set."""
    found = [
        (row, report)
        for row in document["points"]
        if row["part"] == part
        for report in row["reports"]
        if report["rate"] == rate
    ]
    return sorted(found, key=lambda pair: (pair[0]["set"], pair[0]["round"]))


def true_loss(row):
    """In percent, of the packets that the node got; None if it got none."""
    node = row["node"]
    gone = node["packets"] - node["sent"]
    return 100 * gone / node["packets"] if node["packets"] else None


def loss(report):
    """(value, low, high) in percent; None if nothing was selected."""
    if report["loss"] is None or not report["loss_ci95"] or not report["sent"]:
        return None
    return tuple(100 * value for value in (report["loss"], *report["loss_ci95"]))


def delay(report):
    """(mean, low, high) in milliseconds; None if nothing arrived."""
    if report["delay_ms"] is None:
        return None
    return (report["delay_ms"], *(report["delay_ci95_ms"] or [report["delay_ms"]] * 2))


def difference(measured, true):
    """The same relative to the truth."""
    return tuple(value - true for value in measured)


def holds(measured, true):
    """Whether the interval contains the truth."""
    return measured[1] <= true <= measured[2]


def constant_ms(document, rate):
    """The time from the node's look at the clock to the second point's time stamp: the median over
    the steps of the medians' differences."""
    found = median_differences(document, rate)
    return statistics.median(found) / US_PER_MS if found else 0.0


def mean_differences(document, rate):
    """Measured mean minus the node's, in microseconds."""
    return [
        US_PER_MS * (report["delay_ms"] - row["node"]["delay_ms"])
        for row, report in rows(document, "delay", rate)
        if report["delay_ms"] is not None and row["node"]["delay_ms"] is not None
    ]


def median_differences(document, rate):
    return [
        US_PER_MS * (report["delay_p50_ms"] - row["node"]["delay_p50_ms"])
        for row, report in rows(document, "delay", rate)
        if report["delay_p50_ms"] is not None and row["node"]["delay_p50_ms"] is not None
    ]


def loss_pairs(document, rate):
    """(measured with its interval, true) of each step that has both, in percent."""
    pairs = [(loss(report), true_loss(row)) for row, report in rows(document, "loss", rate)]
    return [(measured, true) for measured, true in pairs if measured and true is not None]


def lost_by_measurement(document):
    """Packets that the measurement itself lost, by where."""
    total = {
        "lost by the first point": "first_lost",
        "lost by the second point": "second_lost",
    }
    found = {words: sum(row[key] for row in document["points"]) for words, key in total.items()}
    for key in ("full", "refused", "unsent", "too_long", "missed"):
        found[f"{key} at the node"] = sum(row["node"][key] for row in document["points"])
    return found
