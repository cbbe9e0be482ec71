# SPDX-License-Identifier: MIT
# nsdump: traces of the player's programs that have probes -> net figures of their slices.
#
# Each command of the Run phase has NETSLICE=output=... in its environment, unless it sets NETSLICE
# itself.  A trace is whole when its program has ended, so they are read at the end of the trial.
import json
import shlex

from .collector import CollectorError
from .snapshot import ShellCollector

MOST_TRACES = 64  # of one trial, read; further ones are counted
_STATS_S = 300


def figures(document):
    """What nsdump stats --json printed -> net values, losses and warnings."""
    return {
        "command": document["info"].get("program.command", ""),
        "lost": sum(document["losses"]["lost"].values()),
        "issued": document["losses"]["issued"],
        "warnings": document["warnings"] + [str(text) for text in document["incomplete"]],
        "slices": {one["name"]: _slice(one, document) for one in document["slices"]},
    }


def _slice(one, document):
    """By field: the clock's in ns."""
    found = {"count": one["count"], "packets": one["packets"]}
    for value in one["values"]:
        is_time = value["field"] == "ticks"
        factor = 1e9 / document["clock"]["hz"] if is_time else 1
        name = "ns" if is_time else value["field"]
        net, packet = value["net"] or {}, value.get("per_packet") or {}
        found[name] = {
            "net": _scaled(net.get("trimmed_mean"), factor),
            "net_ci95": _scaled(net.get("trimmed_ci95"), factor),
            "net_total": _scaled(net.get("total"), factor),
            "net_per_packet": _scaled(packet.get("net_trimmed"), factor),
        }
    return found


def _scaled(value, factor):
    return None if value is None else value * factor


class NsdumpCollector(ShellCollector):
    NAME = "nsdump"
    PROGRAMS = ("nsdump",)

    def __init__(self, player, folder):
        super().__init__(player, folder)
        self._folder = None

    def start(self):
        self._folder = self.make_folder()

    def prelude(self):
        output = shlex.quote(f"output={self._folder}/%p.nsl")
        return f": ${{NETSLICE={output}}}; export NETSLICE; "

    def stop(self):
        return {}

    def finish(self):
        if self._folder is None:
            return {}
        try:
            listed = self.run(f"cd {shlex.quote(self._folder)} && ls -tr", "list").text
            names = [line for line in listed.partition("\n==> ")[0].split() if line]
            traces = [self._trace(name) for name in names[:MOST_TRACES]]
        finally:
            self.remove_folder(self._folder)
            self._folder = None
        return {
            "traces": traces,
            "not_read": len(names) - len(traces),
            "cost": {**self.cost.as_json(), "in_programs": "subtracted in net values"},
        }

    def _trace(self, name):
        path = f"{self._folder}/{name}"
        stats = self.run(
            f"nsdump stats --json {shlex.quote(path)}",
            f"{name}-stats",
            timeout_s=_STATS_S,
            may_fail=True,
        )
        here = self.fetch(path, name)
        try:
            found = figures(json.loads(stats.text.partition("\n==> ")[0]))
        except (ValueError, KeyError, TypeError) as error:
            raise CollectorError(f"{here.name}: nsdump stats: {error!r}") from error
        return {"file": here.name, "bytes": here.stat().st_size, **found}
