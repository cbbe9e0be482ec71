# SPDX-License-Identifier: MIT
# A trace's bytes -> the kernel's sites, records, calibration and totals (libnsprobe/FORMAT.md), by
# a reader that shares no code with nsdump.
import base64
import collections
import gzip
import re
import struct

FILE_HEADER_BYTES = 64
# magic, kind, header bytes, payload bytes, ..., cpu, records, ...
CHUNK = struct.Struct("<4sHHIIQIIQQQII")
SITE = struct.Struct("<HBBIHHI")  # slice_id, kind, flags, line, name bytes, file bytes, pid
HEAD = struct.Struct("<QIHBB")  # ticks, thread_id, slice_id, kind, words
ROW = struct.Struct("<II3Q8Q")  # cpu, reserved, chunks, issued, drained, lost
# cpu, kind, field, batches, inner, its squares, outer, its squares
CALIBRATION_ENTRY = struct.Struct("<IBBHqqqq")
INFO, SITES, RECORDS, KERNEL_RECORDS, KERNEL_TOTALS, KERNEL_CALIBRATION, KERNEL_SITES = (
    1,
    2,
    4,
    6,
    7,
    8,
    9,
)
KINDS = {1: "START", 2: "STOP", 3: "MARK", 4: "INIT", 5: "EXIT"}

Record = collections.namedtuple("Record", "cpu ticks thread kind name words")
Entry = collections.namedtuple("Entry", "phase cpu kind field batches inner outer")
Slice = collections.namedtuple("Slice", "cpu thread name start stop inside words")


class TraceError(Exception):
    """The bytes violate the format."""


def from_console(output, name):
    """A file that the guest's script printed with `show_file NAME` (SHOW_FILE)."""
    shown = re.search(rf"<file {re.escape(name)}>\n(.*?)<end of file>", output, re.S)
    if not shown:
        raise TraceError(f"the guest did not print {name}; output:\n{output[-2000:]}")
    return gzip.decompress(base64.b64decode(shown.group(1)))


SHOW_FILE = 'show_file() { echo "<file $1>"; gzip -c "$1" | base64; echo "<end of file>"; }\n'


def _chunks(data):
    if data[:8] != b"NSLTRACE":
        raise TraceError("no trace header")
    at = FILE_HEADER_BYTES
    while at < len(data):
        magic, kind, header_bytes, payload_bytes, _, _, cpu, records, *_ = CHUNK.unpack_from(
            data, at
        )
        if magic != b"NSLK" or at + header_bytes + payload_bytes > len(data):
            raise TraceError(f"no whole chunk at byte {at}")
        at += header_bytes + payload_bytes
        yield kind, cpu, records, data[at - payload_bytes : at]


def _sites(payload):
    at = 0
    while at < len(payload):
        slice_id, kind, flags, _, name_bytes, file_bytes, _ = SITE.unpack_from(payload, at)
        at += SITE.size
        name, file = (
            payload[at : at + name_bytes - 1].decode(),
            payload[at + name_bytes : at + name_bytes + file_bytes - 1].decode(),
        )
        at += (name_bytes + file_bytes + 7) // 8 * 8
        yield slice_id, kind, flags, name, file


class Trace:
    """
    records: the kernel's, in order for each CPU; sites: id -> (kind, name, file); flags: (name,
    kind) -> flags; issued, drained, lost: over all CPUs; calibration: list of Entry, means in ticks
    or counts.
    """

    def __init__(self, data):
        self.info, self.sites, self.flags, self.records, self.calibration = {}, {}, {}, [], []
        self.user_records = self.issued = self.drained = self.lost = 0
        self.has_totals = False
        for kind, cpu, count, payload in _chunks(data):
            if kind == INFO:
                lines = payload.rstrip(b"\0").decode().splitlines()
                self.info.update(line.partition("=")[::2] for line in lines)
            elif kind == RECORDS:
                self.user_records += count
            elif kind == KERNEL_SITES:
                self._add_sites(payload)
            elif kind == KERNEL_RECORDS:
                self._add_records(cpu, count, payload)
            elif kind == KERNEL_CALIBRATION:
                self._add_calibration(payload)
            elif kind == KERNEL_TOTALS:
                self._add_totals(payload)

    def _add_sites(self, payload):
        for slice_id, kind, flags, name, file in _sites(payload):
            self.flags[name, KINDS[kind]] = flags
            if self.sites.setdefault(slice_id, (kind, name, file)) != (kind, name, file):
                raise TraceError(f"site {slice_id:#x} has two names")

    def _add_records(self, cpu, count, payload):
        at, before = 0, len(self.records)
        while at < len(payload):
            ticks, thread, slice_id, kind, words = HEAD.unpack_from(payload, at)
            at += HEAD.size
            if self.sites.get(slice_id, (0,))[0] != kind:
                raise TraceError(
                    f"a record of kind {kind} refers to site {slice_id:#x}, which has another "
                    "kind or is missing"
                )
            values = struct.unpack_from(f"<{words}Q", payload, at)
            at += 8 * words
            self.records.append(
                Record(cpu, ticks, thread, KINDS[kind], self.sites[slice_id][1], values)
            )
        if len(self.records) - before != count:
            raise TraceError(
                f"a chunk declares {count} records and has {len(self.records) - before}"
            )

    def _add_calibration(self, payload):
        count, phase = struct.unpack_from("<II", payload)
        for i in range(count):
            cpu, kind, field, batches, inner, _, outer, _ = CALIBRATION_ENTRY.unpack_from(
                payload, 24 + CALIBRATION_ENTRY.size * i
            )
            self.calibration.append(
                Entry(
                    phase,
                    cpu,
                    KINDS[kind],
                    field,
                    batches,
                    inner / 1024 / batches,
                    outer / 1024 / batches,
                )
            )

    def constants(self, cpu, kind, field):
        """(inner, outer) at the start of the recording."""
        return next(
            (one.inner, one.outer)
            for one in self.calibration
            if (one.phase, one.cpu, one.kind, one.field) == (1, cpu, kind, field)
        )

    def _add_totals(self, payload):
        self.has_totals = True
        for row in ROW.iter_unpack(payload[16:]):
            self.issued += row[3]
            self.drained += row[4]
            self.lost += sum(row[5:])

    def count(self, kind, name):
        return sum(record.kind == kind and record.name == name for record in self.records)

    def words(self, kind, name):
        return [
            record.words for record in self.records if record.kind == kind and record.name == name
        ]

    def slices(self):
        """
        Slices and units of each thread, paired by nesting (interrupts nest in what they interrupt).
        Ending a slice or unit that is not open, or not innermost, is an error, and so is leaving
        one open.
        """
        stacks, found = collections.defaultdict(list), []
        for record in sorted(self.records, key=lambda record: record.ticks):
            # each CPU has its own idle thread 0
            stack = stacks[(record.thread, record.cpu if record.thread == 0 else None)]
            if record.kind in ("START", "INIT"):
                stack.append(record)
            elif record.kind in ("STOP", "EXIT"):
                if not stack or stack[-1].name != record.name:
                    raise TraceError(
                        f"CPU {record.cpu}, thread {record.thread}: {record.name} ends inside "
                        f"{[one.name for one in stack]}"
                    )
                start = stack.pop()
                inside = stack[-1].name if stack else None
                found.append(
                    Slice(
                        record.cpu,
                        record.thread,
                        record.name,
                        start.ticks,
                        record.ticks,
                        inside,
                        start.words,
                    )
                )
        if any(stacks.values()):
            raise TraceError(
                f"left open: {[one.name for stack in stacks.values() for one in stack]}"
            )
        return found
