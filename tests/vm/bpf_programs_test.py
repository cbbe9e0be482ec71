# SPDX-License-Identifier: MIT
# Probes of a BPF program on each kernel: the example program on the loopback interface, whose
# packets are those of ping.
import os
import pathlib
import subprocess
import tempfile
import unittest

import guest
from nsmod_guest import BUILD, GUEST, KERNELS, STATS, documents

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [f"-I{SOURCE / part}" for part in ("libnsprobe/include", "nsmod/uapi", "nsbpf/include")]
PINGS = 10

SCRIPT = f"""
uname -sr
ifconfig lo up
nsdump record -k programs --kernel-recorder bpf -w programs.nsl -- xdp_ports -w lo 53 >said &
recorder=$!
for i in $(seq 500); do
    grep -q ready said && break
    usleep 100000
done
ping -c {PINGS} -W 10 127.0.0.1 | grep received
kill -TERM $(pidof xdp_ports)
wait $recorder
stats programs
"""


class BpfPrograms(unittest.TestCase):
    def test_slices_of_an_xdp_program_are_those_of_its_packets(self):
        with tempfile.TemporaryDirectory(prefix="netslice-programs-") as folder:
            subprocess.run(
                [
                    *("make", "-s", "-C", SOURCE / "nsbpf/examples", f"O={folder}"),
                    *(f"NSPROBE_CFLAGS={' '.join(HEADERS)}", "SESSION_LIBS="),
                ],
                check=True,
            )
            for kernel in KERNELS:
                with self.subTest(kernel):
                    machine = GUEST(BUILD, kernel=kernel, cpus=2, timeout_s=300)
                    machine.add("bin/nsdump")
                    for part in "xdp_ports", "xdp_ports.bpf.o":
                        machine.add(pathlib.Path(folder) / part)
                    self.check(machine.run(STATS + SCRIPT))

    def check(self, result):
        self.assertEqual(result.kernel_faults, [])
        self.assertIn(f"{PINGS} packets received", result.output)
        stats = documents(result.output).get("programs")
        self.assertIsNotNone(stats, result.output[-2000:])
        (unit,) = stats["units"]
        self.assertEqual((unit["name"], unit["packets"]), ("kernel:packet", 2 * PINGS))
        (parse,) = (one for one in stats["slices"] if one["name"] == "kernel:parse")
        self.assertEqual(parse["count"], 2 * PINGS)
        self.assertTrue(stats["losses"]["equation_holds"])
        self.assertIn("programs.nsl: whole; ", result.output)


if __name__ == "__main__":
    if GUEST is not guest.Amd64Guest or not os.access("/usr/bin/make", os.X_OK):
        print("skipped: the example is built for this machine's architecture")
        raise SystemExit(guest.SKIP)
    guest.run_tests(guest.Amd64Guest)
