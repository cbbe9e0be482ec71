#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sids on captures, with and without mapid: counts, copies and alerts agree with tcpdump and
tshark."""

import re
import subprocess
import unittest
from collections import Counter

from mapi_flow_library import TRACE, tcpdump
from mapid import DATA, Daemon
from sids_library import DEMO, SIDS, SidsTest, alerts_of, packets, rows

FILTERS = [
    "tcp",
    "udp port 53",
    "icmp or icmp6",
    "tcp and dst port 80",
    "tcp[tcpflags] & tcp-syn != 0",
    "ip[8] < 10",
    "net 10.0.0.0/8",
    "portrange 1000-2000",
    "greater 1000",
    "not ip",
    "vlan",
    "",
]


def captures():
    found = [DEMO]
    if TRACE.exists():
        found += [TRACE, DATA / "mapi/www.trace"]
    found += sorted((DATA / "chrissanders+packets").glob("*.pcap*"))[:3]
    return found


def count_of(capture, *arguments):
    return int(tcpdump(capture, "--count", *arguments).split()[0])


def lines_of(capture, *arguments):
    return tcpdump(capture, *arguments).splitlines()


class Counts(SidsTest):
    def test_rules_with_a_filter_count_the_packets_that_tcpdump_counts(self):
        rules = "".join(f"count {text}; id:{i + 1};\n" for i, text in enumerate(FILTERS))
        daemon = Daemon()
        self.addCleanup(daemon.close)
        for capture in captures():
            expected = {
                i + 1: count_of(capture, *([text] if text else []))
                for i, text in enumerate(FILTERS)
            }
            for socket in "none", daemon.socket:
                with self.subTest(capture=capture.name, socket=socket):
                    table = self.table(rules, "-r", capture, "--all", socket=socket)
                    self.assertEqual(packets(table), expected)

    def test_the_table_has_bytes_and_the_time_of_the_last_packet_of_rules_that_matched(self):
        table = self.table(
            'count udp port 53; msg:"na\tme"; id:7;\ncount tcp port 1; id:8;\n', "-r", DEMO
        )
        seen = lines_of(DEMO, "-tttt", "-e", "udp port 53")
        lengths = [int(re.search(r"length (\d+):", line)[1]) for line in seen]
        last = subprocess.run(
            ["tcpdump", "-n", "-tttt", "-r", DEMO, "udp port 53"],
            capture_output=True,
            text=True,
            check=True,
            env={"TZ": "UTC", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        ).stdout.splitlines()[-1]
        self.assertEqual(table.splitlines()[0], "#id\tpackets\tbytes\tlast\tmessage")
        self.assertEqual(
            rows(table), {7: [str(len(seen)), str(sum(lengths)), last[:26], "na\\x09me"]}
        )

    def test_a_pipe_is_read(self):
        with open(DEMO) as capture:
            self.rules.write_text("count tcp; id:1;\n")
            program = subprocess.run(
                [SIDS, "-R", self.rules, "-r", "-"],
                stdin=capture,
                capture_output=True,
                text=True,
                check=True,
            )
        self.assertEqual(packets(program.stdout), {1: count_of(DEMO, "tcp")})

    def test_an_erf_file_is_read(self):
        captures_of_dag = sorted((DATA / "derived-erf").glob("*.erf"))
        if not captures_of_dag:
            self.skipTest("no ERF files")
        table = self.table("count; id:1;\n", "-r", captures_of_dag[0], "--erf")
        self.assertGreater(packets(table)[1], 0)


class Copies(SidsTest):
    def test_a_copy_has_the_packets_of_its_rule(self):
        (self.folder / "to").mkdir()
        self.table(
            "copy udp port 53; id:2;\ncount tcp; id:3;\ncopy tcp port 1; id:4;\n",
            "-r",
            DEMO,
            "--copy-folder",
            "to",
            "--alerts",
            "alerts",
        )
        names = sorted(path.name for path in (self.folder / "to").iterdir())
        self.assertEqual(names, ["2.pcapng", "4.pcapng"])
        self.assertEqual(
            lines_of(self.folder / "to/2.pcapng", "-xx"), lines_of(DEMO, "-xx", "udp port 53")
        )
        empty = subprocess.run(
            ["tshark", "-r", self.folder / "to/4.pcapng"], capture_output=True, check=True
        )
        self.assertEqual(empty.stdout, b"")

    def test_a_copy_overwrites_no_file(self):
        (self.folder / "2.pcapng").write_text("precious")
        self.table("copy udp port 53; id:2;\n", "-r", DEMO)
        self.table("copy udp port 53; id:2;\n", "-r", DEMO)
        self.assertEqual((self.folder / "2.pcapng").read_text(), "precious")
        for name in "2-2.pcapng", "2-3.pcapng":
            self.assertEqual(count_of(self.folder / name), count_of(DEMO, "udp port 53"))

    def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_read(self):
        for name, why in ("none", "No such file"), ("a.rules", "is not a folder"):
            program = self.sids("copy udp; id:2;\n", "-r", DEMO, "--copy-folder", name)
            self.assertEqual(program.returncode, 2)
            self.assertIn(f"sids: --copy-folder {name}: {why}", program.stderr)

    def test_rules_that_are_refused_leave_no_copies(self):
        program = self.sids("copy udp; id:2;\ncopy tcp port port; id:3;\n", "-r", DEMO)
        self.assertEqual(program.returncode, 2)
        self.assertEqual(list(self.folder.glob("*.pcapng")), [])


class Alerts(SidsTest):
    RULES = (
        'count udp port 53; msg:"DNS \\"query\\""; id:7; gid:3; rev:2; classtype:dns; priority:1;\n'
        "count icmp6; id:8; classtype:known;\ncount arp; id:9;\n"
    )

    def test_alerts_have_the_ends_of_each_packet_as_tshark_has_them(self):
        output = self.table(self.RULES, "-r", DEMO, "--json")
        alerts, stats = alerts_of(output)
        shown = self.tshark("udp.port == 53 and ip")
        self.assertEqual(
            [
                (a["src_ip"], str(a["src_port"]), a["dest_ip"], str(a["dest_port"]), a["proto"])
                for a in alerts
                if a["alert"]["signature_id"] == 7 and "." in a["src_ip"]
            ],
            [(*words, "UDP") for words in shown],
        )
        self.assertEqual(
            next(a["alert"] for a in alerts if a["alert"]["signature_id"] == 7),
            {
                "action": "allowed",
                "gid": 3,
                "signature_id": 7,
                "rev": 2,
                "signature": 'DNS "query"',
                "category": "dns",
                "severity": 1,
            },
        )
        counts = Counter(a["alert"]["signature_id"] for a in alerts)
        self.assertEqual(counts[7], count_of(DEMO, "udp port 53"))
        self.assertEqual(counts[8], count_of(DEMO, "icmp6"))
        self.assertEqual(
            (stats["alerts"], stats["packets"], stats["rules"], stats["is_complete"]),
            (len(alerts), count_of(DEMO), 3, True),
        )
        self.assertEqual(stats["rules_matched"], len(counts))

    def tshark(self, condition):
        fields = [
            word
            for name in ("ip.src", "udp.srcport", "ip.dst", "udp.dstport")
            for word in ("-e", name)
        ]
        shown = subprocess.run(
            ["tshark", "-n", "-r", DEMO, "-Y", condition, "-T", "fields", *fields],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return [tuple(line.split("\t")) for line in shown.splitlines()]

    def test_alerts_are_in_the_order_of_their_times_and_name_the_icmp_type(self):
        alerts, _ = alerts_of(self.table(self.RULES, "-r", DEMO, "--json"))
        times = [alert["timestamp"] for alert in alerts]
        self.assertEqual(times, sorted(times))
        icmp = next(a for a in alerts if a["alert"]["signature_id"] == 8)
        self.assertEqual(icmp["proto"], "IPv6-ICMP")
        self.assertIn("icmp_type", icmp)
        self.assertNotIn("src_port", icmp)

    def test_a_classification_gives_category_and_severity(self):
        (self.folder / "c").write_text("# x\nconfig classification: known, Known, or not, 2\n")
        alerts, _ = alerts_of(self.table(self.RULES, "-r", DEMO, "--json", "--classification", "c"))
        alert = next(a["alert"] for a in alerts if a["alert"]["signature_id"] == 8)
        self.assertEqual((alert["category"], alert["severity"]), ("Known, or not", 2))

    def test_a_classification_that_cannot_be_read_is_refused(self):
        for line in "nothing", "config classification: a, A, 1a", "config classification: a, A, ":
            (self.folder / "c").write_text("# x\n" + line + "\n")
            self.assert_classification_is_refused("c", "c:2: ")
        self.assert_classification_is_refused("none", "none: No such file")
        self.assert_classification_is_refused(self.folder, f"{self.folder}: Is a directory")

    def assert_classification_is_refused(self, path, why):
        program = self.sids(self.RULES, "-r", DEMO, "--json", "--classification", path)
        self.assertEqual(program.returncode, 2)
        self.assertIn("sids: " + why, program.stderr)

    def test_alerts_are_added_to_a_file_beside_the_table(self):
        for _ in range(2):
            table = self.table(self.RULES, "-r", DEMO, "--alerts", "alerts")
        text = (self.folder / "alerts").read_text()
        self.assertEqual(text.count('"signature_id":7'), 2 * packets(table)[7])

    def test_a_small_buffer_loses_no_alert_of_a_capture(self):
        output = self.table("count; id:1;\n", "-r", DEMO, "--json", "--buffer", "4096")
        alerts, stats = alerts_of(output)
        self.assertEqual(len(alerts), count_of(DEMO))
        self.assertEqual(stats["buffer_full"], 0)


if __name__ == "__main__":
    unittest.main()
