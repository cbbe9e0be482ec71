#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi_stats() reports to a program what its own flows dropped, next to what those of all programs
dropped."""

import json
import pathlib
import struct
import subprocess
import tempfile
import unittest

import needs
from mapid import BUILD, DATA, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
ETHERNET, PRIVATE = 1, 147
FRAME = (
    bytes(12)
    + b"\x08\x00"
    + bytes.fromhex("4500001c000000004011000001010101020202020035003500080000")
)


def pcapng(*link_types):
    """One packet of each kind."""

    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    text = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    text += b"".join(block(1, struct.pack("<HHI", link_type, 0, 65535)) for link_type in link_types)
    return text + b"".join(
        block(6, struct.pack("<IIIII", number, 0, 1, len(FRAME), len(FRAME)) + FRAME)
        for number in range(len(link_types))
    )


class OwnDrops(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.mixed = pathlib.Path(temporary.name) / "mixed.pcapng"
        self.mixed.write_bytes(pcapng(ETHERNET, PRIVATE))
        self.mixed.chmod(0o644)
        pathlib.Path(temporary.name).chmod(0o755)

    def start(self, path):
        self.daemon = Daemon(f"[driver]\ndevice=tap\npath={path}\nrepeat=forever\n")
        self.addCleanup(self.daemon.close)
        self.path = path

    def stats(self, client):
        return client.get(
            "(lambda now: [getattr(now, name) for name in ('ps_drop', 'device_drop', "
            "'drop_buffer_full', 'drop_link_type', 'drop_not_written')])(stats_of('tap'))"
        )

    def test_drops_of_another_program_s_full_buffer_are_not_counted_as_own(self):
        self.start(TRACE)
        slow, other = self.daemon.client(), self.daemon.client()
        slow.do("flow = Flow.on_device('tap')\nbuffer = flow.apply('TO_BUFFER', 0)\nflow.connect()")
        other.do("flow = Flow.on_device('tap')\ncount = flow.apply('PKT_COUNTER')\nflow.connect()")
        self.assertTrue(wait_until(lambda: self.stats(slow)[2] > 1000))
        drop, of_device, buffer_full, _, _ = self.stats(other)
        self.assertEqual((drop, buffer_full), (self.stats(other)[0], 0))
        self.assertGreater(of_device, 1000)
        own = self.stats(slow)
        self.assertGreaterEqual(own[2], buffer_full)
        self.assertLessEqual(own[0], own[1])
        self.assertLessEqual(own[2], slow.get("flow.dropped(buffer)"))
        slow.do("flow.close()")  # what it dropped stays counted for it
        closed = self.stats(slow)
        self.assertGreaterEqual(closed[2], own[2])
        self.assertEqual(self.stats(other)[2], 0)
        slow.kill()
        self.assertEqual(self.stats(other)[2], 0)
        self.assertGreaterEqual(self.stats(other)[1], closed[2])
        table = json.loads(
            subprocess.run(
                [BUILD / "bin/mapi-info", "--json", "--socket", self.daemon.socket, "devices"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        self.assertGreaterEqual(
            table["devices"][0]["drops"]["buffer_full"],
            closed[2],
            "mapi-info reports those of the device",
        )

    def test_packets_that_a_shared_filter_could_not_evaluate_count_from_the_start_of_the_flow(self):
        self.start(self.mixed)
        use = (
            "flow = Flow.on_device('tap')\njudge = flow.apply('BPF_FILTER', 'udp')\nflow.connect()"
        )
        first, second = self.daemon.client(), self.daemon.client()
        first.do(use)
        self.assertTrue(wait_until(lambda: first.get("flow.dropped(judge)") > 100000))
        second.do(use)
        self.assertTrue(wait_until(lambda: second.get("flow.dropped(judge)") > 0))
        self.assertEqual(second.get("flow.information(judge).shared_with"), 1)
        dropped, seen = second.get("(lambda i: [i.dropped, i.pkts])(flow.information(judge))")
        self.assertLessEqual(dropped, seen)
        self.assertLessEqual(self.stats(second)[3] + 50000, self.stats(first)[3])
        first.do("flow.close()")
        before = self.stats(first)[3]
        self.assertTrue(wait_until(lambda: self.stats(second)[3] > before))
        self.assertEqual(self.stats(first)[3], before, "it has no flow any more")

    def test_for_a_single_program_own_drops_are_all_drops(self):
        self.start(TRACE)
        alone = self.daemon.alone()
        alone.do(
            "flow = Flow.on_device('tap')\nbuffer = flow.apply('TO_BUFFER', 0)\nflow.connect()"
        )
        self.assertTrue(wait_until(lambda: self.stats(alone)[2] > 1000))
        drop, of_device, buffer_full, _, _ = self.stats(alone)
        self.assertEqual(drop, of_device)
        self.assertGreater(buffer_full, 1000)

    def test_a_private_capture_belongs_to_no_other_program(self):
        self.start(TRACE)
        client = self.daemon.client()
        client.do(
            "device = ctypes.cast(Flow.library.mapi_create_offline_device, "
            "ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_char_p, "
            f"ctypes.c_int))({bytes(self.mixed)!r}, 0).decode()\n"
            "flow = Flow.on_device(device)\njudge = flow.apply('BPF_FILTER', 'udp')\n"
            "flow.connect()\nFlow.library.mapi_start_offline_device(device.encode())\n"
            "Flow.library.mapi_wait_flow(flow.fd, -1)\nstats = stats_of(device)"
        )
        self.assertEqual(
            client.get(
                "[stats.drop_link_type, stats.ps_drop, stats.device_drop, flow.dropped(judge)]"
            ),
            [1, 1, 1, 1],
        )


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
