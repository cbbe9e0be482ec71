# SPDX-License-Identifier: MIT
"""Collectors of flow reports: datagrams of FLOW_REPORT -> what nfcapd and nfacctd report about
them."""

import collections
import datetime
import ipaddress
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import threading
import time

LISTEN_S = 30
SO_RCVBUFFORCE = 33  # beyond net.core.rmem_max, as root; not in Python's socket module

Row = collections.namedtuple("Row", "key first_ms last_ms packets octets")


def as_capture(messages, path):
    """A pcap file with each message in a UDP packet from port 2055 to 2055."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for message in messages:
            udp = struct.pack("!HHHH", 2055, 2055, 8 + len(message), 0) + message
            packet = (
                struct.pack(
                    "!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes(4), bytes(4)
                )
                + udp
            )
            file.write(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet)


def milliseconds(text, shape="%b %d, %Y %H:%M:%S"):
    """Parses "Feb 23, 2020 10:46:41.123000000 UTC"."""
    moment, _, fraction = text.removesuffix(" UTC").partition(".")
    seconds = datetime.datetime.strptime(moment, shape).replace(tzinfo=datetime.UTC).timestamp()
    return int(seconds) * 1000 + int(fraction[:3])


class Receiver:
    """Datagrams on a port of this machine, until they are requested."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        except PermissionError:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.messages = []
        self.thread = threading.Thread(target=self.receive)
        self.thread.start()

    def receive(self):
        while message := self.socket.recv(65536):
            self.messages.append(message)

    def take(self):
        while self.thread.is_alive():  # a full buffer drops the datagram that ends it
            self.socket.sendto(b"", self.socket.getsockname())
            self.thread.join(0.1)
        self.socket.close()
        return self.messages


def messages_in(content):
    """A file that FLOW_REPORT wrote, split into messages."""
    at = 0
    while at < len(content):
        end = at + message_bytes(content, at)
        yield content[at:end]
        at = end


def message_bytes(content, at):
    version, word = struct.unpack_from("!HH", content, at)
    if version == 10:
        return word
    if version == 5:
        return 24 + 48 * word
    end = at + 20
    while end < len(content) and content[end : end + 2] != b"\0\x09":  # no set has the number 9
        end += struct.unpack_from("!H", content, end + 2)[0]
    return end - at


class Collector:
    """A program that listens on a port of this machine."""

    def __init__(self, folder):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.address = folder, f"127.0.0.1:{self.port}"
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=dict(os.environ, TZ="UTC"),
            )
        until = time.monotonic() + LISTEN_S
        while not (self.socket_line() and self.is_ready()):
            if time.monotonic() > until:
                self.kill()
                raise AssertionError(
                    f"{self.command()[0]} does not listen: " + (folder / "log").read_text()
                )
            time.sleep(0.01)

    def is_ready(self):
        return True

    def kill(self):
        """Including the processes that it has started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def socket_line(self):
        lines = pathlib.Path("/proc/net/udp").read_text().splitlines()
        return next((line for line in lines if f"0100007F:{self.port:04X} " in line), None)

    def give(self, messages):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for message in messages:
                sender.sendto(message, ("127.0.0.1", self.port))
                self.wait_until_read()

    def wait_until_read(self):
        """Waits until its socket is empty; it may still be processing the last datagram."""
        until = time.monotonic() + LISTEN_S
        while not self.socket_line().split()[4].endswith(":00000000") and time.monotonic() < until:
            time.sleep(0.01)


class Nfcapd(Collector):
    def command(self):
        return [
            "nfcapd",
            "-b",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-w",
            str(self.folder),
            "-t",
            "3600",
            "-B",
            "8388608",
        ]

    def take(self):
        self.wait_until_read()
        time.sleep(0.2)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        for file in sorted(self.folder.glob("nfcapd.2*")):
            lines = subprocess.run(
                [
                    "nfdump",
                    "-r",
                    str(file),
                    "-q",
                    "-N",
                    "-6",
                    "-o",
                    "fmt:%ts|%te|%sa|%da|%sp|%dp|%pr|%pkt|%byt",
                ],
                check=True,
                capture_output=True,
                text=True,
                env=dict(os.environ, TZ="UTC"),
            ).stdout.splitlines()
            for line in filter(lambda line: "|" in line, lines):  # a file without flows says so
                (
                    first,
                    last,
                    source,
                    destination,
                    source_port,
                    destination_port,
                    protocol,
                    packets,
                    octets,
                ) = map(str.strip, line.split("|"))
                # for ICMP, the port is type.code
                key = (
                    ipaddress.ip_address(source),
                    ipaddress.ip_address(destination),
                    int(float(source_port)),
                    int(float(destination_port)),
                    int(protocol),
                )
                yield Row(
                    key,
                    milliseconds(first, "%Y-%m-%d %H:%M:%S"),
                    milliseconds(last, "%Y-%m-%d %H:%M:%S"),
                    int(packets),
                    int(octets),
                )


class Nfacctd(Collector):
    """Of pmacct. It writes its output every second, a row for each flow with other times."""

    PROTOCOLS = {"tcp": 6, "udp": 17}
    SECOND_SHAPE = "%Y-%m-%d %H:%M:%S"

    def command(self):
        (self.folder / "conf").write_text(f"""daemonize: false
nfacctd_ip: 127.0.0.1
nfacctd_port: {self.port}
nfacctd_disable_checks: true
timestamps_utc: true
plugins: print[flows]
aggregate[flows]: src_host, dst_host, src_port, dst_port, proto, timestamp_start, timestamp_end
print_refresh_time: 1
print_history: 1m
print_output: json
print_output_file: {self.folder}/flows.json
print_output_file_append: true
""")
        return ["nfacctd", "-f", str(self.folder / "conf")]

    def take(self, flows):
        """`flows` rows, once they are there, and its other output."""
        until = time.monotonic() + LISTEN_S
        while len(self.read()) < flows and time.monotonic() < until:
            time.sleep(0.05)
        self.kill()
        return [self.as_row(row) for row in self.read()]

    def is_ready(self):
        """Until it has first checked its empty cache, it may leave data unprocessed for a long
        time."""
        return "Purging cache - END" in (self.folder / "log").read_text()

    def read(self):
        path = self.folder / "flows.json"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def as_row(self, row):
        key = (
            ipaddress.ip_address(row["ip_src"]),
            ipaddress.ip_address(row["ip_dst"]),
            row["port_src"],
            row["port_dst"],
            self.PROTOCOLS[row["ip_proto"]],
        )
        return Row(
            key,
            milliseconds(row["timestamp_start"], self.SECOND_SHAPE),
            milliseconds(row["timestamp_end"], self.SECOND_SHAPE),
            row["packets"],
            row["bytes"],
        )
