#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters on a packet's direction, the device "any", and an interface that does not exist yet:
counts equal tcpdump's."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import needs
from mapi_interfaces import INSIDE, make_pair, run, send, wait_until
from mapi_live_library import ARP, TCP, UDP, LiveTest, main, tagged
from mapid import BUILD, Client, Daemon

SENT = {"near": (UDP, UDP, UDP, ARP, TCP, tagged(UDP, "81000064")), "far": (UDP, ARP, TCP, TCP)}


def start(*command, output=subprocess.PIPE, **environment):
    return subprocess.Popen(
        list(map(str, command)),
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def start_judge(device, expression, kept):
    with open(kept, "wb") as output:
        judge = start(
            "tcpdump",
            "-n",
            "-U",
            "--immediate-mode",
            "-i",
            device,
            "-w",
            "-",
            expression,
            output=output,
        )
    reported = ""
    while "listening on" not in reported:
        line = judge.stderr.readline()
        assert line, reported
        reported += line
    return judge


def stop(process):
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=30)


class Direction(LiveTest):
    def counts(self, device, expressions, socket_path):
        """Counts of libmapi and of tcpdump, for each expression."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        kept = [pathlib.Path(folder.name) / str(i) for i in range(len(expressions))]
        judges = [
            start_judge(device, expression, path) for expression, path in zip(expressions, kept)
        ]
        # Packets in the buffer when libpcap installs a filter, and the first packet after it, are
        # filtered by libpcap itself, without the kernel's information.
        for interface in SENT:
            send(interface, UDP, ARP, TCP)
        time.sleep(1)
        primed = [self.count(path) for path in kept]
        client = Client(socket_path)
        self.addCleanup(client.close)
        client.do("flows = []")
        for expression in expressions:
            client.do(f"flow = Flow.on_device({device!r})")
            client.do(f"{expression!r} and flow.apply('BPF_FILTER', {expression!r})")
            client.do("flows.append((flow, flow.apply('PKT_COUNTER'))); flow.connect()")
        for interface, frames in SENT.items():
            # its kernel filter sees the tag of an outgoing frame
            send(
                interface,
                *(frame for frame in frames if device != "any" or frame[12:14] != b"\x81\0"),
            )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"hello", ("127.0.0.1", 9))
        own = client.get("[flow.word(counter) for flow, counter in flows]")
        # tcpdump processes without CPU time take longer; what they have not read when they are
        # stopped is lost.
        end = time.monotonic() + 20
        sizes = judged = None
        while judged is None or (judged != own and time.monotonic() < end):
            while (now := [path.stat().st_size for path in kept]) != sizes:
                sizes = now
                time.sleep(1)
            judged = [self.count(path) - before for path, before in zip(kept, primed)]
            own = client.get("[flow.word(counter) for flow, counter in flows]")
            time.sleep(0.1)
        for judge in judges:
            stop(judge)
        return own, judged

    def settled_counts(self, device, expressions, socket_path):
        """counts(), again if they differ: tcpdump misses a packet at times on a busy machine."""
        for _ in range(3):
            own, judged = self.counts(device, expressions, socket_path)
            if own == judged:
                break
        return own, judged

    @staticmethod
    def count(path):
        if path.stat().st_size == 0:
            return 0
        return int(
            subprocess.run(
                ["tcpdump", "-r", path, "--count"], capture_output=True, check=True
            ).stdout.split()[0]
        )

    def sockets(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        return daemon.socket, "none"

    def test_inbound_and_outbound_mean_the_same_as_for_tcpdump(self):
        index = socket.if_nametoindex("far")
        expressions = [
            "inbound",
            "outbound",
            "inbound and udp and not vlan",
            "not inbound",
            "outbound or arp",
            "arp and (inbound or outbound)",
            f"ifindex {index}",
            f"ifindex {index + 1}",
        ]
        for path in self.sockets():
            own, judged = self.settled_counts("far", expressions, path)
            self.assertEqual(own, judged)
            self.assertEqual(own[:2], [6, 4])

    def test_filters_of_direction_are_correct_among_many(self):
        expressions = [
            "outbound and udp port 2",
            *(f"inbound and udp port {port}" for port in range(1, 9)),
            *(f"udp port {port}" for port in range(1, 9)),
        ]
        flows = [
            self.flow(("BPF_FILTER", expression), ("PKT_COUNTER",)) for expression in expressions
        ]
        send("near", UDP, count=7)
        send("far", UDP, count=5)
        self.assertTrue(
            wait_until(lambda: sum(flow.word(flow.ids[1]) for flow in flows) >= 5 + 14 + 24)
        )
        self.assertEqual(
            [flow.word(flow.ids[1]) for flow in flows], [5, 7, 7] + [0] * 6 + [12, 12] + [0] * 6
        )

    def test_any_is_all_interfaces(self):
        expressions = [
            "inbound",
            "outbound",
            "udp",
            "tcp",
            "arp",
            "udp and inbound",
            f"ifindex {socket.if_nametoindex('far')}",
            "udp and host 127.0.0.1",
        ]
        for path in self.sockets():
            own, judged = self.settled_counts("any", expressions, path)
            self.assertEqual(own, judged)

    @unittest.skipUnless(shutil.which("tshark"), "no tshark")
    def test_packets_of_any_are_written_as_tcpdump_writes_them(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        kept = folder.name + "/judge.pcap"
        judge = start_judge("any", "udp or arp", kept)
        own = start(
            BUILD / "bin/mapi-flow",
            "-i",
            "any",
            "BPF_FILTER 'udp or arp' | TO_FILE 0 - 0",
            MAPI_SOCKET="none",
        )
        # Both are bound: their sockets are of type SOCK_DGRAM, and running.
        self.assertTrue(
            wait_until(
                lambda: (
                    sum(
                        line.split()[2] == "2" and line.split()[5] == "1"
                        for line in pathlib.Path("/proc/net/packet").read_text().splitlines()[1:]
                    )
                    == 2
                )
            )
        )
        time.sleep(0.5)
        send("near", *SENT["near"][:5])
        while os.stat(kept).st_size < 24 + 8 * (16 + 20 + 46):  # 4 packets, out and in
            time.sleep(0.1)
        time.sleep(1)
        own.send_signal(signal.SIGINT)
        capture = os.fdopen(os.dup(own.stdout.fileno()), "rb").read()
        own.wait(timeout=20)
        stop(judge)
        fields = (
            "-T",
            "fields",
            "-e",
            "sll.ifindex",
            "-e",
            "sll.pkttype",
            "-e",
            "sll.hatype",
            "-e",
            "sll.etype",
            "-e",
            "sll.src.eth",
            "-e",
            "frame.len",
            "-e",
            "udp.srcport",
        )
        shown = [
            subprocess.run(
                ["tshark", "-n", "-r", name, *fields], input=data, capture_output=True, check=True
            ).stdout
            for name, data in (("-", capture), (kept, None))
        ]
        self.assertEqual(shown[0], shown[1])
        self.assertEqual(shown[0].count(b"\n"), 8)

    def test_a_capture_has_no_direction_to_filter_by(self):
        for path in self.sockets():
            done = subprocess.run(
                [
                    BUILD / "bin/mapi-count",
                    "-r",
                    os.environ["NETSLICE_SOURCE"] + "/mapi-core/apps/demo/demo.pcap",
                    "inbound",
                ],
                capture_output=True,
                text=True,
                check=False,
                env=os.environ | {"MAPI_SOCKET": str(path)},
            )
            self.assertEqual(done.returncode, 3)
            self.assertIn("inbound/outbound not supported", done.stderr)

    def test_an_interface_can_be_waited_for(self):
        run("ip", "link", "del", "near")
        for path in self.sockets():
            for program, more in ("mapi-count", ()), ("mapi-flow", ("PKT_COUNTER",)):
                refused = subprocess.run(
                    [BUILD / "bin" / program, "-i", "far", *more],
                    capture_output=True,
                    check=False,
                    env=os.environ | {"MAPI_SOCKET": str(path)},
                )
                self.assertEqual(refused.returncode, 3)
                waiting = start(
                    BUILD / "bin" / program,
                    "--wait",
                    "--json",
                    "-i",
                    "far",
                    *more,
                    MAPI_SOCKET=str(path),
                )
                self.assertIn("far: waiting for the device to appear", waiting.stderr.readline())
                make_pair("near", "far")
                self.assertTrue(
                    wait_until(
                        lambda: any(
                            line.split()[5] == "1"
                            for line in pathlib.Path("/proc/net/packet")
                            .read_text()
                            .splitlines()[1:]
                        )
                    )
                )
                time.sleep(0.5)
                send("near", UDP, count=7)
                time.sleep(1)
                text, reported = stop(waiting)
                self.assertEqual(waiting.returncode, 0, reported)
                self.assertIn('"packets":7', text)
                run("ip", "link", "del", "near")
                waiting = start(
                    BUILD / "bin" / program, "--wait", "-i", "far", *more, MAPI_SOCKET=str(path)
                )
                waiting.stderr.readline()
                stop(waiting)
                self.assertEqual(waiting.returncode, 130)
        make_pair("near", "far")

    def test_tcp_on_tagged_frames_is_what_the_manual_says(self):
        flows = [
            self.flow(("BPF_FILTER", expression), ("PKT_COUNTER",))
            for expression in ("tcp", "vlan and tcp", "tcp or (vlan and tcp)", "vlan 100")
        ]
        send("near", TCP, TCP, tagged(TCP, "81000064"))
        self.assert_counts(flows[2], 3)
        self.assertEqual([flow.word(flow.ids[1]) for flow in flows], [2, 1, 3, 1])


if __name__ == "__main__":
    if not shutil.which("tcpdump"):
        needs.skip("no tcpdump")
    if not os.environ.get(INSIDE) and os.geteuid() != 0:
        needs.skip("requires real root: tcpdump drops privileges")
    if not os.environ.get(INSIDE):
        os.execvpe(
            "unshare",
            ["unshare", "-n", sys.executable, "-B", *sys.argv],
            os.environ | {INSIDE: "1"},
        )
    main()
