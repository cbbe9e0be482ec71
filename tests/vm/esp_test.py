# SPDX-License-Identifier: MIT
# ESP by the kernel, as reports/experiments/ciphers/esp.sh sets it up: every cipher of the
# experiments carries packets between two namespaces, with and without AES instructions.
import functools
import os
import re
import sys
import unittest

import guest
import nsmod_guest
from nsmod_guest import BUILD, KERNELS

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPTS = os.path.join(os.path.abspath(SOURCE), "reports", "experiments", "ciphers")
MODULES = (
    *("veth", "esp4", "xfrm_user", "authenc", "crypto_null", "ecb", "ctr", "gcm", "ghash_generic"),
    *("seqiv", "sha512_generic", "drbg", "jitterentropy_rng", "aesni_intel"),
)
PINGS = 3

# Shell: two namespaces, and a trial of each cipher.
SCRIPT = f"""
# busybox prefers its own ip.
cat >/test/ip.sh <<"END"
ip() {{ /test/ip "$@"; }}
END
cat >/test/esp <<"END"
. /test/ip.sh
. /test/esp.sh
END
. /test/ip.sh
mkdir -p /run
ip netns add a
ip netns add b
ip -n a link add eth0 type veth peer name eth0 netns b
for name in a b; do
    ip -n $name link set lo up
    ip -n $name link set eth0 up
done
ip -n a address add 10.1.0.1/24 dev eth0
ip -n b address add 10.1.0.2/24 dev eth0
ip -n a address add 10.9.1.1/32 dev lo
ip -n b address add 10.9.2.1/32 dev lo
in_a() {{ ip netns exec a sh /test/esp "$@"; }}
in_b() {{ ip netns exec b sh /test/esp "$@"; }}

trial() {{ # CIPHER yes|masked
    echo "begin $1 $2"
    if in_a up left $1 $2 && in_b up right $1 $2; then
        ip netns exec a ping -c {PINGS} -W 5 10.9.2.1 | grep received
        in_a describe && in_b describe
    fi
    in_a down
    in_b down
    files=$(ls -d /tmp/nsconduct-* 2>/dev/null)
    echo "left: $(ip -n a xfrm state | wc -l) $(ip -n b xfrm policy | wc -l) $files"
    echo end
}}

for cipher in aes128gcm16 aes256gcm16; do trial $cipher yes; done
trial aes128gcm16 masked
rmmod aesni_intel
for cipher in null null-sha1 aes128gcm16 aes256gcm16; do trial $cipher masked; done
trial aes128gcm16 yes
"""


@functools.lru_cache(None)
def guest_run(kernel):
    machine = guest.Amd64Guest(BUILD, kernel=kernel, timeout_s=300)
    for name in MODULES:
        machine.add_module(name)
    for name in ("esp.sh", "esp_kernel.sh", "esp_strongswan.sh"):
        machine.add(os.path.join(SCRIPTS, name))
    machine.add("/sbin/ip")
    return machine.run(SCRIPT)


def trials(kernel):
    """(cipher, whether masked) -> what the trials printed, in their order."""
    found = {}
    for cipher, aes, said in re.findall(
        r"^begin (\S+) (\S+)\n(.*?)^end$", guest_run(kernel).output, re.MULTILINE | re.DOTALL
    ):
        found.setdefault((cipher, aes), []).append(said)
    return found


class Esp(unittest.TestCase):
    def for_all(self, check):
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                check(trials(kernel))

    def check_carried(self, said, cipher):
        self.assertIn(f"{PINGS} packets received", said)
        self.assertIn("implementation: ESP of the kernel, Linux", said)
        self.assertIn(f"cipher: {cipher}", said)
        counts = re.findall(r"^tunnel: (\d+) bytes, (\d+) packets$", said, re.MULTILINE)
        self.assertEqual([int(packets) for _, packets in counts], [PINGS] * 4, said)

    def test_each_cipher_carries_all_packets(self):
        def check(found):
            for cipher in ("null", "null-sha1", "aes128gcm16", "aes256gcm16"):
                self.check_carried(found[cipher, "masked"][-1], cipher)

        self.for_all(check)

    def test_the_driver_with_instructions_is_used_if_it_is_wanted_and_there(self):
        def check(found):
            for cipher in ("aes128gcm16", "aes256gcm16"):
                self.check_carried(found[cipher, "yes"][0], cipher)
                self.assertRegex(found[cipher, "yes"][0], "driver [a-z0-9-]*(aesni|vaes)")
                self.assertIn("generic", found[cipher, "masked"][-1])
            self.assertIn("missing: AES instructions in the kernel", found["aes128gcm16", "yes"][1])
            self.assertIn("remove the module aesni_intel", found["aes128gcm16", "masked"][0])

        self.for_all(check)

    def test_nothing_is_left_of_a_trial(self):
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                said = guest_run(kernel).output
                left = re.findall(r"^left: (.*)$", said, re.MULTILINE)
                self.assertEqual(len(left), said.count("begin "))
                self.assertEqual({" ".join(one.split()) for one in left}, {"0 0"})
                self.assertEqual(guest_run(kernel).kernel_faults, [])


if __name__ == "__main__":
    if guest.Amd64Guest is not nsmod_guest.GUEST:
        sys.exit(guest.SKIP)
    guest.run_tests(guest.Amd64Guest)
