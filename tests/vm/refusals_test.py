# SPDX-License-Identifier: MIT
# Things that are missing, forbidden or disappear: a module of another version, missing tracepoints,
# no device, no permission, CPU hotplug.
import collections
import json
import re

import nsmod_guest

Try = collections.namedtuple("Try", "code said")

# try NAME COMMAND...: prints its exit code and output for tries_of(); stats FILE: the statistics as
# one line.
SHELL = """
try() {
    name=$1; shift
    "$@" >$name.said 2>&1; echo "try $name: exit $?"
    sed "s/^/try $name: /" $name.said
}
stats() { nsdump export $1 --what stats --format json 2>/dev/null | tr -d '\\n'; echo; }
mkdir -p /etc && echo "user:x:1000:1000::/:/bin/sh" >/etc/passwd
"""

OTHER_VERSION = """
rmmod nsmod && insmod /modules/other_version.ko
try session env NETSLICE=recorder=nsmod vm_writer 10
try record nsdump record -k irq -w no.nsl -- vm_writer 10
try list nsdump kernel --list
try kernel nsdump kernel irq -d 1 -w no.nsl
try snapshot nsdump snapshot
try snapshots nsdump snapshot --list
try auto env NETSLICE="output=auto.nsl calibration=no" vm_writer 10
try auto_stats stats auto.nsl
try plain nsdump record -w plain.nsl -- vm_writer 10
try plain_stats stats plain.nsl
"""

LACKING = """
rmmod nsmod && insmod /modules/lacking.ko
try places nsdump kernel --list --format json
try text nsdump kernel --list
try some nsdump record -k irq,softirq -w some.nsl -- sh -c "vm_writer 200000; echo interrupts of the console >/dev/console"
try some_whole nsdump check some.nsl
try some_stats stats some.nsl
try some_text nsdump stats --all some.nsl
try none nsdump record -k irq,sched -w none.nsl -- vm_writer 10
try none_alone nsdump kernel sched -d 1 -w none.nsl
rm -f none.nsl
"""  # noqa: E501, shell text

WITHOUT_RULES = """
rmmod nsmod && insmod /modules/without_rules.ko
try rules nsdump record -k irq --slices 'irq*' -w rules.nsl -- vm_writer 10
try without_rules nsdump record -k irq -w rules.nsl -- vm_writer 10
"""

NO_RIGHT = """
rmmod nsmod
try absent_list nsdump kernel --list
try absent_record nsdump record -k irq --kernel-recorder nsmod -w no.nsl -- vm_writer 10
try absent_snapshot nsdump snapshot
insmod /modules/nsmod.ko
as_user() { name=$1; shift; try $name su user -c "PATH=/test:/bin $*"; }
as_user closed_list nsdump kernel --list
as_user closed_record nsdump record -k irq -w /tmp/no.nsl -- vm_writer 10
as_user closed_snapshot nsdump snapshot
chmod 666 /dev/nsmod # as if in the group
as_user open_list nsdump kernel --list
as_user open_record nsdump record -k irq -w /tmp/no.nsl -- vm_writer 10
"""

# CPU 1 goes offline and online while programs and the kernel are recorded.
HOT_PLUG = """
online=/sys/devices/system/cpu/cpu1/online
[ -e $online ] || { echo "no CPU goes here"; exit 0; }
plug() {
    for i in 1 2 3 4; do
        echo 0 >$online && usleep 150000
        echo 1 >$online && usleep 150000
    done
    echo "CPU 1 came back $i times"
}
cat >busy <<END
    vm_long_slices 20 10 & vm_long_slices 20 10 & wait
END
plug >plugged & plugger=$!
nsdump record -k sched,irq -w plug.nsl -- sh -c 'while [ ! -s plugged ]; do sh busy; done'; echo "recorded with $?"
wait $plugger; cat plugged
try plug_whole nsdump check plug.nsl
try plug_stats stats plug.nsl
rm plug.nsl
plug >plugged & plugger=$!
try alone nsdump kernel irq,softirq -d 600 -w alone.nsl & recorder=$!
wait $plugger
kill -INT $(pidof nsdump); wait $recorder
try alone_whole nsdump check alone.nsl
try alone_stats stats alone.nsl
"""  # noqa: E501, shell text

POINTS = "uapi/nslice/points.h"
RAN = {}  # kernel -> the attempts in its guest


def setUpModule():
    nsmod_guest.build_modules()
    nsmod_guest.build_changed(
        "other_version",
        [
            ("uapi/nslice/control.h", "NSLICE_CONTROL_VERSION 1", "NSLICE_CONTROL_VERSION 2"),
            ("release", "0.1.0", "9.9.9"),
        ],
    )
    nsmod_guest.build_changed(
        "without_rules",
        [
            (
                "src/request.c",
                "|| request->reserved)\n",
                "|| request->reserved || request->slices)\n",
            ),
            (
                "src/device/device.c",
                "return select_slices(own, at);",
                "return own ? -ENOTTY : select_slices(own, at);",
            ),
        ],
    )
    nsmod_guest.build_changed(
        "lacking",
        [
            (POINTS, "NUMBER, MARK, irq_handler_entry,", "NUMBER, MARK, irq_of_no_kernel,"),
            (POINTS, "STOP, STOP, softirq_exit,", "STOP, STOP, softirq_of_no_kernel,"),
            (POINTS, "SWITCH, MARK, sched_switch,", "SWITCH, MARK, sched_of_no_kernel,"),
        ],
    )


def tries_of(output):
    tries = {
        name: [int(code), ""] for name, code in re.findall(r"^try (\w+): exit (\d+)$", output, re.M)
    }
    for name, line in re.findall(r"^try (\w+): (?!exit \d+$)(.*)$", output, re.M):
        tries[name][1] += line + "\n"
    return {name: Try(*one) for name, one in tries.items()}


class Refusals(nsmod_guest.NsmodTest):
    """All parts run in one guest per kernel; every test checks its part."""

    programs = ("vm_writer", "vm_long_slices")
    timeout_s = 240

    def in_every_kernel(self, check):
        if not RAN:
            self.run_guests(
                SHELL + OTHER_VERSION + LACKING + WITHOUT_RULES + NO_RIGHT + HOT_PLUG,
                self.keep,
                self.with_others,
            )
        for kernel, tries in RAN.items():
            with self.subTest(kernel=kernel):
                check(tries)

    def with_others(self, machine):
        self.kernel = machine.kernel.name
        for name in ("other_version", "lacking", "without_rules"):
            machine.add_built_module(nsmod_guest.BUILT[self.kernel][f"{name}.ko"])

    def keep(self, result):
        RAN[self.kernel] = tries_of(result.output)

    def test_a_module_of_another_version_is_reported_with_both_versions_by_whoever_needs_it(self):
        self.in_every_kernel(self.check_version)

    def check_version(self, tries):
        for name, code in {
            "session": 0,
            "record": 3,
            "list": 3,
            "kernel": 3,
            "snapshot": 3,
            "snapshots": 3,
        }.items():
            self.assertRegex(
                tries[name].said,
                r"nsmod has release 9\.9\.9 \(control version 2, .*"
                r"this library of release 0\.1\.0 supports 1 and \d+: load a module of the same "
                r"release",
                name,
            )
            self.assertEqual(tries[name].code, code, tries[name].said)

    def test_programs_are_recorded_without_a_module_of_another_version_and_the_trace_says_why(self):
        self.in_every_kernel(self.check_without)

    def check_without(self, tries):
        for name in ("auto", "plain"):
            self.assertEqual(tries[name].code, 0, tries[name].said)
            stats = json.loads(tries[f"{name}_stats"].said)
            self.assertEqual(stats["info"]["session.memory"], "process")
            self.assertIn(
                "nsmod has release 9.9.9 (control version 2", stats["info"]["session.memory.reason"]
            )
            self.assertEqual(stats["losses"]["issued"], 30)

    def test_the_list_says_which_tracepoints_the_kernel_lacks(self):
        self.in_every_kernel(self.check_list)

    def check_list(self, tries):
        places = json.loads(tries["places"].said)["places"]
        missing = {
            one["tracepoint"]
            for one in places
            if one["group"] in ("irq", "softirq", "sched") and not one["here"]
        }
        self.assertEqual(
            missing, {"irq_of_no_kernel", "softirq_of_no_kernel", "sched_of_no_kernel"}
        )
        self.assertRegex(tries["text"].said, r"irq_of_no_kernel.*\(not in this kernel\)")

    def test_a_group_continues_with_existing_tracepoints_and_statistics_name_the_others(self):
        self.in_every_kernel(self.check_some)

    def check_some(self, tries):
        self.assertEqual(tries["some"].code, 0, tries["some"].said)
        self.assertRegex(
            tries["some_whole"].said, r"some.nsl: whole; \d+ records, every one accounted for"
        )
        stats = json.loads(tries["some_stats"].said)
        self.assertEqual(stats["info"]["kernel.missing.irq"], "irq_of_no_kernel")
        self.assertEqual(stats["info"]["kernel.missing.softirq"], "softirq_of_no_kernel")
        # irq lacks its number; one end of softirq's slice has no tracepoint, so only its number is
        # left
        kernel = {one["name"] for one in stats["slices"] if one["kernel"]}
        self.assertIn("kernel:irq", kernel)
        self.assertNotIn("kernel:softirq", kernel)
        self.assertEqual(
            [one["name"] for one in stats["marks"] if one["name"].startswith("kernel:")],
            ["kernel:softirq_vector"],
        )
        for group in ("irq", "softirq"):
            self.assertRegex(
                tries["some_text"].said,
                rf"warning +group {group}: the kernel of this trace has no tracepoint "
                rf"{group}_of_no_kernel",
            )

    def test_a_group_of_which_nothing_is_there_is_refused(self):
        self.in_every_kernel(self.check_none)

    def check_none(self, tries):
        for name in ("none", "none_alone"):
            self.assertEqual(tries[name].code, 3, tries[name].said)
            self.assertRegex(
                tries[name].said,
                r"sched\": at least one group has no tracepoint in this kernel \(`nsdump kernel "
                r"--list`\)",
            )

    def test_a_module_older_than_rules_for_slices_is_reported_and_records_without_them(self):
        self.in_every_kernel(self.check_old)

    def check_old(self, tries):
        self.assertEqual(tries["rules"].code, 3, tries["rules"].said)
        self.assertRegex(tries["rules"].said, r"nsmod is too old for --slices \(load a module")
        self.assertEqual(tries["without_rules"].code, 0, tries["without_rules"].said)

    def test_no_device_and_no_right_are_reported_with_what_helps(self):
        self.in_every_kernel(self.check_rights)

    def check_rights(self, tries):
        for name in ("list", "record", "snapshot"):
            if name != "list":  # without the module, places of BPF programs are listed
                self.assertEqual(tries[f"absent_{name}"].code, 3, name)
                self.assertRegex(
                    tries[f"absent_{name}"].said,
                    r"there is no /dev/nsmod: .* not loaded \(modprobe nsmod\)",
                )
            self.assertEqual(tries[f"closed_{name}"].code, 3, name)
            self.assertRegex(
                tries[f"closed_{name}"].said,
                r"/dev/nsmod: permission denied: requires root or the group netslice .*usermod",
            )
        self.assertEqual(tries["open_list"].code, 0)
        self.assertEqual(tries["open_record"].code, 3)
        self.assertRegex(tries["open_record"].said, r"requires root or CAP_PERFMON")

    def test_both_sides_are_recorded_soundly_while_a_cpu_goes_and_comes(self):
        self.in_every_kernel(self.check_hot_plug)

    def check_hot_plug(self, tries):
        if "plug_whole" not in tries:
            self.skipTest("no CPU goes here")
        for name in ("plug", "alone"):
            self.assertRegex(
                tries[f"{name}_whole"].said,
                rf"{name}.nsl: whole; \d+ records, every one accounted for",
            )
            stats = json.loads(tries[f"{name}_stats"].said)
            self.assertTrue(stats["losses"]["equation_holds"])
            self.assertEqual(
                {row["cpu"] for row in stats["losses"]["by_cpu"] if row["kernel"]}, {0, 1}
            )
        self.assertEqual(tries["alone"].code, 0, tries["alone"].said)
        stats = json.loads(tries["plug_stats"].said)
        own = [one for one in stats["slices"] if not one["kernel"]]
        self.assertGreater(sum(one["switches"] for one in own), 0)
        for one in own:
            ticks = one["values"][0]
            if sum(stats["losses"]["lost"].values()) == 0:
                self.assertEqual(one["unmatched_start"] + one["unmatched_stop"], 0)
            self.assertLess(one["taken_ticks"], ticks["raw"]["total"])
            # What is subtracted from a slice was inside it.  The probes' own cost is uncertain by
            # some hundred ticks; a wrong switch has millions.
            self.assertGreater(ticks["net"]["min"], -100000)


if __name__ == "__main__":
    nsmod_guest.run_tests()
