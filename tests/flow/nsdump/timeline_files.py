# SPDX-License-Identifier: MIT
"""Perfetto's packets and Chrome's JSON -> the same tracks, slices, counters and instants, as their
viewers read them."""

import collections
import dataclasses
import json
import pathlib
import sys

from probed_programs import SOURCE  # which also makes tests/flow importable

for packages in pathlib.Path(SOURCE / "build/python/lib").glob("python3*/site-packages"):
    sys.path.insert(0, str(packages))
try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
except ImportError:
    import needs

    needs.skip("the Python package perfetto is not installed (./run python)")


@dataclasses.dataclass
class Shown:
    """A slice as a viewer shows it."""

    name: str
    track: object
    start_ns: int
    stop_ns: int = None
    parent: "Shown" = None
    category: str = ""
    flow: int = None
    arguments: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Timeline:
    slices: list = dataclasses.field(default_factory=list)
    instants: list = dataclasses.field(default_factory=list)
    counters: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    tracks: dict = dataclasses.field(default_factory=dict)  # id: name


def ns_of_micros(text):
    """Microseconds with three digits, without the rounding of a float."""
    whole, _, digits = text.partition(".")
    assert len(digits) == 3, text
    return int(whole) * 1000 + int(digits)


class Interned:
    KINDS = (
        "event_names",
        "event_categories",
        "debug_annotation_names",
        "debug_annotation_string_values",
    )

    def __init__(self):
        self.texts = {kind: {} for kind in self.KINDS}

    def add(self, data):
        for kind, texts in self.texts.items():
            for entry in getattr(data, kind):
                assert entry.iid not in texts, f"{kind} {entry.iid} twice"
                text = entry.str.decode() if kind.endswith("values") else entry.name
                texts[entry.iid] = text

    def arguments(self, event):
        values = {}
        for one in event.debug_annotations:
            kind = one.WhichOneof("value")
            value = getattr(one, kind)
            if kind == "string_value_iid":
                value = self.texts["debug_annotation_string_values"][value]
            values[self.texts["debug_annotation_names"][one.name_iid]] = value
        return values

    def shown(self, event, at_ns):
        (category,) = event.category_iids
        (flow,) = event.flow_ids or (None,)
        return Shown(
            self.texts["event_names"][event.name_iid],
            event.track_uuid,
            at_ns,
            category=self.texts["event_categories"][category],
            flow=flow,
            arguments=self.arguments(event),
        )


def has_unknown(message):
    """Whether Perfetto's schema lacks a field of it."""
    known = message.__class__.FromString(message.SerializeToString())
    known.DiscardUnknownFields()
    return known.ByteSize() != message.ByteSize()


def perfetto(path):
    """Reads as trace_processor does: sorted by time, in the file's order where times are equal."""
    trace = schema.Trace.FromString(path.read_bytes())
    assert not has_unknown(trace)
    first = trace.packet[0].clock_snapshot
    assert first.primary_trace_clock == schema.BUILTIN_CLOCK_MONOTONIC
    cleared = [packet.sequence_flags & 1 for packet in trace.packet]
    assert sum(cleared) == 1 and cleared.index(1) == 1
    defaults = trace.packet[1].trace_packet_defaults
    assert defaults.timestamp_clock_id == first.clocks[0].clock_id
    timeline, interned, events = Timeline(), Interned(), []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        interned.add(packet.interned_data)
        if packet.HasField("track_descriptor"):
            one = packet.track_descriptor
            assert not one.parent_uuid or one.parent_uuid in timeline.tracks
            assert one.uuid not in timeline.tracks
            timeline.tracks[one.uuid] = (
                one.name or one.thread.thread_name or one.process.process_name
            )
        if packet.HasField("track_event"):
            assert packet.track_event.track_uuid in timeline.tracks
            events.append((packet.timestamp, packet.track_event))
    _import(timeline, interned, sorted(events, key=lambda event: event[0]))
    return timeline


def _import(timeline, interned, events):
    stacks = collections.defaultdict(list)
    for at_ns, event in events:
        if event.type == event.TYPE_SLICE_BEGIN:
            _begin(timeline, stacks[event.track_uuid], interned.shown(event, at_ns))
        elif event.type == event.TYPE_SLICE_END:
            stacks[event.track_uuid].pop().stop_ns = at_ns
        elif event.type == event.TYPE_INSTANT:
            timeline.instants.append(interned.shown(event, at_ns))
        else:
            track = timeline.tracks[event.track_uuid]
            timeline.counters[track].append((at_ns, event.counter_value))
    assert not any(stacks.values()), "slices without an END"


def _begin(timeline, stack, shown):
    shown.parent = stack[-1] if stack else None
    stack.append(shown)
    timeline.slices.append(shown)


def chrome(path):
    """Reads as its viewers do: sorted by time, in the file's order where times are equal."""
    timeline, stacks, timed = Timeline(), collections.defaultdict(list), []
    for event in json.loads(path.read_text(), parse_float=str)["traceEvents"]:
        track = (event["pid"], event["tid"])
        if event["ph"] == "M":
            timeline.tracks[track, event["name"]] = event["args"]["name"]
        else:
            timed.append((ns_of_micros(event["ts"]), track, event))
    for at_ns, track, event in sorted(timed, key=lambda one: one[0]):
        if event["ph"] == "C":
            timeline.counters[event["name"]].append((at_ns, event["args"]["value"]))
        elif event["ph"] == "E":
            stacks[track].pop().stop_ns = at_ns
        elif event["ph"] == "i":
            timeline.instants.append(_chrome_shown(event, track, at_ns))
        else:
            assert event["ph"] == "B"
            _begin(timeline, stacks[track], _chrome_shown(event, track, at_ns))
    assert not any(stacks.values()), "slices without an end"
    return timeline


def _chrome_shown(event, track, at_ns):
    arguments = {
        name: float(value) if isinstance(value, str) and "." in value else value
        for name, value in event["args"].items()
    }
    flow = int(event["bind_id"], 16) if "bind_id" in event else None
    return Shown(event["name"], track, at_ns, None, None, event["cat"], flow, arguments)
