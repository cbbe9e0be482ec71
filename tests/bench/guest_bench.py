#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of the kernel module: one test of tests/vm in a guest -> figures from the guest's output.
The test checks, this only reads."""

import collections
import contextlib
import json
import os
import pathlib
import re
import sys
import unittest

SKIP = 77


class NoFigure(Exception):
    """The guest did not print the input of the figure."""


def _found(pattern, text):
    found = re.findall(pattern, text)
    if not found:
        raise NoFigure(f"the guest printed nothing that matches {pattern!r}")
    return found


def kills(text):
    runs, failed, records, lost = (
        sum(column)
        for column in zip(
            *(
                map(int, one)
                for one in _found(
                    r"kills: (\d+), (\d+) failed; (\d+) records, (\d+) lost and counted", text
                )
            )
        )
    )
    yield {
        "figure": "nsmod_kills_with_a_committed_record_lost",
        "value": failed,
        "bar": 0,
        "sense": "equal",
        "unit": "kills",
        "raw": {"kills": runs, "records": records, "lost_and_counted": lost},
        "note": "writers killed by SIGKILL at random moments, in a guest",
    }


def equation(text):
    rows = [
        (full, how, int(issued), int(records), int(lost))
        for full, how, issued, records, lost in _found(
            r"kernel (\w+) (\w+): \w+; (\d+) issued, (\d+) records, (\d+) lost", text
        )
    ]
    yield {
        "figure": "nsmod_equation_off_records",
        "value": sum(abs(row[2] - row[3] - row[4]) for row in rows),
        "bar": 0,
        "sense": "equal",
        "unit": "records",
        "raw": {"runs": rows},
        "note": (
            "issued - records - lost of the kernel's records under a flood, small rings, slow "
            "readers and CPU hotplug"
        ),
    }


def drain(text):
    seconds = {
        name: float(end) - float(begin)
        for name, begin, end in _found(r"(\w+): written (\S+) (\S+)", text)
    }
    issued, drained = (
        sum(map(int, _found(rf'"{word}":(\d+)', text))) for word in ("issued", "drained")
    )
    if not {"unread", "drained", "stopped"} <= set(seconds) or not seconds["unread"] > 0:
        raise NoFigure(f"the guest reported only the time of {sorted(seconds)}")
    for name, what in (("drained", "running readers"), ("stopped", "stopped readers")):
        yield {
            "figure": f"nsmod_two_writers_{name}_ratio",
            "value": seconds[name] / seconds["unread"],
            "unit": "ratio",
            "raw": {
                "seconds": seconds,
                "issued": issued,
                "drained": drained,
                "lost": issued - drained,
            },
            "note": (
                f"time of two writers at full rate with {what}, relative to no reader; 2 emulated "
                "CPUs for both sides"
            ),
        }


def record_instructions(text):
    costs = [int(cost) / 16 for cost in _found(r"16 probes take (\d+) instructions", text)]
    if len(costs) != 2:
        raise NoFigure(f"{len(costs)} costs instead of one idle and one recording")
    yield {
        "figure": "kernel_record_instructions",
        "value": costs[1] - 1,
        "bar": 25,
        "sense": "at most",
        "unit": "instructions",
        "raw": {"probe_while_recording": costs[1]},
        "note": "arm64 guest that counts exactly; in addition to the clock read",
    }
    yield {
        "figure": "kernel_probe_idle_instructions",
        "value": costs[0],
        "bar": 1,
        "sense": "at most",
        "unit": "instructions",
        "note": "while no process records",
    }


def record_ratio(text):
    """Lines of NSLICE_IOC_MEASURE: name, mean in ticks times 1024 ...  The minimum, because noise
    only makes a read slower."""
    least = {}
    for name, mean in _found(r"(?m)^(START\+STOP|rdtsc)\t(-?\d+)\t\d+\t\d+$", text):
        least[name] = min(int(mean), least.get(name, int(mean)))
    if len(least) != 2 or least["rdtsc"] <= 0:
        raise NoFigure(f"costs of {sorted(least)} only")
    yield {
        "figure": "kernel_record_rdtsc_ratio",
        "value": least["START+STOP"] / 2 / least["rdtsc"],
        "unit": "ratio",
        "raw": {name: value / 1024 for name, value in least.items()},
        "note": (
            "a kernel record without counters relative to a bare rdtsc in the same amd64 guest; "
            "ticks in raw"
        ),
    }


def programs_equation(text):
    losses = _documents(text)["hotplug"]["losses"]
    rows = losses["by_cpu"]
    yield {
        "figure": "nsbpf_equation_off_records",
        "value": sum(
            abs(row["issued"] - row["drained"] - sum(row["lost"].values())) for row in rows
        ),
        "bar": 0,
        "sense": "equal",
        "unit": "records",
        "raw": {"by_cpu": rows},
        "note": (
            "issued - drained - lost of records by BPF: seven groups, rings of 4 KiB, while a CPU "
            "goes and comes, in a guest"
        ),
    }


def recorders(text):
    import agreement

    try:
        taken = agreement.taken(text)
        difference = agreement.difference(taken)
    except (ArithmeticError, ValueError) as error:
        raise NoFigure(f"the guest recorded no rounds of both recorders: {error!r}") from error
    yield {
        "figure": "nsbpf_over_nsmod_taken_difference",
        "value": difference,
        "bar": 1,
        "sense": "at most",
        "unit": "half widths",
        "raw": {"ticks_and_half_width": taken},
        "note": (
            "what BPF's and the module's correction take from a program's slices with interrupts "
            "inside: difference / sum of both half widths, lower quartiles in a guest"
        ),
    }


def _documents(text):
    import nsmod_guest

    found = nsmod_guest.documents(text)
    if not found:
        raise NoFigure("the guest printed no statistics")
    return found


Bench = collections.namedtuple("Bench", "reader test program architecture")
BENCHES = {
    "kills": Bench(
        kills,
        "load_test.Load.test_no_record_that_a_killed_process_had_committed_is_missing",
        "vm_kills",
        "amd64",
    ),
    "equation": Bench(
        equation,
        "load_test.Load.test_the_kernels_records_are_there_or_counted",
        "vm_kernel_load",
        "amd64",
    ),
    "programs_equation": Bench(
        programs_equation,
        "recorders_test.Recorders.test_records_by_programs_are_accounted_for_while_a_cpu_goes_and_comes",
        "vm_exchange",
        "amd64",
    ),
    "recorders": Bench(
        recorders,
        "recorders_test.Recorders.test_both_take_the_same_from_a_programs_slices",
        "vm_long_slices",
        "amd64",
    ),
    "drain": Bench(
        drain,
        "load_test.Load.test_two_writers_at_full_rate_are_not_made_to_wait",
        "vm_unblocked",
        "amd64",
    ),
    "record_ratio": Bench(
        record_ratio,
        "nsmod_kernel_test.NsmodKernel.test_what_instructions_and_probes_cost_in_the_kernel_is_measured_on_request",
        "vm_measure",
        "amd64",
    ),
    "record_instructions": Bench(
        record_instructions,
        "kernel_exact_test.KernelExact.test_a_record_takes_25_instructions_beside_the_clock_and_one_while_nobody_records",
        "vm_kernel_recorder",
        "arm64",
    ),
}


@contextlib.contextmanager
def overheard(guest):
    """A list that collects the output of every guest of the block."""
    outputs, run = [], guest.Guest.run

    def listening(self, script):
        result = run(self, script)
        outputs.append(result.output)
        return result

    guest.Guest.run = listening
    try:
        yield outputs
    finally:
        guest.Guest.run = run


def lacking(guest, bench, build):
    """What is missing to boot the test's guest, or None."""
    try:
        machine = (guest.Arm64Guest if bench.architecture == "arm64" else guest.Amd64Guest)(build)
        machine.add("bin/nsdump")
        machine.add(f"tests/{bench.program}")
    except guest.Unavailable as lack:
        return str(lack)
    return None


def main():
    bench, source, build = (
        BENCHES[sys.argv[1]],
        pathlib.Path(sys.argv[2]),
        pathlib.Path(sys.argv[3]),
    )
    if bench.architecture == "arm64":
        build = pathlib.Path(os.environ.get("NETSLICE_GUEST_BUILD", source / "build/arm64"))
    os.environ |= {
        "NETSLICE_BUILD": str(build),
        "NETSLICE_BIN": str(build / "bin"),
        "NETSLICE_KERNELS": "6.1",
    }
    sys.path.insert(0, str(source / "tests/vm"))
    import guest

    lack = lacking(guest, bench, build)
    if lack:
        print(lack, file=sys.stderr)
        sys.exit(SKIP)
    with overheard(guest) as outputs, contextlib.redirect_stdout(sys.stderr):
        done = unittest.TextTestRunner(stream=sys.stderr).run(
            unittest.defaultTestLoader.loadTestsFromName(bench.test)
        )
    if not done.wasSuccessful() or done.testsRun == 0:
        sys.exit(f"the test {bench.test} failed")
    try:
        for figure in bench.reader("\n".join(outputs)):
            print(json.dumps(figure))
    except NoFigure as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
