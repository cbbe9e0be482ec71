#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The flame graph, alone and in nsreport's page, in a real browser without a display."""

import html
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import unittest

from made_traces import TESTS, MadeTracesTest, needs
from probed_programs import run

NSREPORT = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsreport"

PADDING = 3  # of a label, on either side

# A page that acts on the graph as a user does, and leaves what it saw.
ACTOR = """<!DOCTYPE html>
<iframe id="graph" src="GRAPH" width="1200" height="400"></iframe>
<pre id="seen"></pre>
<script>
window.onload = () => {
    const graph = document.getElementById("graph").contentDocument;
    const frames = Array.from(graph.querySelectorAll("#frames .frame"));
    const widthAs = (label, text) => {
        const shown = label.textContent;
        label.textContent = text;
        const width = label.getComputedTextLength();
        label.textContent = shown;
        return width;
    };
    // The label with one more letter, or with one at all.
    const longer = (name, label) => {
        const letters = Array.from(name), count = Math.max(Array.from(label).length, 2);
        return count >= letters.length ? name : letters.slice(0, count).join("") + "\u2026";
    };
    const see = () => ({
        shown: frames.filter(one => !one.classList.contains("hidden")).map(one => ({
            name: one.dataset.n, depth: +one.dataset.d,
            around: one.classList.contains("around"), found: one.classList.contains("found"),
            width: +one.querySelector("rect").getAttribute("width"),
            label: one.querySelector("text").textContent,
            label_px: one.querySelector("text").getComputedTextLength(),
            longer_px: widthAs(one.querySelector("text"),
                longer(one.dataset.n, one.querySelector("text").textContent)),
        })),
        matched: graph.getElementById("matched").textContent,
        detail: graph.getElementById("detail").textContent,
        wrong: graph.getElementById("search").classList.contains("wrong"),
    });
    const press = (name, depth) => frames.find(
        one => one.dataset.n === name && +one.dataset.d === depth)
        .dispatchEvent(new MouseEvent("click", {bubbles: true}));
    const search = text => {
        const field = graph.getElementById("search");
        field.value = text;
        field.dispatchEvent(new Event("input", {bubbles: true}));
    };
    const seen = {};
    seen.at_first = see();
    press("classify", 2);
    seen.zoomed = see();
    graph.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
    seen.reset = see();
    search("LOOK");
    seen.found = see();
    search("(");
    seen.wrong = see();
    search("");
    frames[2].dispatchEvent(new MouseEvent("mouseenter"));
    seen.over = see();
    document.getElementById("seen").textContent = JSON.stringify(seen);
};
</script>
"""

MEASURE = """<script>
window.onload = () => {
    const object = document.querySelector("#flame_graph object");
    const inside = object.contentDocument;
    const seen = document.createElement("pre");
    seen.id = "seen";
    seen.textContent = JSON.stringify({
        frames: inside.querySelectorAll("#frames .frame").length,
        height: object.getBoundingClientRect().height,
        inner: inside.documentElement.getBoundingClientRect().height,
        page: document.documentElement.scrollWidth, window: window.innerWidth,
        pictures: Array.from(document.images, one => [
            one.naturalWidth, one.getBoundingClientRect().width, one.alt]),
        text_height: document.querySelector("h1").getBoundingClientRect().height,
    });
    document.body.append(seen);
};
</script></body>"""


class FlameGraph(MadeTracesTest):
    def browse(self, page, *options):
        done = run(
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--allow-file-access-from-files",
            "--virtual-time-budget=5000",
            f"--user-data-dir={self.folder / 'profile'}",
            *options,
            page.as_uri() if isinstance(page, pathlib.Path) else page,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def seen(self, page):
        dom = self.browse(page, "--dump-dom")
        found = re.search(r'<pre id="seen">(.+?)</pre>', dom, re.S)
        self.assertIsNotNone(found, dom[-2000:])
        return json.loads(html.unescape(found[1]))

    def screenshot(self, page, name, width, height):
        path = self.folder / name
        self.browse(page, f"--screenshot={path}", f"--window-size={width},{height}")
        head = path.read_bytes()[:24]
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", head[16:24]), (width, height))
        if kept := os.environ.get("NETSLICE_KEEP_SCREENSHOTS"):
            shutil.copy(path, kept)
        return path.stat().st_size

    def graph(self):
        trace = self.make("graph", "--records", 20000, "--cpus", 2, "--kernel")
        path = self.folder / "graph.svg"
        self.export_as(trace, "--format", "flamegraph", "-o", path)
        return path

    def assert_labels_fit(self, view):
        self.assertGreater(sum(frame["label"] != "" for frame in view["shown"]), 1)
        for frame in view["shown"]:
            room = frame["width"] - 2 * PADDING
            self.assertLessEqual(frame["label_px"], max(room, 0) + 0.1, frame)
            if frame["label"] != frame["name"]:
                self.assertGreater(frame["longer_px"], room - 0.1, frame)

    def test_a_graph_is_zoomed_and_searched(self):
        graph = self.graph()
        actor = self.folder / "actor.html"
        actor.write_text(ACTOR.replace("GRAPH", graph.name))
        seen = self.seen(actor)
        for view in seen.values():
            self.assert_labels_fit(view)

        first = {(one["name"], one["depth"]): one for one in seen["at_first"]["shown"]}
        self.assertAlmostEqual(first["all", 0]["width"], 1180, delta=0.1)
        self.assertIn(("kernel:irq", 1), first)

        zoomed = {(one["name"], one["depth"]): one for one in seen["zoomed"]["shown"]}
        self.assertEqual(set(zoomed), {("all", 0), ("batch", 1), ("classify", 2), ("lookup", 3)})
        self.assertAlmostEqual(zoomed["classify", 2]["width"], 1180, delta=0.1)
        self.assertTrue(zoomed["batch", 1]["around"])
        names = [one["name"] for one in seen["at_first"]["shown"]]
        around, inside = seen["at_first"]["shown"][names.index("classify") :][:2]
        self.assertEqual(inside["name"], "lookup")
        self.assertAlmostEqual(
            zoomed["lookup", 3]["width"] / 1180, inside["width"] / around["width"], delta=0.01
        )
        self.assertEqual(seen["reset"], seen["at_first"])

        found = [one for one in seen["found"]["shown"] if one["found"]]
        self.assertEqual({one["name"] for one in found}, {"lookup"})
        share = 100 * sum(one["width"] for one in found) / 1180
        self.assertEqual(seen["found"]["matched"], f"{len(found)} found: {share:.1f} % of all")
        self.assertTrue(seen["wrong"]["wrong"])
        self.assertRegex(seen["over"]["detail"], r"net .* \(.* %\), itself .*; \d+ slices, raw ")

    def test_labels_fill_their_frames_in_whatever_font_the_browser_has(self):
        graph = self.graph()
        usual = graph.read_text()
        actor = self.folder / "actor.html"
        actor.write_text(ACTOR.replace("GRAPH", graph.name))
        for font in ("23px serif", "5px sans-serif", "12px monospace"):
            # Narrow letters, wide ones, and some of two code units.
            names = itertools.cycle(["illil.lii", "MWMWMWMW", "\u6f22\u5b57" * 4, "\U0001f984" * 8])
            text = re.sub(r'font: 12px "DejaVu Sans Mono"[^;]*', f"font: {font}", usual)
            other = re.compile(r'(?<=data-n=")(?!all|classify)[^"]*')
            text = other.sub(lambda _: next(names), text)
            with self.subTest(font=font):
                graph.write_text(text)
                seen = self.seen(actor)
                self.assert_labels_fit(seen["at_first"])
                self.assert_labels_fit(seen["zoomed"])

    def test_the_address_says_what_is_shown(self):
        graph = self.graph()
        dom = self.browse(f"{graph.as_uri()}#search=lookup&zoom=classify", "--dump-dom")
        self.assertRegex(dom, r'id="matched"[^>]*>\d+ found: ')
        self.assertRegex(dom, r'class="frame around"[^>]*data-n="batch"')
        self.assertGreater(self.screenshot(graph, "graph.png", 1200, 220), 5000)

    def test_the_page_of_nsreport_shows_the_graph(self):
        needs.tools("gnuplot")
        trace = self.make("page", "--records", 20000, "--cpus", 2, "--kernel")
        report = self.folder / "report"
        done = run(NSREPORT, trace, "-o", report, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = report / "index.html"
        self.assertGreater(self.screenshot(page, "page.png", 1100, 6000), 50000)
        measured = report / "measured.html"
        measured.write_text(page.read_text().replace("</body>", MEASURE))
        seen = self.seen(measured)
        self.assertGreater(seen["frames"], 5)
        self.assertGreater(seen["height"], 100)
        self.assertAlmostEqual(seen["height"], seen["inner"], delta=2)
        self.assertLessEqual(seen["page"], seen["window"])
        self.assertGreater(seen["text_height"], 10)
        self.assertGreater(len(seen["pictures"]), 4)
        for drawn_px, shown_px, words in seen["pictures"]:
            self.assertGreater(drawn_px, 100, words)
            self.assertGreater(shown_px, 300, words)
            self.assertTrue(words)


if __name__ == "__main__":
    needs.tools("chromium")
    if not (TESTS / "make_trace").exists():
        needs.skip("make_trace is not built")
    if not NSREPORT.exists():
        needs.skip("nsreport is not built")
    unittest.main()
