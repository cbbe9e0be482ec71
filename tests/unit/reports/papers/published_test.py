# SPDX-License-Identifier: MIT
# Published values -> the same in the text of each document, and in what other parts of the toolkit
# know of it.
import glob
import os
import re
import unittest

import samples
import support
from nsreport.budget import published as budget_published
from nsreport.load import published as load_published
from nsreport.papers import published
from nsreport.system import page as system_page

SEEDS = os.environ.get("NETSLICE_SEEDS") or os.path.join(
    os.environ.get("NETSLICE_SOURCE", "."), "../shared/seeds"
)
CIPHERS = os.path.join(samples.HERE, "../../../../reports/experiments/ciphers")
# The values of a row are not one after the other: damaged text, or a list for each column.
SCATTERED = {
    "000-loss-free",
    "003-table-3",
    "003-figure-4",
    "003-figure-5",
    "004-baseline-packets",
    "004-budget",
}


def items():
    """Tables, figures, and values of the text."""
    return [item for name in published.NAMES for item in published.read(name)]


def by_key(key):
    return next(item for item in items() if item.key == key)


def text_of(seed):
    (path,) = glob.glob(os.path.join(SEEDS, f"{seed}_*.txt"))
    with open(path, encoding="utf-8") as file:
        return " ".join(re.sub(r"[\\*<>]|</?\w+>", "", file.read()).split())


def numbers(text):
    return [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def follows(wanted, found):
    """Whether the numbers follow each other without others in between."""
    return any(found[i : i + len(wanted)] == wanted for i in range(len(found)))


@unittest.skipUnless(glob.glob(os.path.join(SEEDS, "*.txt")), "the documents are not here")
class Documents(unittest.TestCase):
    def test_claims_are_sentences_of_the_document(self):
        for item in items():
            text = text_of(item.seed).replace(" ¹", "").replace(" ²", "")
            for claim in item.claims:
                self.assertIn(" ".join(claim.split()), text, item.key)

    def test_numbers_of_the_contents_are_in_the_document(self):
        for item in published.items().values():
            self.assertTrue(item.gist, item.key)
            found = numbers(text_of(item.seed))
            for number in numbers(item.gist):
                self.assertIn(number, found, item.key)

    def test_values_of_a_row_are_in_the_document_one_after_the_other(self):
        for item in items():
            if item.key in SCATTERED:
                continue
            found = numbers(text_of(item.seed))
            for name, values in item.rows:
                wanted = [float(value) for value in values if value is not None]
                self.assertTrue(follows(wanted, found), f"{item.key}: {name}: {wanted}")

    def test_values_that_stand_apart_are_in_the_document_as_well(self):
        for key in SCATTERED:
            item = by_key(key)
            text = text_of(item.seed).replace(" ", "").replace(",", "")
            for _, values in item.rows:
                for value in values:
                    self.assertIn(f"{value:.10g}", text, key)


class Values(unittest.TestCase):
    def test_each_value_has_a_seed_a_table_and_a_unit(self):
        for item in items():
            self.assertRegex(item.seed, r"^00[0-4]$")
            self.assertTrue(item.name and item.title)
            for name, values in item.rows:
                self.assertTrue(name, item.key)
                self.assertEqual(len(values), len(item.columns), f"{item.key}: {name}")
            for name, unit in item.columns:
                self.assertTrue(name and unit, item.key)

    def test_other_reports_take_their_values_from_here(self):
        of = load_published
        self.assertEqual(of.LOSS["SCAMPI", 64][-1], 39.4)
        self.assertIsNone(of.LOSS["Intel", 1500][-1])
        self.assertEqual(of.LOSS_FREE["SCAMPI", 64], 17500)
        self.assertEqual(of.COST["TO_BUFFER"], (64, (537, 8800), (8316, 14700)))
        self.assertEqual(of.COST["STR_SEARCH, 512 bytes"][0], 512)
        self.assertEqual(len(of.COST), 13)
        self.assertEqual(of.PAPI, (265, 700))
        self.assertEqual(system_page.OLD[1], ("netperf", 104.92, 105.78, 105.89))
        of = budget_published
        found = (of.PACKETS_PER_SECOND, of.PACKET_NS, of.CYCLES, of.MISS_NS)
        self.assertEqual(found, (148e6, 6.75, 20, 32))

    def test_what_repeats_a_row_is_a_variant_of_an_experiment(self):
        places = [one for item in items() for one in item.measured_by.values()]
        self.assertEqual(len(places), 7)
        for experiment, variant in places:
            with open(os.path.join(CIPHERS, f"{experiment}.cfg"), encoding="utf-8") as file:
                declared = file.read().partition("[Variants]")[2].partition("[")[0]
            self.assertRegex(declared, rf"(?m)^{variant}:", experiment)

    def test_mapi_cost_has_the_values_of_table_2_and_4(self):
        for table in (2, 4):
            rows = [row["paper"] for row in samples.support.cost()["rows"] if row["table"] == table]
            kinds = ("instructions", "cycles") if table == 2 else ("instructions",)
            own = [[row[f"{c}_{k}"] for c in ("scampi", "intel") for k in kinds] for row in rows]
            self.assertEqual(own, [values for _, values in by_key(f"000-table-{table}").rows])


if __name__ == "__main__":
    support.main()
