# SPDX-License-Identifier: MIT
# What the pictures show: texts of the SVG and figures of the tables that gnuplot reads.
import os
import sys
import unittest
import xml.etree.ElementTree

import support
from support import ReportCase, cost, stats

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
from nsreport import check, cost_pictures, source, trace_pictures  # noqa: E402


def cost_picture(document, name):
    return next(p for p in cost_pictures.pictures(check.check_document(document)) if p.name == name)


def trace_picture(document, name):
    return next(p for p in trace_pictures.pictures(check.check_document(document), source.Source(document), None) if p.name == name)


class Texts(ReportCase):
    def texts(self, name):
        tree = xml.etree.ElementTree.parse(os.path.join(self.out, name + ".svg"))
        return " ".join("".join(node.itertext()).strip() for node in tree.iter("{http://www.w3.org/2000/svg}text"))

    def test_each_picture_tells_its_source_samples_and_losses_without_the_page(self):
        for document in (stats(), cost()):
            self.report_of(document)
            names = [n[:-4] for n in os.listdir(self.out) if n.endswith(".svg")]
            self.assertTrue(names)
            for name in names:
                text = self.texts(name)
                for word in ("Source: ", "Samples: ", "Losses: "):
                    self.assertIn(word, text, name)


if __name__ == "__main__":
    support.main()
