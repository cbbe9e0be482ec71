#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What mapi-count and mapi-flow read and write: several captures, standard input and output,
pcapng, JSON; with and without mapid."""

import json
import pathlib
import struct
import subprocess

import needs
from mapi_captures_library import (
    TIME_S,
    TRACE,
    CapturesTest,
    found,
    frame,
    main,
    pcap,
    read,
    run,
    times,
)
from mapid import DATA

FOUND = DATA / "found"


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def pcapng(path, stamps):
    """A capture of packets with these time stamps in seconds."""
    text = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(
        1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHI", 9, 1, 0) + bytes(4)
    )
    data = frame()
    for stamp in stamps:
        text += block(
            6, struct.pack("<5I", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(data), len(data)) + data
        )
    pathlib.Path(path).write_bytes(text)
    return str(path)


class Captures(CapturesTest):
    def test_losses_of_a_capture_end_mapi_count_as_they_end_mapi_flow(self):
        for name, lost in ("p14_isb_repeated.pcapng", 12), ("p14_epb_drop.pcapng", 16):
            for socket in self.sockets:
                for program, more in ("mapi-count", ()), ("mapi-flow", ("PKT_COUNTER",)):
                    done = run(program, "-r", FOUND / name, *more, socket=socket)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(
                        f"{lost} packets were lost by the interface or during recording".encode(),
                        done.stderr,
                    )

    def test_several_captures_are_one_in_the_order_of_their_times(self):
        names = [
            pcap(
                self.folder / f"cap{i}.pcap",
                [(TIME_S + 100 * place + j, frame(b"%d" % i)) for j in range(3)],
            )
            for i, place in enumerate((2, 0, 1))
        ]
        expected = [str(TIME_S + 100 * place + j) for place in range(3) for j in range(3)]
        for socket in self.sockets:
            self.assertEqual(self.counts(*read(*names), "udp", "tcp", socket=socket)[0], [9, 0])
            self.assertEqual(self.counts("-r", self.folder, "udp", socket=socket)[0], [9])
            self.assertEqual(
                self.counts("-r", names[2], "-r", names[1], "udp", "ip", socket=socket)[0], [6, 6]
            )
            out = self.folder.parent / (self.folder.name + ".out")
            self.addCleanup(out.unlink, missing_ok=True)
            done = run("mapi-flow", *read(*names), f"TO_FILE 0 {out} 0", socket=socket)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(times(out), expected)

    def test_flows_and_streams_continue_from_one_capture_to_the_next(self):
        first = pcap(self.folder / "b.pcap", [(TIME_S, frame())] * 2)
        second = pcap(self.folder / "a.pcap", [(TIME_S + 5, frame())] * 3)
        for socket in self.sockets:
            done = run(
                "mapi-flow", "--json", *read(second, first), "EXPIRED_FLOWS 60 0 0", socket=socket
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(done.stdout)["flows"][0]["functions"][0]["result"]
            self.assertEqual(
                [(flow["packets"], flow["source_port"]) for flow in result["flows"]], [(5, 1)]
            )

    def test_a_damaged_capture_does_not_keep_the_others_from_being_read(self):
        names = [pcap(self.folder / f"{i}.pcap", [(TIME_S + i, frame())] * 2) for i in range(3)]
        whole = pathlib.Path(names[1]).read_bytes()
        pathlib.Path(names[1]).write_bytes(whole[:-5])
        for socket in self.sockets:
            counts, reported = self.counts(*read(*names), "", code=1, socket=socket)
            self.assertEqual(counts, [5])
            self.assertIn("1.pcap: offset", reported)
            self.assertIn("ends inside a record", reported)

    def test_other_files_in_a_folder_of_captures_are_reported_and_skipped(self):
        pcap(self.folder / "b.pcap", [(TIME_S, frame())])
        (self.folder / "a.txt").write_text("no capture at all")
        (self.folder / "c.txt").write_text("")
        (self.folder / "folder").mkdir()
        for socket in self.sockets:
            counts, reported = self.counts("-r", self.folder, socket=socket)
            self.assertEqual(counts, [1])
            self.assertEqual(reported.count("skipped"), 2)
            self.counts(*read(self.folder / "b.pcap", self.folder / "a.txt"), code=3, socket=socket)
            self.counts("-r", self.folder / "folder", code=3, socket=socket)
            self.counts("-r", self.folder / "nothing", code=3, socket=socket)

    def test_an_option_of_the_device_keeps_all_captures(self):
        names = [pcap(self.folder / f"{i}.pcap", [(TIME_S + i, frame())]) for i in range(3)]
        for socket in self.sockets:
            self.assertEqual(self.counts("--batch", "1", *read(*names), socket=socket)[0], [3])
            self.assertEqual(
                self.counts("--each", *read(*names), "udp", "tcp", socket=socket)[0], [3, 0]
            )

    def test_a_count_of_packets_ends_the_capture_where_tcpdump_ends_it(self):
        for packets in 1, 63, 64, 65, 500:
            part = str(self.folder / "part.pcap")
            found("tcpdump", "-r", TRACE, "-c", str(packets), "-w", part)
            expected = [
                int(found("tcpdump", "-r", part, "--count", *words).split()[0])
                for words in ((), ("udp",))
            ]
            self.assertEqual(expected[0], packets)
            for socket in self.sockets:
                for more in ((), ("--each",), ("--batch", "7")):
                    self.assertEqual(
                        self.counts(
                            "-c", str(packets), *more, "-r", TRACE, "", "udp", socket=socket
                        )[0],
                        expected,
                    )
                done = run(
                    "mapi-flow", "-c", str(packets), "-r", TRACE, "PKT_COUNTER", socket=socket
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.split()[-1], b"%d" % packets)
        self.counts("-c", "0", "-r", TRACE, code=2)
        self.counts("-c", "100000000", "-r", TRACE, code=0)

    def test_standard_input_is_a_capture(self):
        expected = int(found("tcpdump", "-r", TRACE, "--count").split()[0])
        for socket in self.sockets:
            # a pipe
            self.assertEqual(
                self.counts("-r", "-", socket=socket, input=TRACE.read_bytes())[0], [expected]
            )
            with open(TRACE, "rb") as file:
                self.assertEqual(self.counts("-r", "-", socket=socket, stdin=file)[0], [expected])
            done = run(
                "mapi-flow", "-r", "-", "PKT_COUNTER", socket=socket, input=TRACE.read_bytes()
            )
            self.assertEqual(done.stdout.split()[-1], b"%d" % expected)
            self.counts("-r", "-", "-r", TRACE, code=3, socket=socket, input=TRACE.read_bytes())
            self.counts(
                "--each", "-r", "-", "tcp", "udp", code=3, socket=socket, input=TRACE.read_bytes()
            )

    def test_standard_output_is_a_file(self):
        expected = int(found("tcpdump", "-r", TRACE, "--count", "udp").split()[0])
        for socket in self.sockets:
            for form in 0, 5:
                done = run(
                    "mapi-flow", "-r", TRACE, f"BPF_FILTER udp | TO_FILE {form} - 0", socket=socket
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"TO_FILE", done.stderr)
                judge = subprocess.run(
                    ["tcpdump", "-r", "-", "--count"],
                    input=done.stdout,
                    capture_output=True,
                    check=True,
                )
                self.assertEqual(int(judge.stdout.split()[0]), expected)
                with open(self.folder / "out", "wb") as out:
                    self.assertEqual(
                        run(
                            "mapi-flow",
                            "-r",
                            TRACE,
                            f"BPF_FILTER udp | TO_FILE {form} - 0",
                            socket=socket,
                            stdout=out,
                        ).returncode,
                        0,
                    )
                self.assertEqual((self.folder / "out").read_bytes(), done.stdout)
            with open(self.folder / "log", "wb") as log:
                log.write(b"before\n")
                log.flush()
                self.assertEqual(
                    run(
                        "mapi-flow",
                        "-r",
                        TRACE,
                        "BPF_FILTER udp | TO_FILE 0 - 0",
                        socket=socket,
                        stdout=log,
                    ).returncode,
                    0,
                )
            self.assertTrue(
                (self.folder / "log").read_bytes().startswith(b"before\n\x4d\x3c\xb2\xa1")
            )
            self.assertEqual(
                run(
                    "mapi-flow", "-r", TRACE, "TO_FILE 0 - 0", "TO_FILE 0 - 0", socket=socket
                ).returncode,
                2,
            )

    def test_a_direction_in_the_link_header_is_the_same_as_for_tcpdump(self):
        sll = [
            struct.pack(">HHH8sH", kind, 1, 6, bytes(8), 0x800) + frame()[14:]
            for kind in (0, 4, 4, 1, 2, 3)
        ]
        sll2 = [
            struct.pack(">HHIHBB8s", 0x800, 0, 7, 1, kind, 6, bytes(8)) + frame()[14:]
            for kind in (0, 4, 4, 4, 1)
        ]
        expressions = (
            "inbound",
            "outbound",
            "inbound and udp",
            "not outbound or tcp",
            "ifindex 7",
            "ifindex 8",
        )
        for link_type, packets in (113, sll), (276, sll2):
            capture = pcap(
                self.folder / "cooked.pcap", [(TIME_S, data) for data in packets], link_type
            )
            for expression in expressions[:4] if link_type == 113 else expressions:
                expected = int(found("tcpdump", "-r", capture, "--count", expression).split()[0])
                for socket in self.sockets:
                    self.assertEqual(
                        self.counts("-r", capture, expression, socket=socket)[0],
                        [expected],
                        expression,
                    )

    def test_pcapng_has_all_link_types_and_times(self):
        one = pcap(self.folder / "a.pcap", [(TIME_S, frame())])
        other = pcap(self.folder / "b.pcap", [(TIME_S + 1, frame()[14:])], 101)
        late = pcapng(self.folder / "c.pcapng", [4294967295, 4294967296, 7258118400])
        out = self.folder / "out.pcapng"
        for socket in self.sockets:
            done = run(
                "mapi-flow",
                *read(one, other, late),
                f"TO_FILE 5 {out} 0",
                f"TO_FILE 0 {self.folder}/out.pcap 0",
                "TO_BUFFER 0",
                socket=socket,
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn(
                b"2 packets have a timestamp after 2106 (the first is packet 2, at offset",
                done.stderr,
            )
            rows = {
                words[0]: words[4]
                for words in (line.split("\t") for line in done.stdout.decode().splitlines())
                if len(words) == 6
            }
            self.assertEqual([rows[f"{i}.1"] for i in (1, 2, 3)], ["0", "3", "2"])
            shown = found(
                "tshark",
                "-n",
                "-r",
                out,
                "-T",
                "fields",
                "-e",
                "frame.time_epoch",
                "-e",
                "frame.encap_type",
                "-e",
                "udp.srcport",
            ).split("\n")
            self.assertEqual(
                [line.split("\t") for line in shown[:-1]],
                [
                    [f"{seconds}.000000000", kind, "1"]
                    for seconds, kind in (
                        (TIME_S, "1"),
                        (TIME_S + 1, "7"),
                        (4294967295, "1"),
                        (4294967296, "1"),
                        (7258118400, "1"),
                    )
                ],
            )
            self.assertEqual(times(self.folder / "out.pcap"), [str(TIME_S), "4294967295"])

    def test_a_time_stamp_that_does_not_fit_is_refused_with_the_packets_number(self):
        late = pcapng(self.folder / "late.pcapng", [1, 2, 18446744074, 3])
        for socket in self.sockets:
            counts, reported = self.counts("-r", late, code=1, socket=socket)
            self.assertEqual(counts, [2])
            self.assertIn("packet 3 has a timestamp before 1970 or after 2554", reported)

    def test_json_has_the_same_contents_as_lines(self):
        expressions = "tcp", "udp port 53", "host 10.0.0.1 and greater 100"
        for socket in self.sockets:
            lines, _ = self.counts("-r", TRACE, *expressions, socket=socket)
            done = run("mapi-count", "--json", "-r", TRACE, *expressions, socket=socket)
            self.assertEqual(done.stdout.count(b"\n"), 1)
            reported = json.loads(done.stdout)
            self.assertEqual(
                (reported["schema"], reported["captures"], reported["is_complete"]),
                ("netslice-mapi-count-1", [str(TRACE)], True),
            )
            self.assertEqual(
                [(row["expression"], row["packets"]) for row in reported["counts"]],
                list(zip(expressions, lines)),
            )
            self.assertEqual(
                reported["statistics"]["packets"],
                int(found("tcpdump", "-r", TRACE, "--count").split()[0]),
            )
            reported = json.loads(
                run(
                    "mapi-count", "--json", "-r", FOUND / "p14_epb_drop.pcapng", socket=socket
                ).stdout
            )
            self.assertEqual(
                (reported["statistics"]["interface_drops"], reported["is_complete"]), (16, False)
            )
            reported = json.loads(
                run(
                    "mapi-count",
                    "--json",
                    "--string",
                    "-r",
                    TRACE,
                    'a"b\\c',
                    "\xe9",
                    b"\xff|ff|".decode("latin1"),
                    socket=socket,
                ).stdout
            )
            self.assertEqual(reported["counts"][0]["expression"], 'a"b\\c')

    def test_json_of_mapi_flow_has_results_as_data(self):
        flow = (
            "PKT_COUNTER | PKTINFO 2 | STATS @2 0 | DIST @2 0 1500 500 | TOP 3 1 9 | STARTSTOP 0 "
            "0 | BPF_FILTER udp"
        )
        for socket in self.sockets:
            done = run("mapi-flow", "--json", "-r", TRACE, flow, socket=socket)
            self.assertEqual(done.returncode, 0, done.stderr)
            reported = json.loads(done.stdout)
            self.assertEqual(
                (reported["schema"], reported["is_last"], reported["statistics"]["message"]),
                ("netslice-mapi-flow-1", True, ""),
            )
            functions = reported["flows"][0]["functions"]
            self.assertEqual(
                [function["name"] for function in functions],
                ["PKT_COUNTER", "PKTINFO", "STATS", "DIST", "TOP", "STARTSTOP", "BPF_FILTER"],
            )
            count = int(found("tcpdump", "-r", TRACE, "--count").split()[0])
            self.assertEqual(functions[0]["result"], count)
            self.assertEqual(functions[2]["result"]["count"], count)
            self.assertEqual(
                sum(functions[3]["result"]["intervals"])
                + functions[3]["result"]["above"]
                + functions[3]["result"]["below"],
                count,
            )
            self.assertEqual(len(functions[4]["result"]), 3)
            self.assertEqual(functions[5]["result"]["first"].split(".")[0], times(TRACE)[0])
            self.assertIsNone(functions[6]["result"])
            self.assertEqual(
                functions[6]["passed"],
                int(found("tcpdump", "-r", TRACE, "--count", "udp").split()[0]),
            )

    def test_packets_in_json_are_lines_of_their_own(self):
        for socket in self.sockets:
            lines = [
                json.loads(line)
                for line in run(
                    "mapi-flow", "--json", "-r", TRACE, "BPF_FILTER udp | TO_BUFFER", socket=socket
                ).stdout.splitlines()
            ]
            self.assertEqual(
                len(lines) - 1, int(found("tcpdump", "-r", TRACE, "--count", "udp").split()[0])
            )
            self.assertEqual(len(lines[0]["packet"]["data"]), 2 * lines[0]["packet"]["caplen"])
            self.assertEqual(lines[-1]["schema"], "netslice-mapi-flow-1")


if __name__ == "__main__":
    needs.captures(TRACE)
    main()
