# SPDX-License-Identifier: MIT
# The driver xdp on each kernel: where functions run, what they count, what is refused and why, and
# what is left when a program ends.
import functools
import pathlib
import re
import shutil
import string
import struct
import sys
import tempfile
import unittest

import guest
from nsmod_guest import BUILD, GUEST, KERNELS, documents

REPEAT = 5
NTP_SECONDS = 2208988800  # from 1900 to 1970
TOOLS = ("/sbin/ip", "/usr/bin/setpriv")  # busybox has others of these names


def frame(ethertype, content):
    return b"\xff" * 6 + b"\2\0\0\0\0\1" + struct.pack(">H", ethertype) + content


def ipv4(protocol, source, content):
    """From 0.0.0.SOURCE."""
    head = (0x45, 0, 20 + len(content), 0, 0, 64, protocol, 0, source, 0x02020202)
    return frame(0x0800, struct.pack(">BBHHHBBHII", *head) + content)


def udp(source):
    return ipv4(17, source, struct.pack(">HHHH", 1, 2, 26, 0) + b"x" * 18)


def tcp(source, content):
    return ipv4(6, source, struct.pack(">HHIIHHHH", 1, 80, 0, 0, 0x5000, 0, 0, 0) + content)


ARP = frame(0x0806, b"a" * 46)
IPV6 = frame(0x86DD, struct.pack(">IHBB", 0x60000000, 20, 6, 64) + bytes(32) + b"x" * 20)
LARGE = frame(0x0800, b"x" * 8000 + b"the end")  # in several pieces
FRAMES = (
    [udp(source) for source in range(1, 49)]
    + [tcp(source, b"GET /" + b"y" * 40) for source in range(1, 21)]
    + [tcp(source, b"get /" + b"y" * 40) for source in range(21, 41)]
    + [IPV6] * 2
    + [LARGE] * 4
    + [ARP] * 6  # last: once they are there, all are
)
SENT = REPEAT * len(FRAMES)
BYTES = REPEAT * sum(map(len, FRAMES))
ARPS = REPEAT * 6

# Flow -> results of its functions: a number, or one that check_flows() knows, or None.
TIME, HASHED, SAMPLED = "time", "hashed", "sampled"
PERIOD = 7
HASH_FLOW = "HASHSAMP 512 0 | PKT_COUNTER"
ARPS_KEPT = "BPF_FILTER arp | TO_BUFFER 0"
FEW = {
    "BPF_FILTER udp | BYTE_COUNTER": [None, 48 * REPEAT * len(udp(1))],
    'BPF_FILTER "tcp port 80" | STR_SEARCH "GET /" 0 0 | PKT_COUNTER': [None, None, 20 * REPEAT],
    HASH_FLOW: [None, HASHED],
    ARPS_KEPT: [None, None],
}
LEAST = {flow: FEW[flow] for flow in (HASH_FLOW, ARPS_KEPT)}
FLOWS = FEW | {
    "PKT_COUNTER | BYTE_COUNTER | INTERFACE 0 | SAMPLE 100 3 | PKTINFO 1 | PKTINFO 0": [
        SENT,
        BYTES,
        None,
        None,
        len(ARP),
        TIME,
    ],
    'STR_SEARCH "GET /" 0 0 nocase | PKT_COUNTER': [None, 40 * REPEAT],
    'STR_SEARCH "the end" 0 0 | PKT_COUNTER': [None, 4 * REPEAT],
    'BPF_FILTER "ether[8014] = 0x74" | PKT_COUNTER': [None, 4 * REPEAT],
    f"SAMPLE {PERIOD} 2 | PKT_COUNTER": [None, SAMPLED],
    "INTERFACE 1 | PKT_COUNTER": [None, 0],
}
LOOP = 'BPF_FILTER "ip6 protochain 6" | PKT_COUNTER'
ALL = {  # the loop is first: the verifier is slow in the guest
    LOOP: [None, 2 * REPEAT],
    **FLOWS,
    **{  # so many that the program finds them by a table
        f'BPF_FILTER "src host 0.0.0.{number}" | PKT_COUNTER': [
            None,
            (2 if number <= 40 else 1) * REPEAT,
        ]
        for number in range(37, 45)
    },
}
# Where functions run, of flows not all of whose functions run in the kernel.
KERNEL = "kernel"
ELSEWHERE = {
    ARPS_KEPT: [KERNEL, "engine: its packets are for the program"],
    LOOP: [
        "engine: the kernel's verifier refuses it",
        "engine: a function before it runs in the engine",
    ],
}


class Script(string.Template):
    delimiter = "@@"  # $ is the shell's


SCRIPT = Script(r"""
export MAPI_SOCKET=none
within() { # COMMAND: until it succeeds, at most 300 times; or until the flows have ended
    left=300
    until eval "$1" || [ $left = 0 ] || ! kill -0 $flow 2>/dev/null; do
        left=$((left - 1)); usleep 150000
    done
}
attached() { /test/ip link show $1 | grep -q prog/xdp; }
begin() { # NAME DEVICE FLOW...: returns when all flows are connected
    name=$1 device=$2; shift 2
    date +"begin $name %s"
    : >out # else the one before might be looked at
    $rights mapi-flow -i $device --json --interval 0.5 "$@" >out 2>err & flow=$!
    within 'grep -q statistics out'
}
end() { # how often TO_BUFFER gets its packets, INTERFACE...: on which packets are sent
    times=$1; shift
    for from; do
        mapi-gen -q --method af_packet --capture /test/frames.pcap --count @@sent $from >/dev/null
    done
    within "grep -q '\"statistics\":{\"packets\":'$((times * @@sent)), out"
    within '[ $(grep -c "\"packet\":" out) = $((times * @@arps)) ]'
    mapi-info functions --json 2>/dev/null >functions && {
        echo "json ${name}_functions"; cat functions; echo "end of json"
    }
    kill $flow 2>/dev/null
    wait $flow
    echo "exit $name $?"
    sed "s/^/said $name /" err
    echo "packets $name $(grep -c '"packet":' out)"
    grep -q statistics out && { echo "json $name"; tail -n 1 out; echo "end of json"; }
    date +"end $name %s"
}
up() {
    for end; do
        echo 1 >/proc/sys/net/ipv6/conf/$end/disable_ipv6
        /test/ip link set $end up
    done
}
/test/ip link add near mtu 9000 type veth peer name far mtu 9000
up near far lo
mapi-flow -r /test/frames.pcap --json '@@hash_flow' >hashed
echo "json hashed"; cat hashed; echo "end of json"

/test/mapi_kernel_test "@@probes" >probes 2>&1
echo "exit probes $?"; tail -n 30 probes

begin generic xdp:lo @@few; end 1 lo

rights="/test/setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock"
(
    ulimit -l 0
    begin locked xdp:far @@least
    grep locked /proc/$flow/limits
    grep CapEff /proc/$flow/status
    end 1 near
)
rights=

mkdir /groups; mount -t cgroup2 groups /groups
echo +memory >/groups/cgroup.subtree_control
mkdir /groups/small; echo 12M >/groups/small/memory.max
sh -c 'echo $$ >/groups/small/cgroup.procs; exec mapi-flow -i xdp:far -d 1 PKT_COUNTER' >out 2>err
echo "exit small $?"; sed "s/^/said small /" err
attached far && echo "still attached: small"

# What comes in at next leaves from far, through traffic control, which mapi-gen bypasses.
/test/ip link add other mtu 9000 type veth peer name next mtu 9000
/test/ip link add name bridge0 mtu 9000 type bridge mcast_snooping 0
for end in far next; do /test/ip link set $end master bridge0; done
up other next bridge0
begin both xdp:far,both @@least; end 2 near other
attached far && echo "still attached: both"

begin killed xdp:far PKT_COUNTER 'STR_SEARCH xxx 0 0'
attached far && echo "attached before it is killed"
kill -9 $flow; wait $flow
flow=$$; within '! attached far'
attached far && echo "still attached: killed"

cat >mapi.conf <<"END"
[driver]
device=incoming
driver=xdp
path=far
[driver]
device=twoway
driver=xdp
path=far
both=1
END
export MAPI_SOCKET=/tmp/mapid.sock
mapid --config mapi.conf --log-file log & daemon=$!
flow=$$; within 'mapi-info >/dev/null 2>&1'
begin incoming incoming @@all; end 1 near
@@outgoing
kill $daemon; wait $daemon; echo "exit mapid $?"
attached far && echo "still attached: mapid"
""")

# Names of unit tests: before Linux 6.10 the thread of a record comes from the kernel's own types.
PROBES = "a packet is a unit*,each record is in the ring*"


def has_tcx(kernel):
    return tuple(map(int, re.findall(r"\d+", kernel)[:2])) >= (6, 6)


def words(flows):
    return " ".join(f"'{flow}'" for flow in flows)


def write_frames(path):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for one in FRAMES:
            file.write(struct.pack("<IIII", 0, 0, len(one), len(one)) + one)


@functools.cache
def guest_run(kernel):
    """The script's result: one guest for all tests."""
    machine = GUEST(BUILD, kernel=kernel, cpus=2, timeout_s=300)
    for program in "mapid", "mapi-flow", "mapi-gen", "mapi-info":
        machine.add(f"bin/{program}")
    machine.add("tests/mapi_kernel_test")
    for tool in TOOLS:
        machine.add(tool)
    for module in "veth", "bridge":
        machine.add_module(module)
    outgoing = f"begin outgoing twoway {words(FLOWS)}; end 2 near other"
    script = SCRIPT.substitute(
        hash_flow=HASH_FLOW,
        few=words(FEW),
        least=words(LEAST),
        all=words(ALL),
        sent=SENT,
        arps=ARPS,
        probes=PROBES,
        outgoing=outgoing if has_tcx(kernel) else "",
    )
    with tempfile.TemporaryDirectory() as folder:
        capture = pathlib.Path(folder) / "frames.pcap"
        write_frames(capture)
        machine.add(capture)
        return machine.run(script)


class MapiXdp(unittest.TestCase):
    def on_each_kernel(self, check):
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                result = guest_run(kernel)
                self.assertEqual(result.kernel_faults, [])
                check(kernel, result.output, documents(result.output))

    def check_flows(self, flows, output, found, name, times=1):
        """Results of flows whose packets were sent once, or from both ends."""
        self.assertIn(name, found, output[-3000:])
        hashed = found["hashed"]["flows"][0]["functions"][-1]["result"]
        known = {HASHED: hashed * REPEAT * times, SAMPLED: SENT * times // PERIOD}
        begin, end = (
            int(re.search(f"^{word} {name} (\\d+)$", output, re.M).group(1))
            for word in ("begin", "end")
        )
        for flow, its in zip(flows, found[name]["flows"], strict=True):
            for function, expected in zip(its["functions"], flows[flow], strict=True):
                result = function["result"]
                if expected == TIME:
                    self.assertGreater(result / 2**32 - NTP_SECONDS, begin - 1)
                    self.assertLess(result / 2**32 - NTP_SECONDS, end + 2)
                elif function["name"] == "PKTINFO" or expected is None:
                    self.assertEqual(result, expected, flow)
                else:
                    self.assertEqual(result, known.get(expected, expected * times), flow)
        self.assertIn(f"\npackets {name} {times * ARPS}\n", output)
        statistics = found[name]["statistics"]
        self.assertEqual(statistics["packets"], times * SENT)
        self.assertEqual(statistics["kernel_drops"], 0)

    def check_places(self, flows, found, name):
        listed = [
            [function["place"] for function in flow["functions"]]
            for flow in found[f"{name}_functions"]["flows"]
            if flow["functions"]
        ]
        expected = {
            flow: ELSEWHERE.get(flow, [KERNEL] * len(results)) for flow, results in flows.items()
        }
        self.assertEqual(dict(zip(flows, listed, strict=True)), expected)

    def test_functions_run_in_the_kernel_and_count_exactly_what_was_sent(self):
        def check(_, output, found):
            self.check_flows(ALL, output, found, "incoming")
            self.check_places(ALL, found, "incoming")
            stats = found["incoming"]["statistics"]
            self.assertEqual((stats["message"], stats["remark"]), ("", ""))  # native
            self.assertIn("\nexit incoming 0\n", output)

        self.on_each_kernel(check)

    def test_an_interface_without_native_xdp_is_used_in_generic_mode_and_says_so(self):
        def check(_, output, found):
            self.check_flows(FEW, output, found, "generic")
            remark = found["generic"]["statistics"]["remark"]
            self.assertTrue(remark.startswith("lo: XDP in generic mode: slower"), remark)

        self.on_each_kernel(check)

    def test_both_directions_are_counted_or_the_missing_feature_is_named(self):
        def check(kernel, output, found):
            self.assertNotIn("still attached: both", output)
            if not has_tcx(kernel):
                self.assertIn("\nexit both 3\n", output)
                self.assertIn('the option "both" requires tcx, of Linux 6.6', output)
                self.assertIn("omit it, or read the interface with driver=af_packet", output)
                return
            self.check_flows(LEAST, output, found, "both", 2)
            self.check_flows(FLOWS, output, found, "outgoing", 2)
            self.check_places(FLOWS, found, "outgoing")

        self.on_each_kernel(check)

    def test_probes_write_the_stages_of_each_packet(self):
        def check(_, output, _found):
            self.assertIn("\nexit probes 0\nFilters: a packet is a unit", output)
            self.assertIn("2 test cases", output)

        self.on_each_kernel(check)

    def test_no_locked_memory_is_needed(self):
        def check(_, output, found):
            self.assertRegex(output, r"Max locked memory +0 +0 ")
            rights = int(re.search(r"CapEff:\s*(\w+)", output).group(1), 16)
            self.assertFalse(rights >> 14 & 1, "CAP_IPC_LOCK")
            self.check_flows(LEAST, output, found, "locked")

        self.on_each_kernel(check)

    def test_too_small_a_limit_of_the_control_group_is_named_and_nothing_stays_attached(self):
        def check(_, output, _found):
            self.assertIn("\nexit small 3\n", output)
            self.assertRegex(
                output,
                r"said small mapi-flow: BPF map mapi_rings of \d+ KiB: Cannot allocate memory "
                r"\(raise the memory limit of this program's control group, memory.max, or set a "
                r"smaller buffer_mb, mapi.conf\(5\)\)",
            )
            self.assertNotIn("still attached: small", output)

        self.on_each_kernel(check)

    def test_nothing_stays_attached_when_a_program_is_killed(self):
        def check(_, output, _found):
            self.assertIn("\nattached before it is killed\n", output)
            self.assertNotIn("still attached", output)
            self.assertIn("\nexit mapid 0\n", output)

        self.on_each_kernel(check)


if __name__ == "__main__":
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: {' and '.join(missing)} not installed (packages iproute2, util-linux)")
        sys.exit(guest.SKIP)
    guest.run_tests(GUEST)
