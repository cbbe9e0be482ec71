#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-flow on captures, with and without mapid: its output agrees with tcpdump and tshark."""

import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import unittest
from collections import Counter
from socket import AF_INET, SOCK_DGRAM, socket as open_socket

import mapi_flows
import needs
from mapi_flow_library import DEMO, FLOW, TRACE, run, tcpdump
from mapid import Daemon, wait_until


def rows(program):
    """The words of each line by flow and function. A function whose library is missing from this
    build is not tested."""
    if "unavailable: built without" in program.stderr:
        raise unittest.SkipTest(program.stderr)
    assert program.returncode == 0, program.stderr
    return {
        words[0]: words[1:]
        for words in (line.split("\t") for line in program.stdout.splitlines())
        if not words[0].startswith("#")
    }


def counts(text):
    """Parses "name=count" words."""
    return {name: int(count) for name, count in (word.split("=") for word in text.split())}


def frames(capture):
    """Bytes of each packet of a pcap file."""
    content = pathlib.Path(capture).read_bytes()
    order, at = ("<" if content[0] in (0xD4, 0x4D) else ">"), 24
    while at < len(content):
        bytes_of = struct.unpack_from(order + "I", content, at + 8)[0]
        yield content[at + 16 : at + 16 + bytes_of]
        at += 16 + bytes_of


def hexes(lines):
    """The hexadecimal digits in tcpdump's own output."""
    return "".join("".join(line.split()[1:]) for line in lines.splitlines())


class Captures(unittest.TestCase):
    def sockets(self):
        """With a mapid, and without."""
        daemon = Daemon()
        self.addCleanup(daemon.close)
        return daemon.socket, "none"

    def test_strings_that_ignore_case_are_found_by_themselves_and_among_many(self):
        packets = [packet.lower() for packet in frames(TRACE)]
        words = (
            "http/1.",
            "HTTP/1.",
            "hTTP",
            "gEt /",
            "wWw",
            "Server:",
            "||".join(("zz", "COOKIE")),
            "|48 74|tp",
            "oK",
            "content-",
            "Mozilla",
            "x-",
        )
        for socket in self.sockets():
            # Eight and more searches are one scan for all.
            for some in (words[:1], words):
                found = rows(
                    run(
                        "-r",
                        TRACE,
                        *(f"STR_SEARCH '{word}' 0 0 nocase" for word in some),
                        *(f"STR_SEARCH '{word}' 0 0" for word in some),
                        socket=socket,
                    )
                )
                for i, word in enumerate(some, 1):
                    wanted = ["Http"] if word.startswith("|") else word.split("||")
                    self.assertEqual(
                        int(found[f"{i}.1"][2]),
                        sum(
                            any(one.lower().encode() in packet for one in wanted)
                            for packet in packets
                        ),
                        word,
                    )
                    self.assertEqual(
                        int(found[f"{i + len(some)}.1"][2]),
                        sum(
                            any(one.encode() in packet for one in wanted)
                            for packet in frames(TRACE)
                        ),
                        word,
                    )
        self.assertGreater(sum(b"http/1." in packet for packet in packets), 20)

    def test_flows_filter_and_count_what_tcpdump_does(self):
        filters = "tcp", "udp port 53", "greater 1000"
        for socket in self.sockets():
            found = rows(
                run(
                    "-r",
                    TRACE,
                    *(f"BPF_FILTER '{text}' | PKT_COUNTER" for text in filters),
                    socket=socket,
                )
            )
            for number, text in enumerate(filters, 1):
                self.assertEqual(
                    found[f"{number}.2"][4], tcpdump(TRACE, "--count", text).split()[0]
                )

    def test_a_string_is_searched_after_a_filter(self):
        found = rows(run("-r", TRACE, "BPF_FILTER tcp | STR_SEARCH 'HTTP/1.' 0 0"))
        judge = subprocess.run(
            ["tshark", "-n", "-r", TRACE, "-Y", 'tcp and frame contains "HTTP/1."'],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertEqual(int(found["1.2"][2]), len(judge.splitlines()))
        self.assertGreater(int(found["1.2"][2]), 0)

    def test_packets_of_a_buffer_are_printed_in_order_with_their_bytes(self):
        lines = [
            line.split("\t")
            for line in run("-r", TRACE, "BPF_FILTER 'udp' | TO_BUFFER").stdout.splitlines()
        ]
        packets = [
            words[2].split()
            for words in lines
            if words[:2] == ["1.2", "TO_BUFFER"] and len(words) == 3
        ]
        self.assertEqual(len(packets), int(tcpdump(TRACE, "--count", "udp").split()[0]))
        judge = re.findall(
            r"^(\d+\.\d+) (?:.*\n)((?:\t0x.*\n)+)", tcpdump(TRACE, "-tt", "-xx", "udp"), re.M
        )
        self.assertEqual(
            [
                (float(seconds), int(caplen.partition("=")[2]), text)
                for seconds, caplen, _, text in packets
            ],
            [(float(seconds), len(hexes(lines)) // 2, hexes(lines)) for seconds, lines in judge],
        )
        self.assertEqual([words[0] for words in lines[-3:]], ["#flow.function", "1.1", "1.2"])

    def test_results_read_one_by_one_add_up_to_the_total(self):
        for socket in self.sockets():
            lines = [
                line.split("\t")
                for line in run(
                    "-r", TRACE, "PKT_COUNTER | BUCKET @1 100ms 1", socket=socket
                ).stdout.splitlines()
            ]
            grown = [
                int(words[2].split()[1])
                for words in lines
                if words[:2] == ["1.2", "BUCKET"] and len(words) == 3
            ]
            self.assertGreater(len(grown), 2)
            self.assertEqual(sum(grown), int(tcpdump(TRACE, "--count").split()[0]))

    def test_samples_that_are_not_kept_are_not_results(self):
        for socket in self.sockets():
            found = rows(run("-r", TRACE, "HASHSAMP 1024 0 | PKT_COUNTER", socket=socket))
            self.assertEqual((found["1.1"][4], found["1.2"][4]), ("", found["1.1"][2]))

    def test_flows_that_are_reported_to_a_file_are_not_results(self):
        for socket in self.sockets():
            for name in "NETFLOW_V5", "NETFLOW_V9", "IPFIX":
                with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                    report = pathlib.Path(folder) / name
                    self.assertEqual(
                        rows(run("-r", TRACE, f"FLOW_REPORT {name} {report} '' ''", socket=socket))[
                            "1.1"
                        ][4],
                        "",
                    )
                    self.assertGreater(report.stat().st_size, 0)

    def test_flows_are_reported_to_a_collector_of_this_machine(self):
        with open_socket(AF_INET, SOCK_DGRAM) as collector:
            collector.bind(("127.0.0.1", 0))
            found = rows(
                run(
                    "-r",
                    TRACE,
                    f"FLOW_REPORT NETFLOW_V5 127.0.0.1:{collector.getsockname()[1]} '' ''",
                )
            )
            self.assertEqual(found["1.1"][4], "")
            self.assertEqual(collector.recv(1 << 16)[:2], b"\x00\x05")

    def test_expired_flows_are_reported_as_tshark_sees_them(self):
        judge = Counter(
            (
                f"{flow.key[0]} {flow.key[2]} > {flow.key[1]} {flow.key[3]} "
                f"protocol={flow.key[4]} packets={flow.packets} bytes={flow.wire_bytes} "
                f"ttl={flow.ttl}"
            )
            for flow in mapi_flows.flows_of(mapi_flows.read_packets(DEMO), 30 * 10**9)
        )
        # of both IP versions
        self.assertTrue(any(":" in flow for flow in judge) and any("." in flow for flow in judge))
        for socket in self.sockets():
            totals, *flows = rows(run("-r", DEMO, "EXPIRED_FLOWS 65535 0 0", socket=socket))["1.1"][
                4
            ].split(", ")
            times, texts = zip(*(flow.split(" ", 1) for flow in flows))
            self.assertEqual(
                Counter(
                    text
                    for text in texts
                    if re.search(r" protocol=(6|17) ", text) and " 0 > " not in text
                ),
                judge,
            )
            self.assertTrue(all(re.fullmatch(r"\d+\.\d{9}", time) for time in times))
            totals = counts(totals)
            self.assertEqual(
                (totals["sent"], totals["received"], totals["dropped"]), (len(flows), len(flows), 0)
            )
            self.assertEqual(
                totals["packets_received"] + totals["other"],
                int(tcpdump(DEMO, "--count").split()[0]),
            )

    def test_expired_flows_are_all_reported_even_if_a_read_returns_two(self):
        for socket in self.sockets():
            flows = []
            for flow in "EXPIRED_FLOWS 65535 0 0", "EXPIRED_FLOWS 2 1000 0":
                program = run("-r", DEMO, flow, socket=socket)
                self.assertEqual(program.returncode, 0, program.stderr)
                lines = [line.split("\t") for line in program.stdout.splitlines()[1:]]
                self.assertEqual({line[0] for line in lines}, {"1.1"})
                reads = [line[5].split(", ") for line in lines]
                self.assertTrue(
                    all(counts(totals)["sent"] == len(reported) > 0 for totals, *reported in reads)
                )
                flows.append(Counter(flow for _, *reported in reads for flow in reported))
            self.assertGreater(len(flows[0]), 100)
            self.assertEqual(*flows)

    def test_expired_flows_that_wait_at_the_end_of_a_device_are_all_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            source, config, dump = (
                pathlib.Path(folder) / name for name in ("source", "mapi.conf", "dump")
            )
            os.mkfifo(source)
            config.write_text(f"[driver]\ndevice=tap\npath={source}\n")
            program = subprocess.Popen(
                [FLOW, "-i", "tap", f"EXPIRED_FLOWS 2 100 0 | TO_FILE 0 {dump} 0"],
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {"MAPI_SOCKET": "none", "MAPI_CONF": str(config)},
            )
            self.addCleanup(program.kill)
            with open(source, "wb") as file:  # each port's flow ends with the packet of the next
                file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
                for port in range(1, 32):
                    packet = (
                        b"\2" * 12
                        + b"\x08\0"
                        + struct.pack(
                            ">BBHHHBBH4s4sHHHH",
                            0x45,
                            0,
                            28,
                            0,
                            0,
                            64,
                            17,
                            0,
                            b"\x0a\0\0\1",
                            b"\x0a\0\0\2",
                            port,
                            53,
                            8,
                            0,
                        )
                    )
                    file.write(
                        struct.pack("<IIII", 10**9 + 100 * port, 0, len(packet), len(packet))
                        + packet
                    )
                file.flush()
                self.assertTrue(
                    wait_until(
                        lambda: (
                            dump.exists() and dump.stat().st_size == 24 + 31 * (16 + len(packet))
                        )
                    )
                )
                program.send_signal(signal.SIGINT)
                lines = program.communicate(timeout=20)[0]
            self.assertEqual(program.returncode, 0)
            # a period without packets may end the last one
            self.assertEqual(
                [int(port) for port in re.findall(r" 10\.0\.0\.1 (\d+) > ", lines)][:30],
                list(range(1, 31)),
            )

    def test_results_are_named_also_for_functions_given_with_library_and_type(self):
        flows = (
            "TOP 2 1 9",
            "PKT_COUNTER | STATS @1 1",
            "EXPIRED_FLOWS 65535 0 0",
            "ANONYMIZE IP,SRC_IP,ZERO",
            "PKT_COUNTER | BUCKET @1 1s 1",
        )
        named = (
            "mapi:TOP!1 2 1 9",
            "PKT_COUNTER | stdflib:STATS @1 1",
            "mapi:EXPIRED_FLOWS 65535 0 0",
            "anonflib:ANONYMIZE IP,SRC_IP,ZERO",
            "PKT_COUNTER | BUCKET!1.3 @1 1s 1",
        )
        for socket in self.sockets():
            texts = [
                Counter(
                    line.split("\t")[-1]
                    for line in run("-r", DEMO, *words, socket=socket).stdout.splitlines()
                )
                for words in (flows, named)
            ]
            self.assertEqual(*texts)
            self.assertTrue(any(text.startswith("count=") for text in texts[1]))

    def test_results_that_did_not_fit_are_not_only_called_packets(self):
        program = run("-r", DEMO, "EXPIRED_FLOWS 2 10 0")
        self.assertEqual(program.returncode, 1)
        self.assertRegex(
            program.stderr,
            r"^mapi-flow: \d+ packets or results were dropped because a function's buffer was "
            r"full \(increase --buffer, or the function's own limit\)\n$",
        )

    def test_counts_of_tracked_flows_have_names(self):
        for socket in self.sockets():
            web = counts(rows(run("-r", DEMO, "TRACK_WEB", socket=socket))["1.1"][4])
            self.assertEqual(list(web), ["flows", "matched", "unknown", "forgotten", "not_judged"])
            self.assertGreater(web["flows"], web["matched"])
            self.assertGreater(web["matched"], 0)

    def test_counts_of_cooked_and_uncooked_packets_have_names(self):
        packets, tcp = (
            int(tcpdump(DEMO, "--count", *judged).split()[0]) for judged in ((), ("tcp",))
        )
        for socket in self.sockets():
            found = rows(run("-r", DEMO, "COOKING 32000 0 0 3 | UNCOOK 1500", socket=socket))
            cooked, uncooked = counts(found["1.1"][4]), counts(found["1.2"][4])
            self.assertEqual((cooked["packets"], cooked["passed_packets"]), (tcp, packets - tcp))
            self.assertEqual(
                sum(uncooked[name] for name in ("cooked_packets", "passed_packets")),
                int(found["1.2"][1]),
            )
            self.assertEqual(
                uncooked["segments"] + uncooked["passed_packets"], int(found["1.2"][2])
            )

    def test_counts_of_anonymised_packets_have_names(self):
        packets = tcpdump(DEMO, "--count").split()[0]
        for socket in self.sockets():
            found = rows(
                run("-r", DEMO, "ANONYMIZE IP,SRC_IP,MAP", f"ANONYMIZEIP {'k' * 32}", socket=socket)
            )
            for function in "1.1", "2.1":
                self.assertRegex(
                    found[function][4], rf"^packets={packets} fields=\d+ absent=0 .* not_kept=0$"
                )

    def test_an_anonymised_dump_has_all_packets_and_none_of_the_addresses(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, socket in enumerate(self.sockets()):
                dump = pathlib.Path(folder) / f"{number}.pcap"
                rows(
                    run(
                        "-r",
                        TRACE,
                        "BPF_FILTER ip | ANONYMIZE 'IP,SRC_IP,PREFIX_PRESERVING' | TO_FILE 0 "
                        f"{dump} 0",
                        socket=socket,
                    )
                )
                self.assertEqual(tcpdump(dump, "--count"), tcpdump(TRACE, "--count", "ip"))
                sources = [
                    {
                        line.split()[1]
                        for line in tcpdump(capture, "-q", "-t", "ip").splitlines()
                        if len(line.split()) > 2
                    }
                    for capture in (TRACE, dump)
                ]
                self.assertNotEqual(sources[0], sources[1])

    def test_dumps_and_buffers_keep_only_the_first_bytes_on_request(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, socket in enumerate(self.sockets()):
                dump = pathlib.Path(folder) / f"{number}.pcap"
                program = run(
                    "-s",
                    40,
                    "--buffer",
                    1 << 20,
                    "-r",
                    TRACE,
                    f"BPF_FILTER 'udp port 53' | TO_FILE 0 {dump} 0 | TO_BUFFER",
                    socket=socket,
                )
                self.assertEqual(program.returncode, 0, program.stderr)
                fields = ["tshark", "-n", "-T", "fields", "-e", "frame.len", "-e", "frame.cap_len"]
                cut = [
                    line.split()
                    for line in subprocess.run(
                        [*fields, "-r", dump], capture_output=True, text=True, check=True
                    ).stdout.splitlines()
                ]
                original = pathlib.Path(folder) / "original.pcap"
                subprocess.run(
                    ["tcpdump", "-r", TRACE, "-w", original, "udp port 53"],
                    capture_output=True,
                    check=True,
                )
                whole = [
                    line.split()
                    for line in subprocess.run(
                        [*fields, "-r", original], capture_output=True, text=True, check=True
                    ).stdout.splitlines()
                ]
                self.assertGreater(len(whole), 0)
                self.assertEqual(
                    cut, [[wire, str(min(int(captured), 40))] for wire, captured in whole]
                )
        buffer = "--buffer: {} is out of range (4096 to 1073741824)"
        snaplen = "--snaplen: {} is out of range (1 to 4294967295)"
        for name, value, words in (
            ("--buffer", 1, buffer),
            ("--buffer", 1 << 31, buffer),
            ("-s", 0, snaplen),
            ("-s", 1 << 32, snaplen),
        ):
            done = run(name, value, "-r", TRACE, "TO_BUFFER")
            self.assertEqual(
                (done.returncode, done.stderr), (2, f"mapi-flow: {words.format(value)}\n")
            )

    def test_the_cost_of_functions_is_among_their_results(self):
        found = rows(run("-r", DEMO, "PERF_START | BPF_FILTER tcp | PERF_STOP"))
        self.assertRegex(
            found["1.3"][4],
            r"^packets=4827 calls=\d+ ticks_per_packet=[\d.]+ ±[\d.]+ ns_per_packet=[\d.]+.* "
            r"counters=\S+$",
        )


if __name__ == "__main__":
    needs.tools("tcpdump")
    needs.captures(TRACE)
    unittest.main()
