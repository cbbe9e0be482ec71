# SPDX-License-Identifier: MIT
import pathlib
import tempfile
import unittest

from callgrind import booked_after_return, inclusive

# outer() at 0x100 calls filter() at 0x200, which jumps to helper() at 0x300; helper's return to
# outer() is missed, so outer's next instruction (0x108) and its call of next() at 0x400 are
# attributed to filter().
MISSED_RETURN = """\
fl=(1) /src/outer.cpp
fn=(1) outer()
0x100 10 3
cfi=(2) /src/filter.cpp
cfn=(2) filter()
calls=1 0x200
0x104 11 {filter_inclusive}

fl=(2)
fn=(2)
0x200 20 5
cfi=(3) /src/helper.cpp
cfn=(3) helper()
calls=1 0x300
0x204 21 7
{stray}
fl=(3)
fn=(3)
0x300 30 7

fl=(4) /src/next.cpp
fn=(4) next()
0x400 40 11
"""
STRAY = """\
0x108 12 2
cfi=(4) /src/next.cpp
cfn=(4) next()
calls=1 0x400
0x108 12 11
"""
RANGES = {
    "outer()": [range(0x100, 0x110)],
    "filter()": [range(0x200, 0x210)],
    "helper()": [range(0x300, 0x310)],
    "next()": [range(0x400, 0x410)],
}


class Callgrind(unittest.TestCase):
    def out(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "callgrind.out"
        path.write_text(text)
        return path

    def test_a_function_includes_what_it_jumps_to(self):
        path = self.out(MISSED_RETURN.format(stray="", filter_inclusive=12))
        self.assertEqual(inclusive(path)["filter.cpp", "filter()"], (1, 12))
        self.assertEqual(booked_after_return(path, "filter.cpp", "filter()", RANGES), 0)

    def test_the_callers_instructions_after_a_missed_return_are_found(self):
        path = self.out(MISSED_RETURN.format(stray=STRAY.splitlines()[0], filter_inclusive=14))
        self.assertEqual(booked_after_return(path, "filter.cpp", "filter()", RANGES), 2)

    def test_the_callers_calls_after_a_missed_return_are_found_whole(self):
        path = self.out(MISSED_RETURN.format(stray=STRAY, filter_inclusive=25))
        self.assertEqual(booked_after_return(path, "filter.cpp", "filter()", RANGES), 13)

    def test_functions_without_a_range_are_skipped(self):
        path = self.out(MISSED_RETURN.format(stray=STRAY, filter_inclusive=25))
        ranges = {name: span for name, span in RANGES.items() if name != "filter()"}
        self.assertEqual(booked_after_return(path, "filter.cpp", "filter()", ranges), 0)


if __name__ == "__main__":
    unittest.main()
