# SPDX-License-Identifier: MIT
"""TCP streams as tshark follows them and as COOKING returns them: {(source, port, destination,
port): bytes}."""

import collections
import functools
import re
import subprocess

from mapi_library import MFF_PCAP, Flow

CLIENT_SIDE, SERVER_SIDE, BOTH_SIDE = 1, 2, 3
TSHARK = ["tshark", "-n", "-o", "tcp.desegment_tcp_streams:FALSE"]
COUNTS = [
    "passed_packets",
    "packets",
    "bytes",
    "streams",
    "early_ends",
    "cooked_packets",
    "cooked_bytes",
    "other_bytes",
    "repeated_bytes",
    "holes",
    "missing_bytes",
    "cut_bytes",
    "fragments",
    "lost_fragments",
    "lost_packets",
    "ignored_packets",
    "ignored_bytes",
    "early_bytes",
]
MISSING = re.compile(rb"\[\d+ bytes missing in capture file\]\0?")


def tshark(capture, *more):
    return subprocess.run(
        [*TSHARK, "-r", capture, *more], capture_output=True, text=True, check=True
    ).stdout


def end_of(line):
    address, port = line.split(": ", 1)[1].rsplit(":", 1)
    return address.strip("[]"), int(port)


@functools.lru_cache(None)
def streams_followed(capture):
    """For a capture file that does not change."""
    return followed(capture)


def followed(capture):
    numbers = {
        int(line)
        for line in tshark(
            capture, "-T", "fields", "-e", "tcp.stream", "-E", "occurrence=l", "-Y", "tcp"
        ).split()
    }
    taps = [part for number in sorted(numbers) for part in ("-z", f"follow,tcp,raw,{number}")]
    # by the stream's number: two may have the same ends
    found = collections.defaultdict(lambda: collections.defaultdict(bytes))
    for line in tshark(capture, "-q", *taps).splitlines() if taps else []:
        if line.startswith("Filter: tcp.stream eq "):
            number, ends = int(line.split()[-1]), {}
        elif line.startswith("Node "):
            ends[line[5]] = end_of(line)
        elif re.fullmatch(r"\t?[0-9a-f]+", line):
            source, destination = ("1", "0") if line.startswith("\t") else ("0", "1")
            found[number][ends[source] + ends[destination]] += bytes.fromhex(line.strip())
    streams = collections.defaultdict(bytes)
    for number in sorted(found):
        for key, stream in found[number].items():
            streams[key] += stream
    return {key: MISSING.sub(b"", stream) for key, stream in streams.items() if stream}


def cooked(capture, to, *arguments, before=(), after=()):
    """Writes to a file; returns the counts of COOKING by name."""
    flow = Flow.offline(capture)
    for name, *rest in before:
        flow.apply(name, *rest)
    function = flow.apply("COOKING", *arguments)
    for name, *rest in after:
        flow.apply(name, *rest)
    flow.apply("TO_FILE", MFF_PCAP, str(to), 0)
    flow.run()
    counts = dict(zip(COUNTS, flow.words(function)))
    flow.close()
    return counts


FIELDS = [
    "frame.protocols",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "ip.dst",
    "ipv6.dst",
    "tcp.dstport",
    "tcp.payload",
    "tcp.len",
    "tcp.checksum.status",
    "ip.checksum.status",
    "tcp.seq_raw",
    "frame.time_epoch",
    "tcp.flags",
    "frame.len",
    "gre.checksum.status",
]


def packets(capture):
    """Dictionaries of the innermost headers' fields."""
    command = [
        "-T",
        "fields",
        "-E",
        "occurrence=l",
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
        "-Y",
        "tcp && !icmp && !icmpv6",
    ]
    for field in FIELDS:
        command += ["-e", field]
    return [dict(zip(FIELDS, line.split("\t"))) for line in tshark(capture, *command).splitlines()]


def ends_of(packet):
    innermost = next(
        name for name in reversed(packet["frame.protocols"].split(":")) if name in ("ip", "ipv6")
    )
    return (
        packet[innermost + ".src"],
        int(packet["tcp.srcport"]),
        packet[innermost + ".dst"],
        int(packet["tcp.dstport"]),
    )


def streams_of(found):
    """The streams of packets()."""
    streams = collections.defaultdict(bytes)
    for packet in found:
        streams[ends_of(packet)] += bytes.fromhex(packet["tcp.payload"])
    return {key: stream for key, stream in streams.items() if stream}
