# SPDX-License-Identifier: MIT
# nsdump with the kernel module, as users run it: both sides in one trace, only the kernel,
# snapshots of a flight recorder.
import nsmod_guest
from nsmod_guest import STATS, build_modules as setUpModule, documents

STREAM_BYTES = 50000


class RecordKernel(nsmod_guest.NsmodTest):
    programs = ("vm_writer", "vm_long_slices")

    def check_whole(self, result, *names):
        for name in names:
            self.assertRegex(
                result.output, rf"{name}.nsl: whole; \d+ records, every one accounted for"
            )
        found = documents(result.output)
        for name in names:
            self.assertTrue(found[name]["losses"]["equation_holds"], name)
        return found

    def test_a_program_and_the_kernel_are_in_one_trace_and_slices_exclude_interrupts(self):
        self.run_guests(
            STATS
            + """
            nsdump record -k irq,softirq,sched -w both.nsl -- vm_long_slices 50 20
            stats both
            nsdump stats --all both.nsl | grep -E "subtracted|^kernel"
            nsdump show both.nsl -c 5
            nsdump export both.nsl --what slices -c 1000 | grep -c kernel:
            """,
            self.check_both,
        )

    def check_both(self, result):
        stats = self.check_whole(result, "both")["both"]
        own = next(one for one in stats["slices"] if one["name"] == "long")
        kernel = {one["name"]: one for one in stats["slices"] if one["kernel"]}
        self.assertGreater(kernel["kernel:irq"]["count"], 0)
        self.assertGreater(kernel["kernel:local_timer"]["count"], 10)
        # A slice that began on one CPU and ended on the other is reported, and excluded from the
        # figures.
        self.assertEqual(own["count"] + own["migrated"], 50, own)
        # The timer ticks 250 times per second: 5 in a slice, fewer if the host stops the guest for
        # longer than a tick.
        self.assertGreater(own["interrupts"], 10)
        ticks = own["values"][0]
        self.assertGreater(own["taken_ticks"], 0)
        self.assertLess(ticks["net"]["total"] + own["taken_ticks"], ticks["raw"]["total"])
        self.assertEqual(stats["info"]["kernel.groups"], "irq,softirq,sched")
        self.assertGreater(len(stats["calibration"]["kernel"]), 0)

    def test_the_kernel_is_recorded_alone_and_its_places_are_listed(self):
        self.run_guests(
            STATS
            + """
            nsdump kernel --list | head -n 3
            echo "json list"; nsdump kernel --list --format json; echo "end of json"
            nsdump kernel irq,sched -d 1 -w alone.nsl && stats alone
            nsdump kernel sched -w stopped.nsl & recorder=$!
            until [ -s stopped.nsl ]; do usleep 20000; done
            kill -INT $recorder; wait $recorder; echo "stopped with $?"
            stats stopped
            nsdump kernel nonsense; echo "nonsense: $?"
            nsdump record -k irq --kernel-counters instructions -w no.nsl -- vm_writer 1; echo "counters: $?"
            nsdump record -k sched --kernel-own -w own.nsl -- vm_writer 1000 && stats own
            """,  # noqa: E501, shell text
            self.check_alone,
        )

    def check_alone(self, result):
        found = self.check_whole(result, "alone", "stopped", "own")
        groups = {one["group"] for one in found["list"]["places"]}
        self.assertLessEqual(
            {"net_rx", "net_tx", "napi", "irq", "softirq", "sched", "sock"}, groups
        )
        self.assertGreater(
            next(one for one in found["alone"]["marks"] if one["name"] == "kernel:sched_switch")[
                "count"
            ],
            0,
        )
        self.assertGreater(found["alone"]["clock"]["hz"], 1e6)
        self.assertIn("stopped with 0", result.output)
        self.assertRegex(result.output, r"\"nonsense\": unknown group.*--list(.|\n)*nonsense: 2")
        self.assertRegex(result.output, r"no PMU(.|\n)*counters: 3")

    def test_presets_tell_what_each_place_of_a_packets_way_costs(self):
        self.run_guests(
            nsmod_guest.STREAM
            + f"""
            ifconfig lo up
            dd if=/dev/urandom of=data bs=1000 count={STREAM_BYTES // 1000} 2>/dev/null
            for preset in send recv; do
                nsdump kernel --preset tcp-$preset --port 5555 -w $preset.nsl --format json >$preset.json & recorder=$!
                until [ -s $preset.nsl ]; do usleep 20000; done
                sh stream 127.0.0.1 5555
                kill -INT $recorder
                wait
                cmp data got && echo same
                nsdump check $preset.nsl | tail -n 1
                echo "json $preset"; cat $preset.json; echo "end of json"
            done
            """,  # noqa: E501, shell text
            self.check_presets,
        )

    def check_presets(self, result):
        found = self.check_whole(result, "send", "recv")
        self.assertEqual(result.output.splitlines().count("same"), 2, result.output)
        for way, places in (
            ("send", {"kernel:send_call", "kernel:tcp_ip", "kernel:queue", "kernel:driver"}),
            ("recv", {"kernel:recv_call", "kernel:copy", "kernel:ip", "kernel:tcp"}),
        ):
            slices = {one["name"]: one for one in found[way]["slices"]}
            self.assertLessEqual(places, set(slices))
            unit = next(one for one in found[way]["units"] if one["name"] == f"kernel:tcp_{way}")
            self.assertGreater(unit["packets"], 4)
            self.assertGreater(unit["bytes"], STREAM_BYTES)
            inside = slices["kernel:driver" if way == "send" else "kernel:ip"]
            self.assertGreater(inside["values"][0]["per_packet"]["net"], 0)
        copied = next(one for one in found["recv"]["marks"] if one["name"] == "kernel:copied")
        self.assertEqual(round(copied["count"] * copied["mean"]), STREAM_BYTES)

    def test_snapshots_of_a_running_flight_recorder_are_whole_traces(self):
        self.run_guests(
            STATS
            + f"""
            nsdump snapshot; echo "without one: $?"
            NETSLICE="recorder=nsmod full=overwrite ring=64K calibration=no" vm_writer 0 count & writer=$!
            {nsmod_guest.WRITES}
            nsdump snapshot --list
            for i in 1 2 3; do nsdump snapshot -w snap$i.nsl; stats snap$i; done
            nsdump snapshot --pid $writer -w of_pid.nsl && nsdump check of_pid.nsl | tail -n 1
            kill -9 $writer
            """,  # noqa: E501, shell text
            self.check_snapshots,
        )

    def check_snapshots(self, result):
        found = self.check_whole(result, "snap1", "snap2", "snap3")
        self.assertRegex(result.output, r"no flight recorder(.|\n)*without one: 2")
        self.assertRegex(result.output, r"vm_writer +yes +drained by the module")
        issued = [found[f"snap{i}"]["losses"]["issued"] for i in (1, 2, 3)]
        self.assertEqual(issued, sorted(set(issued)), "each snapshot is later than the one before")
        self.assertRegex(result.output, r"of_pid.nsl: whole")


if __name__ == "__main__":
    nsmod_guest.run_tests()
