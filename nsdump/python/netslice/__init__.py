# SPDX-License-Identifier: MIT
"""Traces of the NetSlice toolkit as Arrow tables.

    import netslice
    trace = netslice.open("trace.nsl")
    trace.slices()              # pyarrow.RecordBatchReader; also units(), losses(), events()
    trace.to_pandas("slices")   # pandas.DataFrame

The tables come from libnetslice-arrow, the decoder of nsdump.
"""

try:
    import pyarrow  # noqa: F401
except ImportError as missing:
    raise ImportError(
        f"netslice needs the Python package pyarrow: {missing} (pip install pyarrow)"
    ) from missing

from .library import LibraryMissing
from .trace import Trace, TraceError, TracePass

__all__ = ["LibraryMissing", "Trace", "TraceError", "TracePass", "open"]


def open(path, calibration=None):
    """The trace of this name; `calibration`: constants of nscalibrate to use instead of its own.

    Raises TraceError if it cannot be read, LibraryMissing without libnetslice-arrow.
    """
    return Trace(path, calibration)
