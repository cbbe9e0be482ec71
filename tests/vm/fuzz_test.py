# SPDX-License-Identifier: MIT
# Random calls of the device from several processes, some of them killed; then the module records a
# valid trace and is unloaded. NETSLICE_FUZZ_SECONDS: how long (20); NETSLICE_FUZZ_SEED: the seed of
# an earlier run.
import os

import nsmod_guest
from nsmod_guest import build_modules as setUpModule

SECONDS = int(os.environ.get("NETSLICE_FUZZ_SECONDS", "20"))


class Fuzz(nsmod_guest.NsmodTest):
    programs = ("vm_writer", "vm_fuzz", "vm_kernel_load")
    timeout_s = 100 + 2 * SECONDS

    def test_after_calls_at_random_a_trace_is_sound_and_the_module_goes(self):
        self.run_guests(
            f"""
            vm_fuzz {SECONDS} 4 {os.environ.get("NETSLICE_FUZZ_SEED", "")}
            echo 0 >/sys/module/nsmod/parameters/keep_sessions # drop sessions without a process
            usleep 500000
            NETSLICE="recorder=nsmod calibration=no" vm_writer 1 & wait
            echo 4 >/sys/module/nsmod/parameters/keep_sessions
            NETSLICE=recorder=nsmod vm_writer 20000 & timeout 20 cat /dev/nsmod >trace.nsl
            wait
            nsdump check trace.nsl
            vm_kernel_load sched,irq,softirq 200 65536 discard read
            rmmod nsmod && echo "unloaded"
            """,
            self.check_words(
                "fuzz: over, [1-9]",
                r"trace.nsl: whole; \d\d+ records",
                "kernel discard read: sound",
                "unloaded",
            ),
        )


if __name__ == "__main__":
    nsmod_guest.run_tests()
