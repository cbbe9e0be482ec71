# SPDX-License-Identifier: MIT
"""What tests of the device xdp:IFACE have in common."""

import ctypes
import itertools
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import mapi_live_library
import needs
from mapi_interfaces import make_pair, run, send, wait_until
from mapi_library import Flow, stats_of
from mapi_live_library import BROADCAST, UDP, DriverTests

ETH_P_ALL = 3
SNAP_BYTES, IN_ENGINE = 2, 3
SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING = 263, 6, 23


def attached():
    shown = subprocess.run(
        ["ip", "-json", "link", "show", "far"], capture_output=True, check=True
    ).stdout
    return json.loads(shown)[0].get("xdp")


def in_own_process(program):
    """Python, with the modules of the tests."""
    return subprocess.Popen(
        [sys.executable, "-B", "-c", program],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)},
    )


class Receiver:
    """How many packets that come in reach the host's own sockets."""

    def __init__(self, interface="far"):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.socket.bind((interface, ETH_P_ALL))

    def count(self):
        """Since the last call."""
        counts = self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        packets, drops = struct.unpack("II", counts)
        return packets

    def count_until(self, expected):
        """Since the last call, waiting for as many: they arrive after programs have seen them."""
        packets, deadline = self.count(), time.monotonic() + 5
        while packets < expected and time.monotonic() < deadline:
            time.sleep(0.01)
            packets += self.count()
        return packets

    def close(self):
        self.socket.close()


class Sender(threading.Thread):
    """Sends until stop(), or until its `with` ends."""

    def __init__(self, *frames, interface="near", pause_s=0):
        super().__init__()
        self.interface = interface
        self.pause_s = pause_s
        self.frames = frames
        self.sent = 0
        self.is_over = False

    def run(self):
        while not self.is_over:
            send(self.interface, *self.frames, count=10)
            self.sent += 10
            time.sleep(self.pause_s)

    def stop(self):
        self.is_over = True
        self.join()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


class XdpTests(DriverTests):
    """What a LiveTest of any device on far tests; programs() says how many are attached there, of
    the `program_count` that the device has."""

    def flow(self, *functions, device=None):
        return super().flow(*functions, device=device or self.device)

    def flow_with(self, option, value, *functions):
        flow = Flow.on_device(self.device)
        self.flows.append(flow)
        number = ctypes.c_ulonglong(value)
        self.assertEqual(Flow.library.mapi_set_flow_option(flow.fd, option, number), 0)
        flow.ids = [flow.apply(*function) for function in functions]
        flow.connect()
        return flow

    def connect_and_close(self, times, *functions):
        """A flow with a filter of its own each time."""
        for number in range(times):
            flow = Flow.on_device(self.device)
            for function in ("BPF_FILTER", f"udp or port {number}"), *functions:
                flow.apply(*function)
            flow.connect()
            time.sleep(0.02)
            flow.close()

    def check_frames_in_several_pieces(self, sent_from):
        for end in "near", "far":
            run("ip", "link", "set", end, "mtu", "9000")
        frame = BROADCAST + b"\x08\0" + b"x" * 8000 + b"the end"
        flow = self.flow(
            ("BPF_FILTER", "ether[8014] = 0x74 and greater 8000"),
            ("PKT_COUNTER",),
            ("BYTE_COUNTER",),
        )
        other = self.flow(("BPF_FILTER", "ether[8014] = 0x75"), ("PKT_COUNTER",))
        found = self.flow(("STR_SEARCH", "the end", 0, 0), ("PKT_COUNTER",))
        kept = self.flow(("BPF_FILTER", "greater 8000"), ("TO_BUFFER", 0))
        send(sent_from, frame, UDP, count=50)
        self.assert_counts(flow, 50, 1)
        self.assertEqual(flow.word(flow.ids[2]), 50 * len(frame))
        self.assert_counts(other, 0)
        self.assert_counts(found, 50)
        self.assertEqual(list(itertools.islice(kept.packets(kept.ids[1]), 50)), [frame] * 50)

    def take_far_away(self):
        """And bring it back, watched."""
        run("ip", "link", "del", "near")
        self.wait_for_message(b"has disappeared")
        make_pair("near", "far")
        self.wait_for_message(b"gone 1 time")

    def wait_for_message(self, text):
        self.assertTrue(
            wait_until(lambda: text in stats_of(self.device).message),
            stats_of(self.device).message,
        )

    def test_frames_in_several_pieces_are_filtered_as_one(self):
        self.check_frames_in_several_pieces("near")

    def test_nothing_stays_attached_when_a_program_is_killed(self):
        self.assertEqual(self.programs(), 0)
        for _ in range(5):
            child = in_own_process(
                "from mapi_library import Flow; import time\n"
                f"flow = Flow.on_device({self.device!r}); flow.apply('PKT_COUNTER')\n"
                "flow.connect(); print('connected', flush=True); time.sleep(60)\n"
            )
            self.assertEqual(child.stdout.readline(), b"connected\n")
            self.assertEqual(self.programs(), self.program_count)
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stdout.close()
            self.assertTrue(wait_until(lambda: self.programs() == 0, 5))


def main():
    needs.tools("bpftool")
    if subprocess.run(["bpftool", "prog"], capture_output=True).returncode != 0:
        needs.skip("cannot load BPF programs")
    mapi_live_library.main(is_own_user=False)
