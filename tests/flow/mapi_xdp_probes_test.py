#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# nsdump record -k programs -- mapi-flow: known packets on a pair of interfaces -> slices of the
# programs that the driver xdp has made, as often as the flows have counted.
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import mapi_interfaces
import needs
from nsbpf_library import NSDUMP, counts, run, stats_of

BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
GROUP = ("programs", "--kernel-recorder=bpf")
UDPS, OTHERS = 300, 200
FLOWS = (
    "BPF_FILTER udp | STR_SEARCH needle 0 0 | PKT_COUNTER",
    "BPF_FILTER udp | HASHSAMP 512 0 | PKT_COUNTER",
    "BPF_FILTER udp | TO_BUFFER 0",
    "PKT_COUNTER",
)


def udp():
    datagram = struct.pack("!HHHH", 1000, 2000, 28, 0) + b"a needle".ljust(20)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(datagram), 0, 0, 9, 17, 0)
    return bytes(6) + b"\2\0\0\0\0\1" + b"\x08\0" + head + b"\n\0\0\1\n\0\0\2" + datagram


OTHER = bytes(6) + b"\2\0\0\0\0\1" + b"\x88\xb5" + bytes(50)


def stages(stats):
    """counts() of the driver's programs alone."""
    return {name: count for name, count in counts(stats).items() if re.match("(xdp|tcx)_", name)}


class Probes(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="netslice-xdp-probes-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.trace = self.folder / "programs.nsl"
        mapi_interfaces.make_pair("near", "far")
        self.addCleanup(run, "ip", "link", "del", "near")

    def record(self, device, *options):
        """A recorded mapi-flow, whose flows are connected when this returns."""
        said = self.folder / "said"
        with open(said, "w") as file:
            self.process = subprocess.Popen(
                [
                    *map(str, (NSDUMP, "record", "-k", *GROUP, *options, "-w", self.trace, "--")),
                    *map(str, (BIN / "mapi-flow", "-i", device, "--json", "--interval", "0.2")),
                    *FLOWS,
                ],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"MAPI_SOCKET": "none"},
            )
        self.addCleanup(self.stop)
        self.said = said
        self.assertTrue(mapi_interfaces.wait_until(lambda: self.packets() == 0), said.read_text())

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def packets(self):
        """That the device has counted; None before it does."""
        found = re.findall(r'"statistics": ?\{"packets": ?(\d+)', self.said.read_text())
        return int(found[-1]) if found else None

    def send(self, interface, expected):
        """In turns, so that no ring is full."""
        for _ in range(UDPS // 30):
            mapi_interfaces.send(interface, udp(), count=30)
            mapi_interfaces.send(interface, OTHER, count=30 * OTHERS // UDPS)
            time.sleep(0.02)
        self.assertTrue(
            mapi_interfaces.wait_until(lambda: self.packets() == expected), self.said.read_text()
        )

    def end(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        os.kill(int(children.read_text().split()[0]), signal.SIGTERM)
        self.assertEqual(self.process.wait(timeout=60), 0, self.said.read_text())
        done = run(NSDUMP, "check", self.trace)
        self.assertIn("every one accounted for", done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout)
        return stats_of(self.trace)

    def check(self, stats, directions):
        expected = {}
        for name in directions:
            expected |= {
                f"{name}_packet": UDPS + OTHERS,
                f"{name}_filters": UDPS + OTHERS,
                f"{name}_search": UDPS,
                f"{name}_hash": UDPS,
                f"{name}_record": UDPS,
            }
        self.assertEqual(stages(stats), expected)
        self.assertTrue(stats["losses"]["equation_holds"])  # also of others' programs
        for unit in stats["units"]:
            if unit["name"].removeprefix("kernel:") in expected:  # else: of mapi-flow's engine
                self.assertEqual(unit["bytes"], UDPS * len(udp()) + OTHERS * len(OTHER))
        for one in stats["slices"]:
            self.assertGreater(one["values"][0]["raw"]["mean"], 0)
        for name in "crossed", "malformed", "unmatched_start", "unmatched_stop":
            self.assertEqual(stats["classes"][name], 0, stats["classes"])

    def test_each_counted_packet_has_its_slices(self):
        self.record("xdp:far")
        self.send("near", UDPS + OTHERS)
        self.check(self.end(), ["xdp"])

    def test_outgoing_packets_have_slices_of_their_own(self):
        self.record("xdp:far,both")
        self.send("near", UDPS + OTHERS)
        self.send("far", 2 * (UDPS + OTHERS))
        self.check(self.end(), ["xdp", "tcx"])

    def test_rules_select_stages(self):
        self.record("xdp:far", "--slices", "xdp_search")
        self.send("near", UDPS + OTHERS)
        self.assertEqual(stages(self.end()), {"xdp_packet": UDPS + OTHERS, "xdp_search": UDPS})


if __name__ == "__main__":
    needs.tools("ip", "unshare")
    if os.geteuid() != 0:
        needs.skip("requires root")
    with tempfile.TemporaryDirectory(prefix="netslice-xdp-probes-") as folder:
        done = run(NSDUMP, "kernel", *GROUP, "-d", "0.1", "-w", pathlib.Path(folder) / "k.nsl")
    if done.returncode != 0:
        needs.skip(done.stderr.strip())
    mapi_interfaces.enter_name_space(is_own_user=False)
    unittest.main()
