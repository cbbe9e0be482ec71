# SPDX-License-Identifier: MIT
# The packages -> installed by apt in a fresh Debian, tried as a stranger would, removed.
import gzip
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import clean_system
import packages

BUILT = packages.built()
VERSION = BUILT["nsdump"].field("Version")
HEADERS = f"linux-headers-{BUILT['nsdump'].field('Architecture')}"
TOOLS = ["g++", "make", "man-db", "pkg-config", HEADERS]
CAPTURE = "/usr/share/netslice/reports/demo.pcap"
PACKETS = 4827  # in that capture, as tests/install counts them
# What Debian's own programs write while packages come and go, and what this test has put there.
WRITTEN_BY_OTHERS = re.compile(
    r"/(var/(cache|log|lib/(apt|dpkg|systemd|ucf))|run|tmp|root|packages)(/|$)|"
    r"/etc/(ld\.so\.cache|\.pwd\.lock|[a-z]+-)$|.*/__pycache__|"
    r"/usr/lib/modules/[^/]+/modules\.[a-z.]+$"  # depmod's, of all modules
)


def setUpModule():
    if os.geteuid() != 0:
        packages.skip("requires root, for the folder that becomes a system")
    for tool in ("mmdebstrap", "unshare"):
        if not shutil.which(tool):
            packages.skip(f"not installed: {tool}")
    place = tempfile.TemporaryDirectory(prefix="system-", dir=packages.FOLDER.parent)
    unittest.addModuleCleanup(place.cleanup)
    Installed.system = Removed.system = clean_system.CleanSystem(
        pathlib.Path(place.name) / "root", TOOLS
    )
    install(Installed.system)


def install(system):
    """All packages at once, from a folder of the system; before, what they require of Debian, which
    leaves files of its own."""
    system.must("useradd", "--create-home", "--home-dir", "/srv/stranger", "stranger")
    (system.root / "packages").mkdir()
    for one in BUILT.values():
        shutil.copy(one.path, system.root / "packages")
    paths = [f"/packages/{one.path.name}" for one in BUILT.values()]
    system.apt("update")
    planned = re.findall(r"(?m)^Inst (\S+)", system.apt("install", "--simulate", *paths))
    system.apt("install", *(name for name in planned if name not in BUILT))
    Removed.before = system.paths()
    Installed.said = system.apt("install", *paths)


def manual_pages():
    for one in BUILT.values():
        for path in one.files():
            if "/share/man/" in path:
                yield path


# The classes run in the order of their names: what is removed can no longer be tried.
class Installed(unittest.TestCase):
    system = None
    said = ""

    def stranger(self, script):
        """What a shell of an ordinary user prints, in a folder of its own."""
        return self.system.must(
            "sh",
            "-euc",
            f"cd $(mktemp -d)\n{script}",
            user="stranger",
            variables={"HOME": "/srv/stranger"},
        )

    def test_every_program_tells_the_version(self):
        programs = [
            path for one in BUILT.values() for path in one.files() if path.startswith("/usr/bin/")
        ]
        self.assertGreater(len(programs), 10)
        for program in programs:
            self.assertIn(VERSION, self.stranger(f"{program} --version"), program)

    def test_the_examples_are_built_by_pkg_config_and_recorded(self):
        said = self.stranger("""
            cp -r /usr/share/doc/netslice/examples . && cd examples
            make -s
            nsdump record -w app.nsl -- ./packet_loop
            nsdump check app.nsl | tail -n 1
            nsdump stats app.nsl >stats
            grep -c filter stats
            ./host ./decode.so >/dev/null
            """)
        self.assertIn("kept 80000 of 320000 packets", said)
        self.assertIn("70000 records of 70000 issued", said)
        self.assertIn("app.nsl: whole; 70000 records, every one accounted for", said)

    def test_a_trace_is_exported_and_drawn(self):
        said = self.stranger("""
            cp -r /usr/share/doc/netslice/examples . && cd examples
            make -s
            nsdump record -w app.nsl -- ./packet_loop >record 2>&1
            nsreport app.nsl -o report >report.said 2>&1
            grep -qF '.svg' report/index.html
            ls report/*.svg >/dev/null
            nsdump export app.nsl --what stats --format json
            """)
        stats = json.loads(said)
        self.assertTrue(stats["losses"]["equation_holds"])
        self.assertIn("filter", {one["name"] for one in stats["slices"]})

    def test_mapi_count_counts_the_packets_of_a_capture(self):
        said = self.stranger(f"mapi-count -r {CAPTURE}")
        self.assertEqual(said.split()[0], str(PACKETS))

    def test_a_program_with_libmapi_is_built_by_pkg_config_and_counts_the_same(self):
        source = packages.SOURCE / "tests/install/pkg_config/count.c"
        shutil.copy(source, self.system.root / "packages")
        said = self.stranger(f"""
            cc -Wall -Wextra -Werror -o count /packages/count.c $(pkg-config --cflags --libs mapi)
            ./count {CAPTURE}
            """)
        self.assertEqual(said.strip(), str(PACKETS))

    def test_a_static_program_is_built_by_pkg_config(self):
        source = packages.SOURCE / "tests/install/find_package/batch.c"
        shutil.copy(source, self.system.root / "packages")
        said = self.stranger("""
            flags=$(pkg-config --static --cflags --libs nsprobe)
            cc -o batch /packages/batch.c -static $flags 2>warnings
            ./batch output=batch.nsl
            nsdump check batch.nsl
            """)
        self.assertRegex(said, r"batch.nsl: whole; \d+ records, every one accounted for")

    def test_every_manual_page_is_found_and_formatted_without_a_warning(self):
        pages = list(manual_pages())
        self.assertGreater(len(pages), 50)
        names = [
            re.match(r"(.+)\.([0-9][a-z]*)\.gz$", pathlib.Path(page).name).group(2, 1)
            for page in pages
        ]
        found = self.stranger("\n".join(f"man --path {section} {name}" for section, name in names))
        self.assertEqual(len(found.split()), len(pages))
        self.assertLessEqual(set(found.split()), set(pages))  # a page may only name another one
        said = self.stranger(
            f"""
            for page in {" ".join(pages)}; do
                MANWIDTH=80 man --warnings --local-file $page >text
                [ -s text ]
            done
            """
        )
        self.assertEqual(said, "")

    def test_mapid_accepts_a_client_and_its_units_are_enabled(self):
        said = self.stranger(f"""
            export MAPI_SOCKET=$PWD/mapid.sock
            mapid --socket $MAPI_SOCKET --group stranger 2>mapid.log &
            for _ in $(seq 100); do [ ! -S mapid.sock ] || break; sleep 0.1; done
            mapi-info devices >/dev/null
            mapi-flow -r {CAPTURE} PKT_COUNTER || cat mapid.log
            kill -TERM $!
            wait $!
            """)
        self.assertIn(str(PACKETS), said)
        units = self.system.root / "etc/systemd/system"
        self.assertTrue((units / "sockets.target.wants/mapid.socket").is_symlink())
        self.assertTrue((units / "multi-user.target.wants/mapid.service").is_symlink())
        groups = (self.system.root / "etc/group").read_text(encoding="utf-8")
        self.assertRegex(groups, r"(?m)^mapi:")
        self.assertRegex(groups, r"(?m)^netslice:")

    def test_dkms_has_built_the_module_for_the_installed_kernel_headers(self):
        status = self.system.must("dkms", "status")
        kernel = re.search(rf"^nsmod/{VERSION}, (\S+), \S+: installed$", status, re.MULTILINE)
        self.assertTrue(kernel, f"{status}\n{self.said[-6000:]}")
        (module,) = (self.system.root / "lib/modules" / kernel[1]).rglob("nsmod.ko*")
        inside = "/" + str(module.relative_to(self.system.root))
        facts = self.system.must("modinfo", inside)
        self.assertRegex(facts, rf"(?m)^version: +{VERSION}$")
        self.assertRegex(facts, rf"(?m)^vermagic: +{re.escape(kernel[1])} ")

    def test_every_package_has_a_copyright_file_and_a_changelog(self):
        for name in BUILT:
            folder = self.system.root / "usr/share/doc" / name
            self.assertIn("MIT", (folder / "copyright").read_text(encoding="utf-8"), name)
            with gzip.open(folder / "changelog.gz", "rt", encoding="utf-8") as changelog:
                self.assertIn(f"netslice ({VERSION})", changelog.readline(), name)


class Removed(unittest.TestCase):
    system = None
    before = frozenset()

    def test_after_remove_and_purge_nothing_is_left(self):
        log = self.system.root / "var/log/mapid"
        log.mkdir()  # as systemd does for the service
        (log / "mapid.log").write_text("", encoding="utf-8")
        self.system.apt("remove", *BUILT)
        self.assertFalse((self.system.root / "usr/bin/nsdump").exists())
        self.assertTrue(log.exists(), "logs are removed by purge only")
        self.system.must("dpkg", "--purge", *BUILT)
        left = {
            path
            for path in self.system.paths() - self.before - self.system.owned()
            if not WRITTEN_BY_OTHERS.match(path)
        }
        self.assertEqual(sorted(left), [])
        self.assertFalse(log.exists())


if __name__ == "__main__":
    unittest.main()
