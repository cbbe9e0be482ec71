# SPDX-License-Identifier: MIT
# What the kernel records of itself, in guests of every kernel: other modules' probes, presets, both sides in one trace.
import collections
import re
import shutil
import subprocess

import guest
import kernel_modules
import kernel_trace
import nsmod_guest

PLACES = 9  # of probes in the example


def setUpModule():
    NsmodKernel.BUILT = nsmod_guest.build_for_tests("example")


def tool(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


class NsmodKernel(nsmod_guest.GuestTestCase):
    def with_example(self, machine):
        machine.add_built_module(self.BUILT[machine.kernel.name]["nsmod_example.ko"])

    def test_a_modules_own_slices_are_all_there_though_it_comes_and_goes_meanwhile(self):
        self.run_guests(kernel_trace.SHOW_FILE + """
            insmod /modules/nsmod_example.ko
            echo 10 >/sys/module/nsmod_example/parameters/run # nobody records yet
            rmmod nsmod_example
            cat >meanwhile <<END
                insmod /modules/nsmod_example.ko
                echo 40 >/sys/module/nsmod_example/parameters/run
                rmmod nsmod_example
                insmod /modules/nsmod_example.ko
                echo 23 >/sys/module/nsmod_example/parameters/run
                echo 0x100000000 >/sys/module/nsmod_example/parameters/run
                true
END
            vm_kernel_recorder "" 0 -- sh meanwhile >trace.nsl
            rmmod nsmod_example && rmmod nsmod && echo unloaded
            nsdump check trace.nsl
            show_file trace.nsl
            """, self.check_example, self.with_example)

    def check_example(self, result):
        self.check_words("write error: .*[Rr]ange", "unloaded\n", "trace.nsl: whole; ")(result)
        trace = kernel_trace.Trace(kernel_trace.from_console(result.output, "trace.nsl"))
        self.assertEqual(collections.Counter(one.name for one in trace.slices()), {"handle": 63, "fill": 63, "check": 63})
        self.assertEqual({(one.name, one.depth) for one in trace.slices()}, {("handle", 0), ("fill", 1), ("check", 1)})
        self.assertEqual(sorted(trace.words("INIT", "packet")), sorted((number, 1, 1500) for number in [*range(40), *range(23)]))
        self.assertEqual(trace.count("EXIT", "packet"), 63)
        self.assertEqual(len(trace.words("MARK", "checksum")), 63)
        self.assertEqual(len(set(trace.words("MARK", "checksum"))), 40)
        # Both lives of the module wrote under the same ids.
        self.assertEqual({file for _, _, file in trace.sites.values()}, {"nsmod_example/nsmod_example.c"})
        self.assertEqual(len(trace.sites), PLACES)
        self.assertEqual((trace.issued, trace.drained, trace.lost), (PLACES * 63, PLACES * 63, 0))

    def test_a_place_costs_one_no_operation_while_nobody_records(self):
        for kernel, files in self.BUILT.items():
            with self.subTest(kernel=kernel):
                file = files["nsmod_example.ko"]
                table = tool("readelf", "-rW", file).partition("'.rela__jump_table'")[2].partition("Relocation section")[0]
                places = re.findall(r" \.text \+ ([0-9a-f]+)\n.* \.text \+ ([0-9a-f]+)\n.* nslice_kernel_key \+", table)
                self.assertEqual(len(places), PLACES)
                code = {int(at, 16): (len(raw.split()), words) for at, raw, words in
                        re.findall(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(.*)$", tool("objdump", "-dw", "-j", ".text", file), re.M)}
                for place, target in places:
                    length, words = code[int(place, 16)]
                    self.assertRegex(words, r"^nop|^xchg +%ax,%ax")
                    # As long as the jump that takes its place: to near code two bytes do.
                    self.assertIn(length, (2, 5) if -127 < int(target, 16) - int(place, 16) < 130 else (5,))

    def test_nothing_of_a_probe_is_compiled_in_where_they_are_disabled(self):
        for kernel, files in self.BUILT.items():
            with self.subTest(kernel=kernel):
                folder = files["nsmod.ko"].parent
                shutil.copytree(nsmod_guest.SOURCE / "example", folder / "silent")
                made, _ = kernel_modules.make(folder / "silent", guest.cache_folder("amd64") / "kernels" / kernel, "amd64", "KCFLAGS=-DNETSLICE_DISABLE")
                said = tool("readelf", "-sSW", made["nsmod_example.ko"])
                self.assertIn("handle_packet", said)
                self.assertNotIn("nslice", said)
                self.assertNotIn("__jump_table", said)


if __name__ == "__main__":
    guest.run_tests(guest.Amd64Guest)
