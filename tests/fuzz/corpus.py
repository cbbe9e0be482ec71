# SPDX-License-Identifier: MIT
"""Real captures, traces, filters and requests -> a folder of inputs for each fuzz target, in the
format that its first lines describe."""

import gzip
import os
import pathlib
import struct
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("NETSLICE_DATA") or SOURCE.parent / "shared/data")
DEMO = SOURCE / "mapi-core/apps/demo/demo.pcap"
CAPTURE_BYTES_MAX = 100_000
PACKETS_OF_CAPTURE = 12
FUNCTIONS = 41  # the byte that selects one is taken modulo their number
RULES = 16
FILTERS = (
    "tcp port 80",
    "udp",
    "ip6 and tcp",
    "vlan and ip",
    "tcp[tcpflags] & tcp-syn != 0",
    "src net 10.0.0.0/8",
    "greater 500",
    "portrange 1-1023",
    "ether host 00:11:22:33:44:55",
    "ip[8] < 64 and not icmp",
    "mpls and ip",
    "host 192.168.1.1 and port 53",
)
PATTERNS = (b"GET /", b"|16 03 01|", b"a||b", b"www\\|ftp", b"|00|HTTP|0d 0a|")
RULE_OPTIONS = (
    'content:"GET"; nocase; depth:3; content:"/"; within:2;',
    'content:"|90 90|"; byte_jump:2,0,relative,align; isdataat:4,relative;',
    'uricontent:"/cgi-bin/"; pcre:"/a+\\.pl/Ui"; urilen:>5;',
    'content:!"x"; http_header; content:"POST"; http_method;',
    "byte_extract:1,0,n; byte_test:2,>,n,1,relative; dsize:>10;",
    'base64_decode:relative; base64_data; content:"a"; pkt_data; content:"b"; rawbytes;',
    'content:"a"; base64_decode:bytes 8,relative; base64_data; content:"a"; isdataat:1,relative;',
    'base64_data; content:"a"; nocase; content:"b"; nocase; distance:1;',
    'file_data; content:"<html"; nocase; rpc:100000,*,3; ftpbounce;',
    "byte_math:bytes 2,offset 0,oper +,rvalue 7,result r; byte_test:1,<,r,0;",
    "byte_math:bytes 4,offset 0,oper <<,rvalue 9,result r,string hex,relative; isdataat:r;",
    'sip_method:invite,ack; sip_header; content:"Via|3a|"; sip_body; content:"o=";',
    "sip_stat_code:4,200; sip_body; pcre:\"/m=audio/\";",
    "asn1:bitstring_overflow,double_overflow,oversize_length 500;",
    'content:"|30|"; asn1:oversize_length 1024,relative_offset -1;',
    "flags:S+,12; ttl:<64; fragbits:!M; ipopts:rr; itype:8; icmp_id:1; ip_proto:!6;",
)
REQUESTS = (
    'create_flow { flow: 1 device: "lo" }',
    'create_offline { path: "file" format: 0 flow: 1 }',
    'apply { flow: 1 function: "BPF_FILTER" arguments { kind: 115 text: "tcp" } }',
    'apply { flow: 1 function: "PKT_COUNTER" }',
    'apply { flow: 1 function: "TO_BUFFER" arguments { kind: 105 number: 1 } }',
    (
        'apply { flow: 1 function: "TOP" arguments { kind: 105 number: 5 } arguments { kind: 105 '
        "number: 1 } arguments { kind: 105 number: 9 } }"
    ),
    (
        'apply { flow: 1 function: "STATS" arguments { kind: 102 targets { flow: 1 function: 2 } '
        '} arguments { kind: 115 text: "0" } }'
    ),
    (
        'apply { flow: 1 function: "TO_FILE" arguments { kind: 105 number: 0 } arguments { kind: '
        '119 text: "out" } arguments { kind: 108 number: 9 } }'
    ),
    "connect { flow: 1 }",
    "describe_flow { flow: 1 }",
    "describe_function { flow: 1 function: 1 }",
    "describe_device { id: 1 }",
    "next_device { id: 0 }",
    'statistics { device: "file" }',
    "poll { flow: 1 function: 3 }",
    "function_at { number: 3 }",
    "list_devices { }",
    "list_flows { client: 1 }",
    "ask_daemon { }",
    'start_recording { name: "t" slices: "a*,!b" }',
    "stop_recording { }",
    "reset { flow: 1 function: 2 }",
    "remove { flow: 1 function: 2 }",
    'set_option { device: "file" key: "repeat" value: "2" }',
    'start_offline { device: "file" }',
    'delete_offline { device: "file" }',
    "close { flow: 1 }",
)
CONFIGS = (
    (
        "[driver]\ndevice=eth9\ndriver=mapinicdrv.so\ndescription=a network\nalias=a\n"
        "link_speed=1000\nmpls=0\nvlan=1\n"
    ),
    (
        "libpath=/usr/lib\nlibs=stdflib.so:extraflib.so\nlog_level=1\n[driver]\ndevice=f\n"
        "path=/tmp/a.pcap\nrepeat=forever\nbatch=1\n"
    ),
    (
        "[format]\nformat=1\ndriver=mapidagdrv.so\n[dag]\ndisable_dsm=1\n[ipfixflib]\n"
        "observationDomain=3\nidleTimeout=10\nhashSize=64\n; a note\n"
    ),
)


def counted_filters():
    lines = (SOURCE / "tests/bench/counted_filters.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def captures():
    found = [DEMO]
    for ending in ("*.pcap", "*.pcapng", "*.cap", "*.erf"):
        found += sorted(DATA.rglob(ending))
    return [path for path in found if path == DEMO or path.stat().st_size <= CAPTURE_BYTES_MAX]


def packets(capture, expression="", most=PACKETS_OF_CAPTURE):
    """The first few that the filter accepts, read by tcpdump, which supports what libpcap reads."""
    done = subprocess.run(
        ["tcpdump", "-r", capture, "-w", "-", "-c", str(most), expression],
        capture_output=True,
        check=False,
    )
    data, at = done.stdout, 24
    while at + 16 <= len(data):
        caplen = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16 : at + 16 + caplen]
        at += 16 + caplen


def instructions(expression):
    """In the compiler's output format: count, then code, jt, jf, k of each."""
    done = subprocess.run(
        ["tcpdump", "-y", "EN10MB", "-ddd", expression], capture_output=True, text=True, check=False
    )
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines()[1:]]
    return b"".join(struct.pack("<HBBI", *row) for row in rows), len(rows)


def requests():
    for text in REQUESTS:
        done = subprocess.run(
            [
                "protoc",
                f"--proto_path={SOURCE}/mapi-core/ipc",
                "--encode=mapi.ipc.Request",
                "mapi.proto",
            ],
            input=text.encode(),
            capture_output=True,
            check=True,
        )
        yield done.stdout


def framed(request):
    """With one descriptor, a capture or a file to write, if a request requires one."""
    descriptors = 1 if b"file" in request or b"out" in request else 0
    return struct.pack(">HB", len(request), descriptors) + request


# Functions of C and C++, names of which refer to parts of themselves, and one with a loop.
PROGRAM = """
template <class A, class B> struct Pair { int take(A, B); };
template <class A, class B> int Pair<A, B>::take(A, B) { return 1; }
using Twice = Pair<Pair<int, char>, Pair<int, char>>;
template struct Pair<Twice, Pair<Twice, Twice>>;
extern "C" int loops(int n) { int sum = n; do asm(""); while (--n); return sum; }
"""
PROGRAM_OPTIONS = (
    ("g++", "-fcf-protection=full"),
    ("g++", "-fpatchable-function-entry=8,3"),
    ("g++", "-fpatchable-function-entry=5", "-m32"),
    ("clang++-14", "-fxray-instrument", "-fxray-instruction-threshold=1"),
)


def programs():
    """ELF files of a few KiB: shared objects without libraries, linked and not."""
    for compiler, *options in PROGRAM_OPTIONS:
        for linked in (["-c"], ["-shared", "-nostdlib", "-Wl,--build-id=none,-z,noseparate-code"]):
            with tempfile.NamedTemporaryFile() as file:
                done = subprocess.run(
                    [compiler, "-O2", "-fPIC", *options, *linked, "-x", "c++", "-"]
                    + ["-o", file.name],
                    input=PROGRAM.encode(),
                    capture_output=True,
                    check=False,
                )
                if done.returncode == 0:  # some machines lack a compiler
                    yield pathlib.Path(file.name).read_bytes()


def snort_rules():
    """Each with definitions of its variables."""
    variables = b"".join(
        b"var %s %s\n" % (name, value)
        for name, value in (
            (b"HOME_NET", b"[10.0.0.0/8,!10.1.0.0/16]"),
            (b"EXTERNAL_NET", b"!$HOME_NET"),
            (b"HTTP_SERVERS", b"any"),
            (b"HTTP_PORTS", b"[80,8080:8090]"),
        )
    )
    yield variables + b'drop tcp $HOME_NET any <> [::1/64] !80 (msg:"a"; content:!"|41|b"; sid:1;)'
    for path in sorted((DATA / "rules").rglob("*.rules")):
        lines = [line for line in path.read_bytes().splitlines() if b"alert " in line]
        for line in lines[:: max(1, len(lines) // 5)]:
            yield variables + line.lstrip(b"# ") + b"\n"


# Arguments of make_trace: small traces with all kinds of chunks and records.
MADE_TRACES = (
    ("--kernel", "--counters=2", "--migrate-every=5", "--lose-every=7"),
    ("--thinned", "--sites=8", "--unit-slices=3"),
    ("--share-sites", "--sites=40", "--threads=3", "--wide", "--no-footer"),
    ("--no-calibration", "--packets=1", "--chunk-bytes=128"),
)
# Of exports: the number of outputs, and heads of the range, the weight and the selection.
EXPORTS = 14
EXPORT_HEADS = (b"\0\0\0", b"\2\1\1", b"\3\2\2", b"\4\3\x0b")


def traces(tools):
    """Those of tests/format, and those of programs in the folder `tools`, if they are built."""
    for trace in sorted((SOURCE / "tests/format").rglob("*.nsl")):
        yield trace.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.nsl"
        made = [("make_trace", path, "--records=300", "--cpus=2", *more) for more in MADE_TRACES]
        for command in [*made, ("make_timeline_trace", path), ("make_parts_trace", path)]:
            program = pathlib.Path(tools) / command[0]
            if program.exists():
                subprocess.run([program, *command[1:]], check=True)
                yield path.read_bytes()


class Corpora:
    """Inputs without duplicates, numbered."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.counts = {}

    def add(self, target, data):
        number = self.counts[target] = self.counts.get(target, 0) + 1
        into = self.folder / target
        into.mkdir(parents=True, exist_ok=True)
        (into / f"seed-{number:05}").write_bytes(data)

    def add_packets(self, some, index):
        """Single packets for targets of one packet, all of a capture's for targets that follow
        streams."""
        packet = some[index % len(some)][:1500]
        self.add("headers", b"\1" + packet)
        self.add("invariant_bytes", b"\1\x40" + packet)
        self.add("anonymize", bytes([index % RULES, 0, 8, 0]) + packet)
        self.add(
            "packet_block",
            bytes([1, 0])
            + b"".join(
                struct.pack("<HBB8x", len(one) % 1024, 0, index % 4) + one[: len(one) % 1024]
                for one in some
            ),
        )
        self.add(
            "functions",
            bytes([index % FUNCTIONS]) + b"".join(self.for_functions(one[:1000]) for one in some),
        )
        self.add(
            "arguments",
            bytes([index % FUNCTIONS])
            + b"1\0" * (index % 4)
            + b"".join(self.for_functions(one[:1000]) for one in some[:4]),
        )
        self.add(
            "cooking",
            bytes([index % 8 * 32])
            + b"".join(struct.pack(">HB", len(one), 1) + one for one in some),
        )
        program, count = instructions(FILTERS[index % len(FILTERS)])
        self.add("match", bytes([1, count % 256, 0, 0, 0]) + program + packet)
        first = index % (len(RULE_OPTIONS) - 4)
        options = "\n".join(RULE_OPTIONS[first : first + 5]).encode()
        self.add("rule", struct.pack("<H", len(options)) + options + packet)
        pattern = PATTERNS[index % len(PATTERNS)]
        self.add("match", bytes([0, len(pattern), 0, 0, 0]) + pattern + packet)

    @staticmethod
    def for_functions(packet):
        return struct.pack("<HBB", len(packet), 1, 0) + packet

    def add_filters(self, some):
        """Each with a packet that it accepts, if there is one, and with any other; the kernel runs
        a few of them, too."""
        with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for packet in some:
                file.write(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet)
            file.flush()
            for index, expression in enumerate(counted_filters()):
                program, count = instructions(expression)
                if count == 0:
                    continue
                head = struct.pack("<BHI", index % 8, count, index % 3)
                for packet in (some[index % len(some)], *packets(file.name, expression, 1)):
                    self.add("ebpf", head + program + packet)


def make(folder, tools):
    """The number of inputs of each target; `tools` has programs that make some of them."""
    corpora = Corpora(folder)
    all_packets = []
    for index, capture in enumerate(captures()):
        some = list(packets(capture))
        if some:
            corpora.add_packets(some, index)
            all_packets += [packet[:1500] for packet in some]
        if capture.stat().st_size <= CAPTURE_BYTES_MAX:
            whole = capture.read_bytes()
            corpora.add("capture_file", whole)
            if index % 20 == 0:
                corpora.add("capture_file", gzip.compress(whole))
    corpora.add_filters(all_packets)
    for trace in traces(tools):
        corpora.add("file_reader", trace)
        for output in range(EXPORTS):
            corpora.add("exports", bytes([output]) + EXPORT_HEADS[output % 4] + trace)
    for program in programs():
        corpora.add("elf_functions", program)
    for text in CONFIGS:
        corpora.add("config", text.encode())
    for name in "sids.1", "example.rules":
        for block in (SOURCE / "mapi-core/apps/sids" / name).read_text().split("\n\n"):
            corpora.add("sids_rules", block.replace("\\e", "\\").encode())
    manual = (SOURCE / "nsdump/nsdump.1").read_text()
    for line in manual.partition(".SH RULES")[2].splitlines():
        if ": " in line:
            corpora.add("gate_rules", line.replace("\\", "").encode())
    corpora.add("gate_rules", b"\xef\xbb\xbfparse: net_ns <= 1\r\n*: lost == 0 strict\r\n")
    for text in snort_rules():
        corpora.add("snort_rules", text)
    all_requests = [framed(request) for request in requests()]
    corpora.add("session", b"".join(all_requests))
    for request in all_requests:
        corpora.add("session", all_requests[0] + request)
    for what in range(256):
        corpora.add(
            "channel",
            b"".join(
                bytes([what & 0xF7 | step & 8, 0, length, count, most])
                for step, length, count, most in (
                    (0, 0, 16, 16),
                    (8, 0, 1, 16),
                    (8, 9, 17, 2),
                    (8, 255, 253, 0),
                    (8, 0, 0, 16),
                )
            ),
        )
    for step in range(8):
        corpora.add("ring", bytes([step, 200, 3, 0, 4, 1, step, 7] * 20))
    return corpora.counts
