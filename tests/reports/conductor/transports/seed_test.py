# SPDX-License-Identifier: MIT
# The published master and player files run as they stand, with their FreeBSD programs replaced.
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import SKIP, SOURCE, ConductCase, main  # noqa: E402

SEEDS = pathlib.Path(SOURCE, "../shared/seeds")
NETWORK = """
[Transport]
client1: namespace
client2: namespace
client3: namespace
[Network]
link: client1 ix0 172.16.0.1/24 client2 ix0 -
link: client2 ix1 - client3 ix0 172.16.1.3/24
"""
PMCSTAT = """#!/bin/sh
echo "$@" >> CALLS
case "$*" in *-O*) echo samples > "$2";; *-G*) cat "$2" > "$4";; esac
"""
HOSTS = {"source": "echo sending", "sink": "echo receiving"}


def published(title):
    """The text of a listing of the document with this title."""
    for path in SEEDS.glob("004_*.txt"):
        found = re.search(rf"# {title}\n\n```\n(.*?)```", path.read_text(), re.DOTALL)
        return found[1] if found else None
    return None


class SeedTest(ConductCase):
    def program(self, name, text):
        path = self.path(os.path.join("bin", name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.write(path, text.replace("CALLS", self.path("calls")))
        os.chmod(path, 0o755)

    def test_the_published_experiment_runs_in_three_namespaces(self):
        for folder in ("memdisk", "kernel"):
            os.mkdir(self.path(folder))
        places = {
            "/mnt/memdisk": self.path("memdisk"),
            "/tmp/results": self.path("results"),
            "/boot/kernel": self.path("kernel"),
        }
        text = published("Player Config")
        for place, here in places.items():
            text = text.replace(place, here)
        self.write("dut.cfg", text)
        for name, command in HOSTS.items():
            self.player(name, run=f"step1:{command}", reset="step1:echo bye")
        self.write("master.cfg", published("Conductor Config") + NETWORK)
        self.program("pmcstat", PMCSTAT)
        self.program("pmcannotate", '#!/bin/sh\necho annotated "$2"\n')
        self.run_master(env={"PATH": f"{self.path('bin')}:{os.environ['PATH']}"})

        steps = [(s["phase"], s["step"]) for s in self.steps() if s["player"] == "client2"]
        counts = {"startup": 4, "run": 2, "collect": 6, "reset": 1}
        expected = [(p, f"step{i}") for p in counts for i in range(1, counts[p] + 1)]
        self.assertEqual(steps, expected)
        self.assertIn("3 received", self.output("1/default/client2/startup-step4.out"))
        self.assertEqual(self.output("1/default/client2/reset-step1.out"), "system_reset:goodbye\n")
        graph = self.read("results/pktgen-instruction-retired.graph")
        self.assertEqual(graph, "samples\n")
        annotated = self.read("results/pktgen-instruction-retired.ann")
        self.assertEqual(annotated, f"annotated {self.path('kernel')}/kernel\n")
        self.assert_nothing_left()


absent = [name for name in ("ip", "ifconfig", "ping") if not shutil.which(name)]
if not published("Player Config"):
    print("skipped: the published files are not there (../shared/seeds)")
    sys.exit(SKIP)
if os.geteuid() != 0 or absent:
    print(f"skipped: {'not installed: ' + absent[0] if absent else 'requires root'}")
    sys.exit(SKIP)
main()
