# SPDX-License-Identifier: MIT
# The built packages -> what each has, needs and does, by dpkg's tools and lintian.
import collections
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import packages

BUILT = packages.built()
# name of a library's package -> its soname
LIBRARIES = {
    "libnsprobe0": "libnsprobe.so.0",
    "libnsprobe-bpf0": "libnsprobe-bpf.so.0",
    "libnetslice-arrow0": "libnetslice-arrow.so.0",
    "libmapi0": "libmapi.so.0",
}
EXPECTED = {
    *LIBRARIES,
    *("libnsprobe-dev", "libmapi-dev", "nsdump", "mapi-core", "nsmod-dkms"),
    *("netslice-reports", "netslice-doc"),
}


def words_of(text, pattern):
    return {found for line in text.splitlines() for found in re.findall(pattern, line)}


class Contents(unittest.TestCase):
    def test_every_package_is_built_and_has_the_version_of_the_project(self):
        project = (packages.SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"^project\(netslice VERSION ([0-9.]+)", project, re.MULTILINE)[1]
        self.assertEqual(set(BUILT), EXPECTED)
        self.assertEqual({one.field("Version") for one in BUILT.values()}, {version})

    def test_no_file_is_in_two_packages(self):
        count = collections.Counter(path for one in BUILT.values() for path in one.files())
        self.assertGreater(len(count), 200)
        self.assertEqual([path for path, times in count.items() if times > 1], [])

    def test_every_program_has_a_compressed_manual_page_in_its_package(self):
        for one in BUILT.values():
            files = one.files()
            pages = {pathlib.Path(path).name for path in files if "/share/man/" in path}
            self.assertEqual([page for page in pages if not page.endswith(".gz")], [])
            programs = [pathlib.Path(path).name for path in files if path.startswith("/usr/bin/")]
            for program in programs:
                self.assertTrue({f"{program}.1.gz", f"{program}.8.gz"} & pages, program)

    def test_a_library_has_its_soname_and_tells_the_loader_and_other_packages(self):
        for name, soname in LIBRARIES.items():
            one = BUILT[name]
            with tempfile.TemporaryDirectory() as folder:
                (library,) = pathlib.Path(one.unpacked(f"{folder}/{name}")).rglob(soname)
                dynamic = subprocess.run(
                    ["readelf", "--dynamic", "--wide", library],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            self.assertIn(f"Library soname: [{soname}]", dynamic)
            self.assertNotRegex(dynamic, r"\((RPATH|RUNPATH)\)")
            self.assertIn("activate-noawait ldconfig", one.control_file("triggers"))
            base, number = soname.split(".so.")
            self.assertIn(f"{base} {number} {name} (>= ", one.control_file("shlibs"))

    def test_packages_depend_on_the_libraries_that_their_programs_are_linked_with(self):
        for user, libraries in {
            "nsdump": ["libnsprobe0", "libnetslice-arrow0 (=", "libelf1", "libbpf1"],
            "mapi-core": ["libmapi0", "libnsprobe0", "libpcap0.8", "libvectorscan5"],
            "netslice-reports": ["libmapi0", "python3"],
            "libnsprobe-bpf0": ["libnsprobe0", "libbpf1"],
            "libnsprobe-dev": ["libnsprobe0 (=", "libnsprobe-bpf0 (="],
            "libmapi-dev": ["libmapi0 (="],
            "nsmod-dkms": ["dkms"],
        }.items():
            for library in libraries:
                self.assertIn(library, BUILT[user].field("Depends"), user)

    def test_the_build_needs_what_the_tree_says_that_it_needs(self):
        table = (packages.SOURCE / "packages.txt").read_text(encoding="utf-8")
        of_build = words_of(table, r"^(\S+) +build ") - {"g++", "catch2"}
        control = (packages.SOURCE / "debian/control").read_text(encoding="utf-8")
        block = control.split("Build-Depends:")[1].split("\n\n")[0]
        needed = words_of(block, r"^ ([a-z0-9.+-]+)")
        self.assertEqual(of_build - needed, set())

    def test_lintian_has_no_errors_and_no_warnings(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        done = subprocess.run(
            ["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"]
            + [one.path for one in packages.built(with_debug_symbols=True).values()],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
