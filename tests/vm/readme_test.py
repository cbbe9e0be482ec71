# SPDX-License-Identifier: MIT
# The commands of nsmod/README.md, verbatim, in a guest that has only the modules and the toolkit's
# programs.
import re

import nsmod_guest

README = nsmod_guest.SOURCE / "README.md"

# Shell: the checkout's root as its user sees it.  Steps that require packages or a compiler were
# done outside.
CHECKOUT = """
rmmod nsmod
mkdir -p nsmod/example
ln -s /modules/nsmod.ko nsmod/
ln -s /modules/nsmod_example.ko nsmod/example/
printf '#!/bin/sh\\nexec vm_long_slices 20 10\\n' >app
chmod +x app
ifconfig lo up
apt() { true; }
make() { ls $2/*.ko >/dev/null; }
"""


def setUpModule():
    nsmod_guest.build_modules("example")


def blocks_without(word):
    """README's command blocks, each by its first line."""
    blocks = re.findall(r"^```\n(.*?)^```", README.read_text(), re.M | re.S)
    return [block for block in blocks if word not in block]


class Readme(nsmod_guest.NsmodTest):
    programs = ("vm_long_slices",)
    timeout_s = 180

    def test_each_command_does_what_the_text_says(self):
        load, beside, annotate, kernel = blocks_without("dkms")  # covered by tests/vm/dkms_test.py
        run = "set -e\n{}\nset +e\n"
        script = CHECKOUT + "".join(
            f"echo '<{name}>'\n( {run.format(block)} ) || echo 'ended with '$?\nwait\n"
            for name, block in (
                ("load", load),
                ("annotate", annotate.replace("insmod nsmod/nsmod.ko", "true")),
                ("kernel", kernel),
                (
                    "beside",
                    "NETSLICE=recorder=nsmod ./app &\n" + beside + "nsdump stats --all trace.nsl",
                ),
            )
        )
        self.run_guests(
            script + "rmmod nsmod && echo unloaded",
            self.check,
            lambda machine: machine.add_built_module(
                nsmod_guest.BUILT[machine.kernel.name]["nsmod_example.ko"]
            ),
        )

    def check(self, result):
        self.assertNotIn("ended with", result.output)
        parts = dict(re.findall(r"^<(\w+)>\r?\n(.*?)(?=^<|\Z)", result.output, re.M | re.S))
        self.assert_twenty_reported(parts["load"])
        for slice_name in ("handle", "fill", "check"):
            self.assertRegex(parts["annotate"], rf"(?m)^kernel:{slice_name} +1000 ")
        self.assertRegex(parts["kernel"], r"(?m)^tcp_send.*\n(.*\n)*.*records of \d+ issued")
        self.assert_twenty_reported(parts["beside"])
        self.assertRegex(parts["beside"], r"(?m)^kernel:local_timer +\d+ ")
        self.assertIn("unloaded", parts["beside"])

    def assert_twenty_reported(self, part):
        """A slice that the guest's scheduler moved to another CPU is excluded from the table and
        reported as migrated."""
        counted = int(re.search(r"(?m)^long +(\d+) ", part)[1])
        migrated = re.search(r"(?m)^ +long: .*\bmigrated (\d+)", part) or ["", "0"]
        self.assertGreater(counted, 10)
        self.assertEqual(counted + int(migrated[1]), 20)


if __name__ == "__main__":
    nsmod_guest.run_tests()
