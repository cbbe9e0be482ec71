# SPDX-License-Identifier: MIT
# callgrind's output file -> instructions inside each function, including its callees, by the
# function's source file.
import collections
import pathlib
import re

# valgrind may evaluate the second half of `a && b` even if the first is false, and callgrind counts
# it, unless this is disabled.
EXACT = ("--tool=callgrind", "--vex-guest-chase=no")
BY_ADDRESS = (*EXACT, "--dump-instr=yes")

_CALL = re.compile(r"calls=(\d+)")
_NAME = re.compile(r"(fl|fi|fe|cfi|cfl|fn|cfn)=(\(\d+\))(?: (.*))?$")


def inclusive(path):
    """{(file name, function): (calls, instructions)} over all calls that come from another source
    file (format: https://valgrind.org/docs/manual/cl-format.html)."""
    names = {"file": {}, "function": {}}
    totals = collections.defaultdict(lambda: [0, 0])
    here = callee_file = callee = None
    calls = 0
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        if match := _NAME.match(line):
            key, number, text = match.groups()
            table = names["function" if key in ("fn", "cfn") else "file"]
            if text:
                table[number] = text
            name = table[number]
            if key == "fl":
                here = name
            elif key in ("cfi", "cfl"):
                callee_file = name
            elif key == "cfn":
                callee = name
        elif match := _CALL.match(line):
            calls = int(match.group(1))
        elif calls:
            file = callee_file or here
            if file != here:
                total = totals[(pathlib.PurePath(file).name, callee)]
                total[0] += calls
                total[1] += int(line.split()[-1])
            calls, callee_file = 0, None
    return {key: tuple(total) for key, total in totals.items()}


_SUFFIX = re.compile(r"'\d+$")  # of a level of recursion


def symbol_ranges(nm_lines):
    """Lines of `nm -SC` -> {function: [range of addresses, ...]}: static functions of several files
    share a name."""
    ranges = collections.defaultdict(list)
    for line in nm_lines:
        if match := re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.*)$", line):
            first = int(match.group(1), 16)
            ranges[match.group(3)].append(range(first, first + int(match.group(2), 16)))
    return ranges


def _lines_of_cost(path):
    """Yields for each cost line of a file made with BY_ADDRESS: source file, function, address,
    callee or None, instructions. A function is (number, name). A call line has the address of the
    call."""
    names, address, here, source, callee, is_call = {}, 0, None, None, None, False
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        if match := _NAME.match(line):
            key, number, text = match.groups()
            kind = "function" if key in ("fn", "cfn") else "file"
            if text:
                names[kind, number] = text
            if key == "fl":
                source = pathlib.PurePath(names["file", number]).name
            elif key == "fn":
                here = number, names["function", number]
            elif key == "cfn":
                callee = number, names["function", number]
        elif line.startswith("calls="):
            is_call = True
        elif match := re.match(r"(0x[0-9a-f]+|\+\d+|-\d+|\*) \S+ (\d+)$", line):
            step = match.group(1)
            address = (
                int(step, 16)
                if step[:2] == "0x"
                else address
                if step == "*"
                else address + int(step)
            )
            yield source, here, address, callee if is_call else None, int(match.group(2))
            is_call = False


def booked_after_return(path, file, function, ranges):
    """The excess of inclusive() in a file made with BY_ADDRESS: instructions attributed to a
    function or its callees although they are in none of them, and those of calls made there. Where
    a call does not change the stack pointer (arm64), callgrind misses the return of a function that
    was left by a jump (a tail call), and attributes to it what the caller does next. Functions
    without a range are skipped."""
    costs = collections.defaultdict(list)
    inside = set()
    for source, here, address, callee, count in _lines_of_cost(path):
        costs[here].append((address, callee, count))
        if source == file and here[1] == function:
            inside.add(here)

    def spans(one):
        return ranges.get(_SUFFIX.sub("", one[1]), [])

    def strays():  # attributed to a function, but outside all functions in `inside`
        own = [span for one in inside for span in spans(one)]
        return {
            one: [
                cost
                for cost in costs[one]
                if spans(one) and not any(cost[0] in span for span in own)
            ]
            for one in inside
        }

    while True:
        stray = strays()
        called = {
            callee
            for one in inside
            for cost in costs[one]
            if cost not in stray[one] and (callee := cost[1])
        }
        if called <= inside:
            return sum(count for some in stray.values() for _, _, count in some)
        inside |= called
