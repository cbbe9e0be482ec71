# SPDX-License-Identifier: MIT
# The kernel module in guests of every supported kernel: sessions that outlive their processes, one
# reader, misuse.
import json
import re

import nsmod_guest

# 20 packets of the example module, then time for the machine's timer.
RUN = "echo 20 >/sys/module/nsmod_example/parameters/run; usleep 100000"


def setUpModule():
    nsmod_guest.build_modules("example")


def counts(stats):
    """Name -> how often it was recorded, without the prefix of the kernel's names."""
    return {
        one["name"].removeprefix("kernel:"): one[number]
        for kind, number in (("slices", "count"), ("marks", "count"), ("units", "packets"))
        for one in stats[kind]
    }


class Nsmod(nsmod_guest.NsmodTest):
    programs = ("vm_writer", "vm_kernel_recorder")

    def test_it_is_loaded_and_unloaded_a_hundred_times(self):
        self.run_guests(
            """
            for i in $(seq 100); do
                rmmod nsmod && insmod /modules/nsmod.ko && [ -c /dev/nsmod ] || { echo "failed at $i"; exit 1; }
            done
            echo "all of them"
            """,  # noqa: E501, shell text
            self.check_words("all of them"),
        )

    def test_cat_is_a_recorder_whose_trace_is_whole(self):
        self.run_guests(
            """
            NETSLICE=recorder=nsmod vm_writer 50000 &
            cat /dev/nsmod >trace.nsl
            nsdump check trace.nsl && nsdump export trace.nsl --what stats --format json 2>/dev/null
            """,
            self.check_whole,
        )

    def check_whole(self, result):
        self.assertRegex(result.output, r"trace.nsl: whole; \d+ records, every one accounted for")
        stats = json.loads(result.output[result.output.index("{") :])
        self.assertEqual(stats["info"]["session.memory"], "nsmod")
        self.assertEqual(stats["losses"]["issued"], 150000)
        self.assertTrue(stats["losses"]["equation_holds"])

    def test_splice_and_poll_read_it_as_well(self):
        self.run_guests(
            """
            NETSLICE=recorder=nsmod vm_writer 20000 &
            dd if=/dev/nsmod bs=4096 2>/dev/null | cat >trace.nsl
            nsdump check trace.nsl
            """,
            self.check_words("trace.nsl: whole; "),
        )

    def test_a_killed_process_that_drained_itself_leaves_the_rest_to_a_reader(self):
        self.run_guests(
            f"""
            NETSLICE="output=own.nsl calibration=no full=overwrite" vm_writer 0 count &
            writer=$!
            {nsmod_guest.WRITES}
            usleep 100000
            kill -9 $writer
            wait
            cat /dev/nsmod >rest.nsl
            nsdump check rest.nsl | tail -n 1
            committed=$(od -A n -t u8 count | tr -d ' ')
            nsdump stats --all rest.nsl | sed -n "s/^mark .*max \\([0-9]*\\)$/committed $committed read \\1/p"
            """,  # noqa: E501, shell text
            self.check_rest,
        )

    def check_rest(self, result):
        self.assertRegex(result.output, r"rest.nsl: whole; \d+ records, every one accounted for")
        committed, read = map(int, re.search(r"committed (\d+) read (\d+)", result.output).groups())
        self.assertGreaterEqual(read, committed)

    def test_unloading_is_refused_while_a_session_is_there(self):
        self.run_guests(
            f"""
            NETSLICE="output=own.nsl calibration=no" vm_writer 0 count &
            writer=$!
            {nsmod_guest.WRITES}
            rmmod nsmod 2>/dev/null && echo "unloaded under a session"
            kill $writer
            wait
            usleep 300000
            rmmod nsmod && echo "unloaded afterwards"
            """,
            lambda result: (
                self.assertNotIn("under a session", result.output),
                self.assertIn("unloaded afterwards", result.output),
            ),
        )

    def test_the_same_program_runs_without_the_module_and_the_trace_says_why(self):
        self.run_guests(
            """
            NETSLICE="output=with.nsl calibration=no" vm_writer 100
            rmmod nsmod
            NETSLICE="output=without.nsl calibration=no" vm_writer 100
            for trace in with without; do
                nsdump export $trace.nsl --what stats --format json | grep -o '"session.memory[^,]*"'
            done
            NETSLICE=recorder=nsmod vm_writer 1
            """,  # noqa: E501, shell text
            self.check_words(
                '"session.memory": "nsmod"',
                '"session.memory": "process"',
                '"session.memory.reason": "there is no /dev/nsmod: the kernel module nsmod is not '
                "loaded",
                "netslice: there is no /dev/nsmod: .* not loaded \\(modprobe nsmod\\)",
            ),
        )

    def test_every_group_is_switched_on_and_off_and_its_trace_is_sound(self):
        self.run_guests(
            """
            ifconfig lo up
            ping -c 20 -i 0.02 127.0.0.1 >/dev/null &
            vm_kernel_recorder net_rx,net_tx,napi,irq,softirq,sched,sock 500 >trace.nsl || echo "no trace"
            wait
            nsdump check trace.nsl
            grep -a -o "kernel.groups=.*" trace.nsl
            grep -a -c netif_receive_skb trace.nsl
            ls -l trace.nsl
            vm_kernel_recorder nonsense 1
            rmmod nsmod && echo "unloaded"
            """,  # noqa: E501, shell text
            self.check_words(
                "trace.nsl: whole; ",
                "kernel.groups=net_rx,net_tx,napi,irq,softirq,sched,sock\n[1-9]",
                "kernel_recorder: Invalid argument",
                "unloaded",
            ),
        )

    def test_rules_select_slices_of_groups_and_modules_until_the_recording_ends(self):
        self.run_guests(
            nsmod_guest.STATS
            + f"""
            insmod /modules/nsmod_example.ko
            nsdump record -q -k softirq --slices "check,kernel:s*,!softirq_vector,no*" -w some.nsl -- sh -c "{RUN}"
            stats some
            nsdump record -q -k softirq -w all.nsl -- sh -c "{RUN}"
            stats all
            nsdump record -q -k softirq --control --slices none -w later.nsl -- vm_writer 0 count & recorder=$!
            {nsmod_guest.WRITES}
            {RUN}
            nsdump control -p $(pidof vm_writer) --slices handle
            for i in $(seq 100); do grep -a -q kernel.slices=handle later.nsl && break; usleep 50000; done
            rmmod nsmod_example && insmod /modules/nsmod_example.ko
            {RUN}
            kill $(pidof vm_writer)
            wait $recorder
            stats later
            vm_kernel_recorder "" 1 slices=a,,b
            vm_kernel_recorder "" 1 slices=$(printf %01024d 0)
            rmmod nsmod_example nsmod && echo "unloaded"
            """,  # noqa: E501, shell text
            self.check_rules,
            lambda machine: machine.add_built_module(
                nsmod_guest.BUILT[machine.kernel.name]["nsmod_example.ko"]
            ),
        )

    def check_rules(self, result):
        found = nsmod_guest.documents(result.output)
        some, every, later = (counts(found[name]) for name in ("some", "all", "later"))
        self.assertGreater(some.pop("softirq"), 0)
        self.assertEqual(some, {"check": 20, "packet": 20})
        self.assertEqual(
            found["some"]["info"]["kernel.slices"], "check,kernel:s*,!softirq_vector,no*"
        )
        self.assertRegex(
            result.output,
            r'no slice or mark matches "no\*"; available: .*kernel:handle.*kernel:softirq_vector',
        )
        # nothing is left of these rules, and each START has its STOP
        self.assertGreater(every.pop("softirq"), 0)
        self.assertGreater(every.pop("softirq_vector"), 0)
        self.assertEqual(
            every, {"handle": 20, "fill": 20, "check": 20, "checksum": 20, "packet": 20}
        )
        # changed meanwhile, for a module that was loaded again as well
        self.assertEqual(later, {"handle": 20, "packet": 40})
        for name in ("some", "all", "later"):
            self.assertRegex(
                result.output, rf"{name}.nsl: whole; \d+ records, every one accounted for"
            )
            for one in found[name]["slices"]:
                if one["name"] != "kernel:softirq":  # one may begin before the recording
                    self.assertEqual((one["unmatched_start"], one["unmatched_stop"]), (0, 0), one)
        self.assertEqual(result.output.count("kernel_recorder: Invalid argument (EINVAL)"), 2)
        self.assertIn("unloaded", result.output)

    def test_who_may_not_open_it_is_reported_the_group(self):
        self.run_guests(
            """
            mkdir -p /etc
            echo "user:x:1000:1000::/:/bin/sh" >/etc/passwd
            su user -c "PATH=/test:/bin NETSLICE=recorder=nsmod vm_writer 1"
            """,
            self.check_words("/dev/nsmod: permission denied: requires root or the group netslice"),
        )


if __name__ == "__main__":
    nsmod_guest.run_tests()
