# SPDX-License-Identifier: MIT
# One measurement: a reader that runs, packets that are sent -> what was lost, and CPU time.
import time

from . import cpu_time

_LOOK_S = 0.02
_QUIET_S = 0.2  # longer than a reader waits for a block of packets to fill
PATIENT_S = 5


def idle(reader, sleep=time.sleep):
    """The reader's counts when it has nothing left to do."""
    counts = reader.counts()
    for _ in range(int(PATIENT_S / _LOOK_S)):
        sleep(_LOOK_S)
        later = reader.counts()
        if later["received"] == counts["received"]:
            return later
        counts = later
    return counts


def settled(reader, sent, begin, patience_s, clock=time.monotonic, sleep=time.sleep):
    """The reader's counts once it has all packets, when no more arrive, or after patience_s."""
    end_s = clock() + patience_s
    counts = reader.counts()
    quiet_from_s = clock()
    while clock() < end_s and clock() - quiet_from_s < _QUIET_S:
        if counts["received"] - begin["received"] >= sent:
            break
        sleep(_LOOK_S)
        later = reader.counts()
        if later["received"] != counts["received"]:
            quiet_from_s = clock()
        counts = later
    return counts


def _since(begin, end, key):
    return None if begin[key] is None or end[key] is None else end[key] - begin[key]


def _softirq_ns(begin, end):
    """Sum over the CPUs; None if it is not measured."""
    if not begin["softirq_ns"]:
        return None
    return sum(end["softirq_ns"]) - sum(begin["softirq_ns"])


def measured(reader, sender, packets, patience_s=PATIENT_S, **options):
    """The raw values of one measurement.  patience_s: how long the reader may take after the last
    packet was sent; what it has not processed then is late."""
    process, begin = reader.process.pid, idle(reader)
    program, waited_ns = cpu_time.program_runs(process), cpu_time.waited_ns(process)
    steal_ns, begin_s = cpu_time.steal_ns(), time.monotonic()
    sent = sender.send(packets, **options)
    is_watched = bool(reader.about["place"])
    end = settled(reader, sent["packets"], begin, patience_s) if is_watched else reader.counts()
    reader_s = time.monotonic() - begin_s
    ran = cpu_time.program_runs(process)
    return {
        "method": sent["method"],
        "sent": sent["packets"],
        "bytes": sent["bytes"],
        "refused": sent["refused"],
        "sender_dropped": sent["dropped"],
        "seconds": sent["seconds"],
        "behind": sent["behind"],
        "sender_s": round(sent["cpu_s"], 6),
        "softirq_ns": _softirq_ns(begin, end),
        "received": _since(begin, end, "received"),
        "dropped": _since(begin, end, "dropped"),
        "reader_ns": _since(begin, end, "cpu_ns"),
        "reader_s": round(reader_s, 6),
        "idle_share": round(reader.idle_share, 6),
        "steal_ns": cpu_time.steal_ns() - steal_ns,
        "waited_ns": cpu_time.waited_ns(process) - waited_ns,
        "instructions": _since(begin, end, "instructions"),
        "program_ns": ran[0] - program[0],
        "program_runs": ran[1] - program[1],
        "place": reader.about["place"],
    }
