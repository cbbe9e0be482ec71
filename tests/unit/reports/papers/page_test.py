# SPDX-License-Identifier: MIT
# nsreport papers: earlier results -> a page with every table and figure, and the reasons of those
# that are missing.
import json
import os
import re
import shutil

import samples
import support

# Every table and figure of the documents.
WANTED = {
    "000": ("table-1 table-2 table-3 table-4 figure-4 figure-5 figure-7 figure-8"),
    "001": " ".join(f"figure-2-{n}" for n in range(1, 11)),
    "002": "picture-1 picture-2 picture-3 picture-4 csv",
    "003": "table-1 table-2 table-3 figure-4 figure-5 example",
    "004": "baseline-tcp baseline-packets ciphers budget",
}
KEYS = [f"{seed}-{name}" for seed, names in WANTED.items() for name in names.split()]


def section(page, key):
    return re.search(rf'<section id="item-{key}">.*?</section>', page, re.DOTALL).group()


def row(page, key):
    return re.search(rf'<tr><td[^>]*><a href="#item-{key}">.*?</tr>', page, re.DOTALL).group()


class PapersCase(support.ReportCase):
    parts = ("sids", "tcp")

    def setUp(self):
        super().setUp()
        self.earlier = samples.make(self.path("earlier"), self.parts)

    def papers(self, *arguments, **options):
        return self.run_report("papers", "-o", self.out, *arguments, **options)

    def from_earlier(self, code=0):
        done = self.papers("--from", self.earlier)
        self.assertEqual(done.returncode, code, done.stderr)
        return self.page()

    def part(self, name):
        return os.path.join(self.earlier, "parts", name)


class Whole(PapersCase):
    """The page of results of all parts, which is made once."""

    made, parts = None, None

    def setUp(self):
        if Whole.made is None:
            super().setUp()
            Whole.made = self.from_earlier()

    def section(self, key):
        return section(self.made, key)

    def row(self, key):
        return row(self.made, key)

    def test_every_table_and_figure_has_its_row_and_its_section(self):
        self.assertIn("Every part has results", self.made)
        for key in KEYS:
            self.assertNotIn("not measured</td>", self.row(key), key)
            self.assertIn("<h4>Published</h4>", self.section(key))
            self.assertIn("<h4>Measured", self.section(key), key)
        self.assertEqual(len(re.findall(r'<section id="item-', self.made)), len(KEYS))

    def test_the_head_says_what_names_of_systems_mean(self):
        head = self.made.split("<nav>")[0]
        for words in ("<th>MAPI on xdp:IFACE</th>", "short: fewer and shorter runs"):
            self.assertIn(words, head)

    def test_a_row_says_when_where_and_by_which_command(self):
        found = self.row("000-figure-4")
        for words in ("2026-01-02T03:04:05Z", "a CPU, 2 CPUs", "Linux 6.1", "make sids"):
            self.assertIn(words, found)

    def test_published_values_stand_beside_those_measured(self):
        for key, words in (
            ("000-table-1", ("40.1", "Intel 2004", "packets/s")),
            ("000-table-3", ("7,152", "513", "1,246")),
            ("000-figure-5", ("up to 150 rules containing patterns", "one search for all")),
            ("001-figure-2-7", ("Pcap loose some packets", "libpcap by mmap")),
            ("002-picture-2", ("circa 2000 ns", "ns remain at 1, 2, 4, 8, 16 checksums")),
            ("003-table-1", ("cpuid", "173", "exits to the hypervisor")),
            ("003-table-3", ("104.92", "105.11", "nsmod.ko")),
            ("003-figure-4", ("C0H", "77", "step")),
            ("003-example", ("TCP and IP", "the driver")),
            ("004-baseline-tcp", ("9.42", "offload off: packets of 1500", "published: 10 seconds")),
            ("004-baseline-packets", ("14,697,768", "packets/s")),
            ("004-budget", ("6.75", "6.72 ns", "ns of a cache miss")),
        ):
            for word in words:
                self.assertIn(word, self.section(key), key)

    def test_a_unit_that_the_name_of_a_column_has_is_not_repeated(self):
        found = self.section("002-csv")
        self.assertIn(">runs of each</th>", found)
        self.assertIn(">latency, ns</th>", self.section("003-table-1"))

    def test_layers_stand_in_the_order_in_which_a_packet_passes_them(self):
        found = self.row("003-example")
        layers = ("the program's call", "TCP and IP", "the device's queue", "the driver")
        places = [found.find(layer.replace("'", "&#x27;")) for layer in layers]
        self.assertNotIn(-1, places)
        self.assertEqual(places, sorted(places))

    def test_values_of_a_set_up_stand_together(self):
        found = self.section("004-baseline-tcp")
        names = re.findall(r"<tr><td[^>]*>tcp 2 hosts, ([^<]*)</td><td[^>]*>([^<]*)<", found)
        values = ("throughput", "retransmits")
        wanted = [(f"offload {state}", one) for state in ("off", "on") for one in values]
        self.assertEqual(names, wanted)

    def test_each_cipher_of_the_slides_has_the_variant_that_repeats_it(self):
        found = self.section("004-ciphers")
        rows = re.findall(r"<tr>(.*?)</tr>", found.split("Measured")[1], re.DOTALL)[1:]
        cells = [re.findall(r"<td[^>]*>(.*?)</td>", one) for one in rows]
        published, here = cells[0::2], cells[1::2]
        self.assertEqual([row[0] for row in published][-1], "NULL 4 Host")
        self.assertEqual(len(published), len(here))
        for above, below in zip(published, here):
            medians = [float(cells[4].replace(",", "")) for cells in (above, below)]
            self.assertAlmostEqual(*medians)
        self.assertIn("as printed", published[0][6])
        disturbed = "had up to 40 % of the CPU time in Run (null 4 hosts, round 2, null)"
        self.assertEqual(found.count("of the CPU time in Run"), 1)
        self.assertIn(disturbed, found)
        failed = "ciphers 2 hosts, no ipsec: 2 trials failed: sink, source: run step1: killed; by a"
        self.assertIn(failed, found)
        self.assertIn("; ESP by kernel, driver gcm-aesni</p>", found)

    def test_what_the_machine_could_not_do_is_told_with_the_reason(self):
        self.assertIn("no PMU", self.row("000-table-2"))
        self.assertIn("privileged: requires nsmod", self.row("003-table-1"))
        self.assertIn("would take about 400 s", self.row("001-figure-2-5"))


class Page(PapersCase):
    def test_a_part_without_results_leaves_its_rows_with_the_reason(self):
        shutil.rmtree(self.part("sids"))
        page = self.from_earlier(code=1)
        self.assertIn("not measured</td>", row(page, "000-figure-4"))
        self.assertIn("It was not measured.", section(page, "000-figure-5"))
        self.assertIn("3 of 13 have results", page)

    def test_damaged_results_are_a_reason_and_no_end(self):
        with open(os.path.join(self.part("sids"), "report/data/results.json"), "w") as file:
            file.write("{")
        page = self.from_earlier(code=1)
        self.assertIn("not JSON", row(page, "000-figure-4"))

    def test_results_that_no_table_expects_leave_the_rest_of_the_page(self):
        path = os.path.join(self.part("tcp"), "tcp_2_hosts/results.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"values": {"throughput": {"variants": {"x": {"samples": ["fast"]}}}}}, file)
        page = self.from_earlier(code=1)
        self.assertIn("a bug in nsreport at", row(page, "004-baseline-tcp"))
        self.assertIn("one search for all", section(page, "000-figure-5"))

    def test_a_damaged_state_of_a_part_leaves_the_rest_of_the_page(self):
        path = os.path.join(self.part("tcp"), "status.json")
        with open(path, encoding="utf-8") as file:
            status = json.load(file)
        for damage in ({"failures": 7}, {"failures": [[1]]}, {"commands": [[]]}):
            with self.subTest(damage), open(path, "w", encoding="utf-8") as file:
                json.dump(status | damage, file)
            page = self.from_earlier(code=1)
            self.assertIn("It was not measured.", section(page, "004-baseline-tcp"))
            self.assertIn("one search for all", section(page, "000-figure-5"))

    def test_json_that_is_too_deep_is_a_reason_and_no_end(self):
        deep = '{"values": ' + "[" * 200000
        for name in ("tcp_2_hosts/results.json", "status.json"):
            with open(os.path.join(self.part("tcp"), name), "w", encoding="utf-8") as file:
                file.write(deep)
            page = self.from_earlier(code=1)
            self.assertIn("not measured</td>", row(page, "004-baseline-tcp"))

    def test_links_of_earlier_results_are_not_followed(self):
        secret = self.path("secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("secret")
        os.symlink(secret, os.path.join(self.part("tcp"), "link"))
        self.from_earlier(code=1)
        self.assertTrue(os.path.islink(os.path.join(self.out, "parts/tcp/link")))

    def test_results_that_cannot_be_copied_leave_those_that_were_there(self):
        before = self.from_earlier(code=1)
        os.mkfifo(os.path.join(self.part("tcp"), "pipe"))
        done = self.papers("--from", self.earlier)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"/pipe.*named pipe")
        self.assertNotIn("[(", done.stderr)
        shutil.rmtree(self.part("tcp"))
        self.assertEqual(self.from_earlier(code=1), before)

    def test_a_report_of_its_own_is_taken_as_well(self):
        single = os.path.join(self.earlier, "single")
        shutil.copytree(os.path.join(self.part("sids"), "report"), os.path.join(single, "sids"))
        done = self.papers("--from", single)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("nsreport --sids", row(self.page(), "000-figure-4"))

    def test_a_folder_without_results_and_a_folder_of_others_are_refused(self):
        os.mkdir(self.path("empty"))
        done = self.papers("--from", self.path("empty"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no results in it", done.stderr)
        shutil.rmtree(self.out)
        os.mkdir(self.out)
        with open(os.path.join(self.out, "mine"), "w") as file:
            file.write("kept")
        done = self.papers("--from", self.earlier)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(os.listdir(self.out), ["mine"])

    def test_names_in_results_are_escaped(self):
        path = os.path.join(self.part("tcp"), "tcp_2_hosts/results.json")
        made = samples.conducted("x", "bits/s", {"<b>bold</b>": [1e9, 2e9]})
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        self.assertNotIn("<b>bold", self.from_earlier(code=1))


if __name__ == "__main__":
    support.main()
