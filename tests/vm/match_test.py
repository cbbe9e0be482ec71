# SPDX-License-Identifier: MIT
# Filters as arm64 machine code compared with libpcap's interpreter, with the kernel's rules for
# executable memory.
import os
import unittest

import guest

# QEMU 7.2 keeps using its translation of code that SVE instructions, as in memcpy(), have
# overwritten.
CPU = "max,sve=off,sme=off"


class Match(unittest.TestCase):
    def test_machine_code_passes_what_the_interpreter_passes(self):
        machine = guest.Arm64Guest(os.environ["NETSLICE_BUILD"], cpu_model=CPU)
        machine.add("tests/mapi_match_test")
        # they take minutes here
        result = machine.run("mapi_match_test '[bpf]~random valid*' --durations yes\n")
        self.assertIn("All tests passed", result.output, result.output[-3000:])
        self.assertIn("machine code", result.output, "the build has no asmjit for arm64")
        self.assertEqual(result.kernel_faults, [])


if __name__ == "__main__":
    guest.run_tests()
