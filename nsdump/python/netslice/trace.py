# SPDX-License-Identifier: MIT
# netslice: a trace -> pyarrow's record batches, by libnetslice-arrow.
import ctypes
import os

import pyarrow

from .library import END, FAILED, NOTHING_YET, TABLES, ErrorText, Struct, library, options


class TraceError(Exception):
    """The trace, or a calibration, cannot be read; the text says which, and what to do."""


class Trace:
    """A trace file.  Each call of a table reads it, in batches: it may be larger than memory.

    Arguments of the tables select rows: name (of slices and events), unit (number; of slices and
    units), limit (of slices and events), from_ns and to_ns (what ends in this range, both ends
    included: slices by their STOP, units by their INIT, and events; since the session's start).
    """

    def __init__(self, path, calibration=None):
        self.path = os.fspath(path)
        self.calibration = calibration
        self.losses()  # fails now if it is no trace

    def slices(self, name=None, unit=None, limit=None, from_ns=None, to_ns=None):
        return self._reader(
            "slices", slice=name, unit=unit, limit=limit, from_ns=from_ns, to_ns=to_ns
        )

    def units(self, unit=None, from_ns=None, to_ns=None):
        return self._reader("units", unit=unit, from_ns=from_ns, to_ns=to_ns)

    def losses(self):
        return self._reader("losses")

    def events(self, name=None, limit=None, from_ns=None, to_ns=None):
        return self._reader("events", slice=name, limit=limit, from_ns=from_ns, to_ns=to_ns)

    def to_pandas(self, table="slices", **selection):
        """A table as a DataFrame: Trace.to_pandas("units")."""
        if table not in TABLES:
            raise ValueError(f'"{table}" is not a table of a trace: {", ".join(TABLES)}')
        return getattr(self, table)(**selection).read_pandas()

    def findings(self):
        """Reads the trace; what is damaged, missing or lost in it, one text each."""
        one = TracePass(self.path, ["units"], calibration=self.calibration)
        for _ in one:
            pass
        return one.findings()

    def _reader(self, table, **selection):
        stream, error = Struct(), ErrorText()
        failed = library().nsl_stream(
            os.fsencode(self.path),
            *(options([table], self.calibration, **selection), TABLES.index(table)),
            *(ctypes.byref(stream), error.buffer, error.size),
        )
        if failed:
            raise TraceError(str(error))
        return pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream))


class TracePass:
    """One reading of a trace for several tables: iterates over pairs of a table's name and a
    batch, or None where there was no full batch yet."""

    def __init__(self, path, tables, **selection):
        error, self._options = ErrorText(), options(tables, **selection)
        self._pass = library().nsl_pass_open(
            *(os.fsencode(path), self._options, error.buffer, error.size)
        )
        if not self._pass:
            raise TraceError(str(error))
        self.schemas = {table: self._schema(table) for table in tables}

    def __del__(self):
        if getattr(self, "_pass", None):
            library().nsl_pass_close(self._pass)

    def _failure(self):
        return TraceError(library().nsl_pass_error(self._pass).decode(errors="replace"))

    def _schema(self, table):
        schema = Struct()
        if library().nsl_pass_schema(self._pass, TABLES.index(table), ctypes.byref(schema)):
            raise self._failure()
        return pyarrow.Schema._import_from_c(ctypes.addressof(schema))

    def __iter__(self):
        array = Struct()
        while (got := library().nsl_pass_next(self._pass, ctypes.byref(array))) != END:
            if got == FAILED:
                raise self._failure()
            if got == NOTHING_YET:
                yield None
                continue
            table = TABLES[got]
            yield (
                table,
                pyarrow.RecordBatch._import_from_c(ctypes.addressof(array), self.schemas[table]),
            )

    def done(self):
        """The part of the trace that was read, from 0 to 1."""
        size = library().nsl_pass_size_bytes(self._pass)
        return library().nsl_pass_position_bytes(self._pass) / size if size else 1

    def findings(self):
        return library().nsl_pass_findings(self._pass).decode(errors="replace").splitlines()

    def has_findings(self):
        return bool(library().nsl_pass_has_findings(self._pass))
