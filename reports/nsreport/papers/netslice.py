# SPDX-License-Identifier: MIT
# Calibration, system run and trace -> tables and figures of the NetSlice paper (2001).
from .. import page
from ..system import figures as system_figures, page as system_page
from ..system.results import VARIANTS
from ..text import count, number, plural, with_error
from ..trace import page as trace_page
from ..trace.facts import net_mean
from .found import Found, of_id

_MODES = ("fast", "ordered")
_NO_PMU = "without a PMU only instructions can be counted"
_WAYS = {"step": "single steps"}  # to count instructions
_LAYERS = {
    "kernel:send_call": "the program's call",
    "kernel:tcp_ip": "TCP and IP",
    "kernel:queue": "the device's queue",
    "kernel:driver": "the driver",
}


def _ns(estimate):
    return number(None) if estimate is None else with_error(estimate["ns"], estimate["ci95_ns"])


def _ratio(estimate, published):
    return number(estimate and estimate["ns"] / published)


def instructions(document, item):
    kernel = {one["name"]: one for one in document["paper"]["kernel"]["instructions"]}
    rows, lacking, said = [], [], []
    for one in document["paper"]["instructions"]:
        in_kernel = kernel.get(one["name"], {}).get("here")
        here = one["here"] or in_kernel
        published = item.value(one["name"])
        where = "in the kernel" if in_kernel and not one["here"] else one["note"] or ""
        rows.append([one["name"], number(published), (_ns(here), where), _ratio(here, published)])
        if here:
            said.append(f"{one['name']} {number(here['ns'])} ns")
        else:
            lacking.append(f"{one['name']} is unavailable: {one['reason']}.")
    columns = [("instruction", False), ("2001, ns", True), ("here, ns", True)]
    return Found(
        summary=f"{', '.join(said)}.",
        tables=[("Machine instructions", page.table([*columns, ("here / 2001", True)], rows))],
        lacking=lacking,
    )


def macros(document, item):
    paper = document["paper"]
    kernel = {one["acronym"]: one["recorded"] for one in paper["kernel"]["macros"]}
    rows = []
    for one in paper["macros"]:
        published = item.value(one["acronym"])
        cells = [one["acronym"], one["name"], number(published)]
        for here in (*(one[mode] for mode in _MODES), kernel.get(one["acronym"])):
            cells += [_ns(here), _ratio(here, published)]
        rows.append(cells)
    columns = [("", False), ("macro-instruction", False), ("2001, ns", True)]
    for words in ("fast clock, ns", "ordered clock, ns", "in the kernel, ns"):
        columns += [(words, True), ("/ 2001", True)]
    pair = next(one for one in paper["macros"] if one["acronym"] == "NSA")
    why = paper["kernel"]["reason"]
    return Found(
        summary=f"START and STOP (NSA): {_ns(pair['fast'])} ns with the fast clock, "
        f"{_ns(pair['ordered'])} ns with the ordered one, {item.value('NSA')} ns in 2001.",
        tables=[("Macro-instructions, back to back, in a program", page.table(columns, rows))],
        lacking=[f"Latencies in the kernel are unavailable: {why}."] if why else [],
    )


def events(document, item):
    paper = document["paper"]
    names = [one["acronym"] for one in paper["macros"]]
    rows = [
        [
            f"{line['counter']} ({line['source']}, {line['mode']} clock)",
            *(number(line[name] and line[name]["count"]) for name in names),
        ]
        for line in paper["events"]
    ]
    for name, values in item.rows:
        dashes = [number(None)] * len(names)
        dashes[names.index("NSE")] = number(values[0])
        rows.append([f"2001: {name}", *dashes])
    columns = [("event", False), *((name, True) for name in names)]
    lacking = [] if paper["events"] else [f"Events are unavailable: {paper['why_no_events']}."]
    sources = {line["source"] for line in paper["events"]}
    if sources <= {"step"}:
        lacking.append(f"79H, 80H and D0H of 2001 are unavailable: {_NO_PMU}.")
    summary = "No event could be counted."
    if paper["events"]:
        first = paper["events"][0]
        summary = (
            f"EXIT: {number(first['NSE'] and first['NSE']['count'])} {first['counter']}, counted "
            f"by {_WAYS.get(first['source'], first['source'])}; {item.value('C0H')} events C0H in "
            "2001."
        )
    return Found(
        summary=summary,
        tables=[("Events that each macro-instruction adds", page.table(columns, rows))],
        lacking=lacking,
    )


def _missing(document):
    words = system_page.WORDS
    said = [
        f"Variant \u201c{words.get(variant, variant)}\u201d is unavailable: {why}."
        for variant, why in document["missing"].items()
    ]
    said += [f"{tool} is not installed." for tool in document["lacking"]]
    return said


def _at(document, kind, size):
    return [system_figures.point(document, kind, size, variant) for variant in VARIANTS]


def _middle(spread):
    return number(spread and spread[0])


def system_cost(document, item):
    """Table 3: sizes, round trip and throughput."""
    trips = system_figures.sizes(document, "round_trip")
    rates = system_figures.sizes(document, "throughput")
    least, most = (trips[:1] or [None])[0], (rates[-1:] or [None])[0]
    trip = _at(document, "round_trip", least) if trips else [None] * 3
    rate = _at(document, "throughput", most) if rates else [None] * 3
    rows = [
        [
            system_page.WORDS[variant],
            f"{values[3]:.2f}",
            _middle(own_trip),
            f"{values[4]:.2f}",
            _middle(own_rate),
        ]
        for variant, (_, values), own_trip, own_rate in zip(VARIANTS, item.rows, trip, rate)
    ]
    columns = [("system", False), ("2001: lat_tcp, us", True)]
    columns += [(f"round trip of {count(least)} bytes, us", True), ("2001: netperf", True)]
    columns += [(f"throughput, {count(most)} bytes, Gbit/s", True)]
    tables = of_id(system_page.tables(document), "sizes")
    lacking = _missing(document)
    if not any("nsmod.ko" in one["name"] for one in document["sizes"]):
        lacking.append("The size of the module is unavailable: it is not installed here.")
    lacking.append(
        "Sizes of system.map, vmlinux and bzImage: the kernel is not rebuilt; the module's and "
        "programs' sizes take their place."
    )
    shown = [f"{system_page.WORDS[v]}: {_middle(t)} us" for v, t in zip(VARIANTS, trip) if t]
    return Found(
        summary=f"TCP round trip over loopback, {'; '.join(shown) or 'not measured'}.",
        tables=[("TCP over loopback", page.table(columns, rows)), *tables],
        lacking=lacking,
    )


def round_trips(document, item):
    sizes = system_figures.sizes(document, "round_trip")
    said = []
    for variant in VARIANTS[1:]:
        ratios = [system_figures.ratio(document, "round_trip", size, variant) for size in sizes]
        middles = [100 * (one[0] - 1) for one in ratios if one]
        if middles:
            least, most = min(middles), max(middles)
            said.append(f"{system_page.WORDS[variant]}: {least:+.1f} to {most:+.1f} %")
    most = item.value("at most")
    return Found(
        summary=f"Round trip against that without the module, {plural(len(sizes), 'size')}: "
        f"{'; '.join(said) or 'no variant to compare with'}; 2001: at most {most} %.",
        tables=of_id(system_page.tables(document), "round_trip-figures"),
        pictures=["round_trip"],
        lacking=_missing(document),
    )


def tcp_send(document, _item):
    """Statistics of a trace of the kernel's group tcp_send."""
    hz = document["clock"]["hz"]
    rows = []
    places = {name: place for place, name in enumerate(_LAYERS)}  # in the order of a packet
    measured = [entry for entry in document["slices"] if entry["name"] in places]
    for entry in sorted(measured, key=lambda entry: places[entry["name"]]):
        ticks = next((one for one in entry["values"] if one["field"] == "ticks"), None)
        if not ticks:
            continue
        value, half = net_mean(ticks)
        own = (ticks["self"] or {}).get("mean")
        cells = [with_error(1e9 * value / hz, half and 1e9 * half / hz)]
        cells += [number(own is not None and 1e9 * own / hz)]
        cells += [number(ticks["net"][k] and 1e9 * ticks["net"][k] / hz) for k in ("p50", "p99")]
        rows.append([(entry["name"], _LAYERS[entry["name"]]), count(entry["count"]), *cells])
    columns = [("slice", False), ("slices", True), ("net mean \u00b1 95 %, ns", True)]
    columns += [("of its own, ns", True), ("p50, ns", True), ("p99, ns", True)]
    losses = document["losses"]
    lost = losses["issued"] - losses["drained"]
    said = [f"{row[0][1]} {row[2]} ns" for row in rows]
    return Found(
        summary=f"A packet of 512 bytes over loopback: {'; '.join(said)}. "
        f"{count(losses['issued'])} records issued, {count(lost)} lost.",
        tables=[("The way of a TCP packet, net of the probes", page.table(columns, rows))],
        pictures=["function_cost", "latency_hist", "timeline"],
        lacking=trace_page.warnings(document),
    )
