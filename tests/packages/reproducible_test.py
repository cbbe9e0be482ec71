# SPDX-License-Identifier: MIT
# The same tree, built again in another folder, later, in another time zone and with another umask
# -> packages with the same bytes.
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import packages

FIRST = packages.FOLDER
packages.built()
# Each object is compiled: one from a compiler's cache would prove nothing.
WITHOUT_CACHE = {"CCACHE_DISABLE": "1"}
OTHER = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "LANG": "C", "HOME": "/nonexistent"}


def sums(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*.deb"))
    }


def difference(first, second):
    """What diffoscope finds, if it is installed."""
    if not shutil.which("diffoscope"):
        return "differs; diffoscope, which would show where, is not installed"
    done = subprocess.run(
        ["diffoscope", "--max-text-report-size", "20000", first, second],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


class Reproducible(unittest.TestCase):
    def test_a_second_build_elsewhere_gives_the_same_bytes(self):
        top = tempfile.TemporaryDirectory(prefix="second-", dir=FIRST.parent)
        self.addCleanup(top.cleanup)
        work = pathlib.Path(top.name) / "a_folder_with_a_longer_name"
        second = pathlib.Path(top.name) / "packages"
        done = subprocess.run(
            ["sh", "-c", 'umask 027; exec "$@"', "sh"]
            + [packages.SOURCE / "debian/build_packages.sh", work, second],
            env=os.environ | WITHOUT_CACHE | OTHER,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        first_sums, second_sums = sums(FIRST), sums(second)
        self.assertEqual(set(first_sums), set(second_sums))
        different = [name for name, value in first_sums.items() if second_sums[name] != value]
        said = [f"{name}: {difference(FIRST / name, second / name)}" for name in different]
        self.assertEqual(different, [], "\n".join(said)[:40000])


if __name__ == "__main__":
    unittest.main()
