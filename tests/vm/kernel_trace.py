# SPDX-License-Identifier: MIT
# A trace of the kernel's records -> its sites, records and calibration, without the toolkit's own reader.
import collections
import struct

CHUNK_HEADER = struct.Struct("<IHHIIQIIQQQII")
INFO, KERNEL_RECORDS, KERNEL_CALIBRATION, KERNEL_SITES = 1, 6, 8, 9
START, STOP, MARK = 1, 2, 3

Site = collections.namedtuple("Site", "name kind flags")
Record = collections.namedtuple("Record", "cpu ticks thread site words")
Entry = collections.namedtuple("Entry", "phase cpu kind field batches inner inner_squares outer outer_squares")


class KernelTrace:
    """info: key -> value; sites: id -> Site; records: in the order of each CPU's ring; calibration: of Entry, means in units."""

    def __init__(self, content):
        self.info, self.sites, self.records, self.calibration = {}, {}, [], []
        at = 64
        while at + CHUNK_HEADER.size <= len(content):
            _magic, kind, header_bytes, payload_bytes, _crc, _sequence, cpu, *_rest = CHUNK_HEADER.unpack_from(content, at)
            at += header_bytes
            self._take(kind, cpu, content[at:at + payload_bytes])
            at += payload_bytes

    def _take(self, kind, cpu, payload):
        if kind == INFO:
            for line in payload.rstrip(b"\0").decode().splitlines():
                key, _, value = line.partition("=")
                self.info[key] = value
        elif kind == KERNEL_SITES:
            self._take_sites(payload)
        elif kind == KERNEL_RECORDS:
            self._take_records(cpu, payload)
        elif kind == KERNEL_CALIBRATION:
            self._take_calibration(payload)

    def _take_sites(self, payload):
        at = 0
        while at < len(payload):
            slice_id, kind, flags, _line, name_bytes, file_bytes, _pid = struct.unpack_from("<HBBIHHI", payload, at)
            self.sites[slice_id] = Site(payload[at + 16:at + 16 + name_bytes - 1].decode(), kind, flags)
            at += 16 + (name_bytes + file_bytes + 7) // 8 * 8

    def _take_records(self, cpu, payload):
        at = 0
        while at < len(payload):
            ticks, thread, slice_id, _kind, words = struct.unpack_from("<QIHBB", payload, at)
            self.records.append(Record(cpu, ticks, thread, self.sites[slice_id], struct.unpack_from(f"<{words}Q", payload, at + 16)))
            at += 16 + 8 * words

    def _take_calibration(self, payload):
        count, phase, _ticks, _ns = struct.unpack_from("<IIQQ", payload)
        for i in range(count):
            cpu, kind, field, batches, inner, inner_squares, outer, outer_squares = struct.unpack_from("<IBBHqqqq", payload, 24 + 40 * i)
            unit = 1024 * batches
            self.calibration.append(Entry(phase, cpu, kind, field, batches, inner / unit, inner_squares, outer / unit, outer_squares))

    def constants(self, cpu, kind, field):
        """(inner, outer) at the start."""
        return next((one.inner, one.outer) for one in self.calibration if (one.phase, one.cpu, one.kind, one.field) == (1, cpu, kind, field))
