#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What mapi-count and mapi-flow read and write: several captures, standard input and output,
pcapng, rotated files, JSON; with and without mapid."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from mapid import BUILD, DATA, Daemon

BIN = BUILD / "bin"
TRACE = DATA / "mapi/tracefile"
FOUND = DATA / "found"
TIME_S = 1700000000


def frame(payload=b"x" * 20, ports=(1, 2)):
    udp = struct.pack(">4H", *ports, 8 + len(payload), 0) + payload
    return (
        bytes(12)
        + b"\x08\0"
        + struct.pack(">BBHIBBHII", 0x45, 0, 20 + len(udp), 0, 64, 17, 0, 0x0A000001, 0x0A000002)
        + udp
    )


def pcap(path, packets, link_type=1):
    """A capture of packets given as (seconds, bytes)."""
    records = b"".join(
        struct.pack("<4I", seconds, 0, len(data), len(data)) + data for seconds, data in packets
    )
    pathlib.Path(path).write_bytes(
        struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type) + records
    )
    return str(path)


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


def run(program, *arguments, socket="none", **more):
    more = (
        {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
        | ({"stdin": None} if "input" in more else {})
        | more
    )
    if "input" in more:
        del more["stdin"]
    return subprocess.run(
        [BIN / program, *map(str, arguments)],
        stderr=subprocess.PIPE,
        check=False,
        env=os.environ | {"MAPI_SOCKET": str(socket)},
        **more,
    )


def found(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def times(path):
    return [
        line.split(".")[0]
        for line in found(
            "tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.time_epoch"
        ).split()
    ]


class Captures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o755)
        daemon = Daemon()
        self.addCleanup(daemon.close)
        self.sockets = daemon.socket, "none"

    def counts(self, *arguments, code=0, **more):
        done = run("mapi-count", *arguments, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        return [
            int(line.split(b"\t")[0]) for line in done.stdout.splitlines()
        ], done.stderr.decode()

    def test_losses_of_a_capture_end_mapi_count_as_they_end_mapi_flow(self):
        for name, lost in ("p14_isb_repeated.pcapng", 12), ("p14_epb_drop.pcapng", 16):
            for socket in self.sockets:
                for program, more in ("mapi-count", ()), ("mapi-flow", ("PKT_COUNTER",)):
                    done = run(program, FOUND / name, *more, socket=socket)
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
            self.assertEqual(self.counts(*names, "--", "udp", "tcp", socket=socket)[0], [9, 0])
            self.assertEqual(self.counts(self.folder, "udp", socket=socket)[0], [9])
            self.assertEqual(
                self.counts("-r", names[2], "-r", names[1], "udp", "ip", socket=socket)[0], [6, 6]
            )
            out = self.folder.parent / (self.folder.name + ".out")
            self.addCleanup(out.unlink, missing_ok=True)
            done = run("mapi-flow", *names, "--", f"TO_FILE 0 {out} 0", socket=socket)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(times(out), expected)

    def test_flows_and_streams_continue_from_one_capture_to_the_next(self):
        first = pcap(self.folder / "b.pcap", [(TIME_S, frame())] * 2)
        second = pcap(self.folder / "a.pcap", [(TIME_S + 5, frame())] * 3)
        for socket in self.sockets:
            done = run(
                "mapi-flow", "--json", second, first, "--", "EXPIRED_FLOWS 60 0 0", socket=socket
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
            counts, reported = self.counts(*names, "--", "", code=1, socket=socket)
            self.assertEqual(counts, [5])
            self.assertIn("1.pcap: offset", reported)
            self.assertIn("ends inside a record", reported)

    def test_other_files_in_a_folder_of_captures_are_reported_and_skipped(self):
        pcap(self.folder / "b.pcap", [(TIME_S, frame())])
        (self.folder / "a.txt").write_text("no capture at all")
        (self.folder / "c.txt").write_text("")
        (self.folder / "folder").mkdir()
        for socket in self.sockets:
            counts, reported = self.counts(self.folder, socket=socket)
            self.assertEqual(counts, [1])
            self.assertEqual(reported.count("skipped"), 2)
            self.counts(self.folder / "b.pcap", self.folder / "a.txt", "--", code=3, socket=socket)
            self.counts(self.folder / "folder", code=3, socket=socket)
            self.counts(self.folder / "nothing", code=3, socket=socket)

    def test_an_option_of_the_device_keeps_all_captures(self):
        names = [pcap(self.folder / f"{i}.pcap", [(TIME_S + i, frame())]) for i in range(3)]
        for socket in self.sockets:
            self.assertEqual(self.counts("-b", "1", *names, "--", socket=socket)[0], [3])
            self.assertEqual(
                self.counts("--each", *names, "--", "udp", "tcp", socket=socket)[0], [3, 0]
            )

    def test_standard_input_is_a_capture(self):
        expected = int(found("tcpdump", "-r", TRACE, "--count").split()[0])
        for socket in self.sockets:
            # a pipe
            self.assertEqual(
                self.counts("-", socket=socket, input=TRACE.read_bytes())[0], [expected]
            )
            with open(TRACE, "rb") as file:
                self.assertEqual(self.counts("-", socket=socket, stdin=file)[0], [expected])
            done = run("mapi-flow", "-", "PKT_COUNTER", socket=socket, input=TRACE.read_bytes())
            self.assertEqual(done.stdout.split()[-1], b"%d" % expected)
            self.counts("-", TRACE, "--", code=3, socket=socket, input=TRACE.read_bytes())
            self.counts(
                "--each", "-", "tcp", "udp", code=3, socket=socket, input=TRACE.read_bytes()
            )

    def test_standard_output_is_a_file(self):
        expected = int(found("tcpdump", "-r", TRACE, "--count", "udp").split()[0])
        for socket in self.sockets:
            for form in 0, 5:
                done = run(
                    "mapi-flow", TRACE, f"BPF_FILTER udp | TO_FILE {form} - 0", socket=socket
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
                run("mapi-flow", TRACE, "TO_FILE 0 - 0", "TO_FILE 0 - 0", socket=socket).returncode,
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
                        self.counts(capture, expression, socket=socket)[0], [expected], expression
                    )

    def test_pcapng_has_all_link_types_and_times(self):
        one = pcap(self.folder / "a.pcap", [(TIME_S, frame())])
        other = pcap(self.folder / "b.pcap", [(TIME_S + 1, frame()[14:])], 101)
        late = pcapng(self.folder / "c.pcapng", [4294967295, 4294967296, 7258118400])
        out = self.folder / "out.pcapng"
        for socket in self.sockets:
            done = run(
                "mapi-flow",
                one,
                other,
                late,
                "--",
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
            counts, reported = self.counts(late, code=1, socket=socket)
            self.assertEqual(counts, [2])
            self.assertIn("packet 3 has a timestamp before 1970 or after 2554", reported)

    def rotated(self, socket, form, source, rotation, extension):
        for old in self.folder.glob("out_*"):
            old.unlink()
        done = run(
            "mapi-flow",
            source,
            f"TO_FILE {form} {self.folder}/out.{extension} 0 {rotation}",
            socket=socket,
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        files = sorted(self.folder.glob("out_*"))
        self.assertFalse((self.folder / f"out.{extension}").exists())
        return files, [len(times(file)) for file in files]

    def test_rotation_by_size_keeps_the_last_files(self):
        # 1000 bytes each
        source = pcap(
            self.folder / "source.pcap", [(TIME_S + i, frame(b"x" * 958)) for i in range(25)]
        )
        for socket in self.sockets:
            for form, extension in (0, "pcap"), (5, "pcapng"):
                files, counts = self.rotated(socket, form, source, "size=3200,files=4", extension)
                self.assertEqual(
                    [file.name for file in files], [f"out_{i}.{extension}" for i in range(1, 5)]
                )
                # 3 in each; the ninth file reuses the first name
                self.assertEqual(counts, [1, 3, 3, 3])
                self.assertEqual(times(files[0]), [str(TIME_S + 24)])
                for file in files:
                    self.assertLessEqual(file.stat().st_size, 3200)
                    self.assertIn("Number of packets", found("capinfos", file))
                files, counts = self.rotated(socket, form, source, "size=1M,files=12", extension)
                self.assertEqual((counts, files[-1].name), ([25] + [0] * 11, f"out_12.{extension}"))

    def test_rotation_by_time_uses_the_packets_times(self):
        source = pcap(
            self.folder / "source.pcap",
            [(TIME_S + seconds, frame()) for seconds in (0, 9, 10, 10, 25, 26, 100)],
        )
        for socket in self.sockets:
            self.assertEqual(
                self.rotated(socket, 0, source, "time=10,files=5", "pcap")[1], [2, 2, 2, 1, 0]
            )
            self.assertEqual(
                self.rotated(socket, 5, source, "time=10s,files=3", "pcap")[1], [1, 2, 2]
            )
            self.assertEqual(
                self.rotated(socket, 5, source, "time=1h,files=3", "pcap")[1], [7, 0, 0]
            )

    def test_every_rotated_file_has_the_interfaces_that_it_needs(self):
        pcap(self.folder / "a.pcap", [(TIME_S + i, frame()) for i in range(3)])
        pcap(self.folder / "b.pcap", [(TIME_S + 10 + i, frame()[14:]) for i in range(4)], 101)
        source = self.folder / "both.pcapng"
        subprocess.run(
            ["mergecap", "-w", source, self.folder / "a.pcap", self.folder / "b.pcap"], check=True
        )
        for socket in self.sockets:
            files, counts = self.rotated(socket, 5, source, "size=330,files=9", "pcapng")
            self.assertEqual(sum(counts), 7)
            self.assertGreater(len([count for count in counts if count]), 2)
            encapsulations = [
                line
                for file in files
                for line in found(
                    "tshark", "-n", "-r", file, "-T", "fields", "-e", "frame.encap_type"
                ).split()
            ]
            self.assertEqual(encapsulations, ["1"] * 3 + ["7"] * 4)

    def test_an_invalid_rotation_is_refused(self):
        for rotation in (
            "size=10",
            "files=3",
            "size=0,files=3",
            "size=1M,files=1",
            "size=1M,files=1001",
            "size=1X,files=3",
            "time=-1,files=3",
            "size=1M,files=3,",
            "size",
            "x=1,size=1M,files=2",
        ):
            done = run("mapi-flow", TRACE, f"TO_FILE 0 {self.folder}/out.pcap 0 '{rotation}'")
            self.assertEqual(done.returncode, 3, rotation)
            self.assertIn(b"is not a rotation (size=BYTES", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(run("mapi-flow", TRACE, "TO_FILE 0 - 0 size=1M,files=2").returncode, 3)

    def test_a_rotation_over_more_files_than_mapid_takes_is_refused_by_its_limit(self):
        for socket in self.sockets:
            self.assertEqual(
                len(self.rotated(socket, 5, TRACE, "size=1M,files=16", "pcapng")[0]), 16
            )
            done = run(
                "mapi-flow",
                TRACE,
                f"TO_FILE 5 {self.folder}/more.pcapng 0 size=1M,files=17",
                socket=socket,
            )
            files = len(list(self.folder.glob("more_*")))
            if socket == "none":
                self.assertEqual((done.returncode, files), (0, 17))
            else:
                self.assertEqual((done.returncode, files), (3, 0))
                self.assertIn(
                    b"TO_FILE: 17 files are too many: mapid accepts at most 16 (no limit with "
                    b"MAPI_SOCKET=none)",
                    done.stderr,
                )
                self.assertIn(b"(error 6162)", done.stderr)
            for file in self.folder.glob("more_*"):
                file.unlink()

    def test_json_has_the_same_contents_as_lines(self):
        expressions = "tcp", "udp port 53", "host 10.0.0.1 and greater 100"
        for socket in self.sockets:
            lines, _ = self.counts(TRACE, *expressions, socket=socket)
            done = run("mapi-count", "--json", TRACE, *expressions, socket=socket)
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
                run("mapi-count", "-j", FOUND / "p14_epb_drop.pcapng", socket=socket).stdout
            )
            self.assertEqual(
                (reported["statistics"]["interface_drops"], reported["is_complete"]), (16, False)
            )
            reported = json.loads(
                run(
                    "mapi-count",
                    "-j",
                    "-s",
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
            done = run("mapi-flow", "--json", TRACE, flow, socket=socket)
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
                    "mapi-flow", "--json", TRACE, "BPF_FILTER udp | TO_BUFFER", socket=socket
                ).stdout.splitlines()
            ]
            self.assertEqual(
                len(lines) - 1, int(found("tcpdump", "-r", TRACE, "--count", "udp").split()[0])
            )
            self.assertEqual(len(lines[0]["packet"]["data"]), 2 * lines[0]["packet"]["caplen"])
            self.assertEqual(lines[-1]["schema"], "netslice-mapi-flow-1")


if __name__ == "__main__":
    for tool in "tcpdump", "tshark", "capinfos", "mergecap":
        if not shutil.which(tool):
            import needs

            needs.skip(f"no {tool}")
    unittest.main()
