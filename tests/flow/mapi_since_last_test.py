#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""results=since_last of a device: each reader of a count gets its growth since that reader's
previous read, in process and through mapid."""

import os
import pathlib
import subprocess
import unittest

import needs
from mapid import BUILD, DATA, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
PACKETS, BYTES, TCP = 893, 283464, 596
CONFIG = (
    f"[driver]\ndevice=/dev/scampi/0\npath={TRACE}\nrepeat=20\nresults=since_last\n[driver]\n"
    f"device=plain\npath={TRACE}\nrepeat=20\nresults=total\n"
    f"[driver]\ndevice=endless\npath={TRACE}\nrepeat=forever\nresults=since_last\n"
)
ROUNDS = 20


class SinceLast(unittest.TestCase):
    def clients(self, config=CONFIG):
        for kind in ("alone", "client"):
            daemon = Daemon(config)
            self.addCleanup(daemon.close)
            yield getattr(daemon, kind)()

    def test_what_is_read_adds_up_to_the_total_however_often_each_reader_reads(self):
        for client in self.clients():
            client.do(
                "flow = Flow.on_device('/dev/scampi/0')\n"
                "all_of, size = flow.apply('PKT_COUNTER'), flow.apply('BYTE_COUNTER')\n"
                "flow.apply('BPF_FILTER', 'tcp')\n"
                "tcp = flow.apply('PKT_COUNTER')\nflow.connect()\nsums = [0, 0, 0]\n"
                "def add():\n    for i, function in enumerate((all_of, size, tcp)): sums[i] += "
                "flow.word(function)\n"
                "for _ in range(50): add()\n"
                "assert flow.library.mapi_wait_flow(flow.fd, 20000) == 0\nadd()"
            )
            self.assertEqual(client.get("sums"), [PACKETS * ROUNDS, BYTES * ROUNDS, TCP * ROUNDS])
            self.assertEqual(
                client.get("[flow.word(function) for function in (all_of, size, tcp)]"), [0, 0, 0]
            )

    def test_each_flow_has_its_own_last_read_also_if_they_share_the_count(self):
        for client in self.clients():
            client.do(
                "flows = [Flow.on_device('endless') for _ in range(2)]\n"
                "one, other = [flow.apply('PKT_COUNTER') for flow in flows]\n"
                "for flow in flows: flow.connect()\nflows[0].word(one)\ntaken = reads = 0\n"
                "while taken < 50000 or reads < 20:\n    taken += flows[0].word(one)\n"
                "    reads += 1\n    time.sleep(0.01)\nwhole = flows[1].word(other)"
            )
            taken, whole = client.get("[taken, whole]")
            # the sum of the first one's many reads, except those before the second was connected
            self.assertGreaterEqual(whole, taken // 2)
            self.assertLess(
                client.get("flows[1].information(other).pkts - whole"),
                client.get("flows[1].information(other).pkts"),
            )

    def test_other_results_and_functions_that_refer_to_the_count_have_the_total(self):
        for client in self.clients():
            client.do(
                "flow = Flow.on_device('/dev/scampi/0')\n"
                "packets, size = flow.apply('PKT_COUNTER'), flow.apply('PKTINFO', 1)\n"
                "stats = flow.apply('STATS', flow.fd, size, '0')\n"
                "twice = flow.apply('BINOP', 0, flow.fd, packets, flow.fd, packets)\n"
                "flow.connect()\nassert flow.library.mapi_wait_flow(flow.fd, 20000) == 0"
            )
            for _ in range(2):
                self.assertEqual(
                    client.get("[flow.words(stats)[0], flow.word(twice)]"),
                    [PACKETS * ROUNDS, 2 * PACKETS * ROUNDS],
                )
                self.assertEqual(client.get("flow.information(packets).pkts"), PACKETS * ROUNDS)

    def test_a_reset_loses_and_repeats_nothing_afterwards(self):
        for client in self.clients():
            client.do(
                "flow = Flow.on_device('endless')\npackets = flow.apply('PKT_COUNTER')\n"
                "flow.connect()"
            )
            self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > 1000))
            client.do("flow.reset(packets)\nfirst = flow.word(packets)")
            self.assertLess(client.get("first"), 1 << 32)
            self.assertLess(client.get("flow.word(packets)"), 1 << 32)

    def test_without_the_key_and_with_total_results_are_totals(self):
        for client in self.clients():
            client.do(
                "flow = Flow.on_device('plain')\npackets = flow.apply('PKT_COUNTER')\n"
                "flow.connect()\nassert flow.library.mapi_wait_flow(flow.fd, 20000) == 0"
            )
            self.assertEqual(
                client.get("[flow.word(packets), flow.word(packets)]"), [PACKETS * ROUNDS] * 2
            )

    def test_a_capture_of_the_program_has_it_by_mapi_set_device_option(self):
        for client in self.clients():
            client.do(
                "name = Flow.library.mapi_create_offline_device\nname.restype = ctypes.c_char_p\n"
                f"device = name({str(TRACE).encode()!r}, 0)\n"
                "assert Flow.library.mapi_set_device_option(device, b'results', b'since_last') == "
                "0\nflow = Flow.on_device(device.decode())\n"
                "packets = flow.apply('PKT_COUNTER')\nflow.connect()\n"
                "assert Flow.library.mapi_start_offline_device(device) == 0\n"
                "assert flow.library.mapi_wait_flow(flow.fd, 20000) == 0"
            )
            self.assertEqual(client.get("[flow.word(packets), flow.word(packets)]"), [PACKETS, 0])

    def test_an_unknown_value_is_reported_with_its_line(self):
        daemon = Daemon(CONFIG)
        self.addCleanup(daemon.close)
        daemon.config.write_text("[driver]\ndevice=x\nresults=delta\n")
        done = subprocess.run(
            [BUILD / "bin/mapid", "--config", daemon.config, "--check"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stdout + done.stderr, r"mapi\.conf:3: .*results=delta: must be total or since_last"
        )


class Appendix(unittest.TestCase):
    """The program of D3.4, Appendix A, as published: it adds up what it reads."""

    def total(self, **environment):
        program = subprocess.Popen(
            ["stdbuf", "-oL", BUILD / "bin/appendix_a"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            lines = [int(program.stdout.readline().split()[-1]) for _ in range(12)]
        finally:
            program.kill()
            program.wait()
            program.stdout.close()
        return lines

    def test_its_total_is_the_number_of_packets_in_process_and_through_mapid(self):
        daemon = Daemon(CONFIG)
        self.addCleanup(daemon.close)
        for socket in ("none", str(daemon.socket)):
            environment = os.environ | {
                "MAPI_SOCKET": socket,
                "MAPI_CONF": str(daemon.config),
                "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0",
            }
            lines = self.total(**environment)
            self.assertEqual(lines[-1], PACKETS * ROUNDS, lines)
            self.assertEqual(lines, sorted(lines))

    def test_the_shipped_example_has_it_for_scampi_s_devices(self):
        example = (
            pathlib.Path(os.environ["NETSLICE_SOURCE"])
            / "mapi-core/engine/config/mapi.conf.example"
        ).read_text()
        sections = [
            section for section in example.split("[driver]")[1:] if "device=/dev/scampi/" in section
        ]
        self.assertGreater(len(sections), 0)
        for section in sections:
            self.assertIn("\nresults=since_last\n", section)


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
