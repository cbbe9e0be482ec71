# SPDX-License-Identifier: MIT
# Corrected instruction counts of known kernel code, in every context, on a machine that counts
# exactly: no errors.  The cost of a record.
import collections
import os
import pathlib
import re
import tempfile
import unittest

import guest
import kernel_modules
import kernel_trace

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "nsmod"
CASES = pathlib.Path(__file__).resolve().parent / "cases"
CONTEXTS = {1: "process", 2: "softirq", 3: "hard interrupt"}
# contexts, sizes, slices nested 0 to 8 deep and one with other probes
SLICES = 3 * 7 * (sum(range(1, 10)) + 1)
# instructions in a 32-bit register that is widened, in a 64-bit one if available, and cycles, which
# are equal here
COUNTERS = "counter=instructions:0:1 counter=cycles:0:0:1"
RUNS = {"fast": "", "ordered": "ordered", "small-ring": "ring=4096"}
MODULES = {}


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="netslice-exact-")
    unittest.addModuleCleanup(folder.cleanup)
    place = pathlib.Path(folder.name)
    machine = guest.Arm64Guest(os.environ["NETSLICE_BUILD"])
    of_nsmod = (f"NSMOD={place}/nsmod", f"KBUILD_EXTRA_SYMBOLS={place}/nsmod/Module.symvers")
    for source, options in ((SOURCE, ()), (CASES / "exact_module", of_nsmod)):
        files, said = kernel_modules.build(
            source, machine.kernel, machine.architecture, place, "W=1", *options
        )
        if "warning:" in said:
            raise AssertionError(said)
        MODULES.update(files)


def nets(trace):
    """(context, depth, true instructions, field, net) of every slice."""
    case, open_slices = None, []
    for record in trace.records:
        if record.name == "exact_case":
            case = (
                record.words[0] >> 56,
                record.words[0] >> 48 & 0xFF,
                record.words[0] & (1 << 48) - 1,
            )
        elif record.kind == "START":
            open_slices.append((record, collections.Counter()))
        elif record.kind == "STOP":
            start, inside = open_slices.pop()
            if open_slices:
                open_slices[-1][1].update(inside + collections.Counter(["START"]))
            for field, (first, last) in enumerate(zip(start.words, record.words), 1):
                inner, _outer = trace.constants(record.cpu, "START", field)
                outers = sum(
                    count * trace.constants(record.cpu, kind, field)[1]
                    for kind, count in inside.items()
                )
                yield (*case, field, last - first - inner - outers)
        elif open_slices:
            open_slices[-1][1][record.kind] += 1


class KernelExact(unittest.TestCase):
    def boot(self, script, **options):
        machine = guest.Arm64Guest(os.environ["NETSLICE_BUILD"], timeout_s=300, **options)
        machine.add("tests/vm_kernel_recorder")
        for path in MODULES.values():
            machine.add_built_module(path)
        result = machine.run("insmod /modules/nsmod.ko\n" + script)
        self.assertEqual(result.kernel_faults, [])
        return result

    def trace_of(self, result, name):
        return kernel_trace.Trace(kernel_trace.from_console(result.output, f"{name}.nsl"))

    def check_exact(self, name, trace):
        found = list(nets(trace))
        self.assertEqual(len(found), 2 * SLICES, f"{name}: slices read")
        off = [one for one in found if one[4] != one[2]]
        self.assertEqual(off[:5], [], f"{name}: {len(off)} of {len(found)} off")
        self.assertEqual({CONTEXTS[one[0]] for one in found}, set(CONTEXTS.values()))

    def test_counts_of_known_kernel_code_are_exact_in_every_context(self):
        script = kernel_trace.SHOW_FILE + "".join(
            f"""
            vm_kernel_recorder "" 0 {options} {COUNTERS} -- insmod /modules/exact.ko >{name}.nsl || echo "{name} failed"
            rmmod exact
            show_file {name}.nsl
            """  # noqa: E501, shell text
            for name, options in RUNS.items()
        )
        result = self.boot(script)
        for name in RUNS:
            with self.subTest(run=name):
                trace = self.trace_of(result, name)
                self.assertEqual(trace.info["kernel.counters.names"], "instructions,cycles")
                self.assertEqual(
                    trace.info["kernel.clock.mode"], "ordered" if name == "ordered" else "fast"
                )
                self.check_exact(name, trace)

    def test_a_record_takes_25_instructions_beside_the_clock_and_one_while_nobody_records(self):
        result = self.boot("""
            insmod /modules/cost.ko && rmmod cost
            vm_kernel_recorder "" 0 -- insmod /modules/cost.ko >/dev/null
            dmesg | grep -o "nsmod cost: .*"
            """)
        costs = [
            int(found) for found in re.findall(r"16 probes take (\d+) instructions", result.output)
        ]
        self.assertEqual(costs, [16 * 1, 16 * (25 + 1)], result.output[-2000:])

    # six counters need more registers than busy.ko leaves free
    def test_a_cpu_that_leaves_and_comes_has_its_counters_again_and_a_busy_pmu_is_reported(self):
        six = " ".join(f"counter=c{i}:0:1" for i in range(6))
        result = self.boot(
            kernel_trace.SHOW_FILE
            + f"""
            echo 0 >/sys/devices/system/cpu/cpu1/online
            vm_kernel_recorder sched 0 {COUNTERS} -- sh -c '
                insmod /modules/cost.ko
                echo 1 >/sys/devices/system/cpu/cpu1/online
                for i in 1 2 3; do taskset 2 insmod /modules/exact.ko sizes=1; rmmod exact; done
                echo 0 >/sys/devices/system/cpu/cpu1/online
                echo 1 >/sys/devices/system/cpu/cpu1/online
                taskset 2 insmod /modules/exact.ko sizes=1' >trace.nsl || echo "failed"
            show_file trace.nsl
            vm_kernel_recorder sched 1 {six} >/dev/null && echo "six are free"
            insmod /modules/busy.ko
            vm_kernel_recorder sched 1 {six} >/dev/null
            rmmod busy
            vm_kernel_recorder sched 1 {six} >/dev/null && echo "six are free again"
            """,
            cpus=2,
        )
        self.assertRegex(
            result.output,
            r"six are free\n(.*\n)*kernel_recorder: .* \(EBUSY\)\n(.*\n)*six are free again",
        )
        trace = self.trace_of(result, "trace")
        slices = [
            one
            for one in trace.records
            if one.name.startswith("exact_") and one.kind in ("START", "STOP")
        ]
        self.assertEqual({(one.cpu, len(one.words)) for one in slices}, {(1, 2)})
        self.assertEqual(len(slices), 4 * 2 * 3 * (sum(range(1, 10)) + 1))


if __name__ == "__main__":
    guest.run_tests()
