# SPDX-License-Identifier: MIT
# netslice: libnetslice-arrow, its C interface as Python sees it (nsdump/arrow/netslice_arrow.h).
import ctypes
import os
import pathlib

NAME = "libnetslice-arrow.so.0"
VARIABLE = "NETSLICE_ARROW"
TABLES = ("slices", "units", "losses", "events")  # in the order of enum nsl_table
NOTHING_YET, END, FAILED = -1, -2, -3
NO_LIMIT = 2**64 - 1


class LibraryMissing(ImportError):
    """The library is not found; the text says where it was searched for."""


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("tables", ctypes.c_uint32),
        ("calibration", ctypes.c_char_p),
        ("slice", ctypes.c_char_p),
        ("unit", ctypes.POINTER(ctypes.c_uint64)),
        ("limit", ctypes.c_uint64),
        ("from_ns", ctypes.POINTER(ctypes.c_int64)),
        ("to_ns", ctypes.POINTER(ctypes.c_int64)),
    ]


class Struct(ctypes.Structure):
    """Memory for an ArrowSchema, ArrowArray or ArrowArrayStream, which pyarrow reads."""

    _fields_ = [("words", ctypes.c_uint64 * 10)]  # the largest of them


def options(
    tables, calibration=None, slice=None, unit=None, limit=None, from_ns=None, to_ns=None
):
    """As nsl_options; the values of None select everything."""
    for what, value in (("unit", unit), ("limit", limit)):
        if value is not None and not 0 <= value <= NO_LIMIT:
            raise ValueError(f"{what}={value}: not a whole number from 0 to 2**64 - 1")
    for what, value in (("from_ns", from_ns), ("to_ns", to_ns)):
        if value is not None and not -(2**63) <= value < 2**63:
            raise ValueError(f"{what}={value}: not a whole number from -2**63 to 2**63 - 1")
    if from_ns is not None and to_ns is not None and from_ns > to_ns:
        raise ValueError(f"from_ns={from_ns} is after to_ns={to_ns}")
    return Options(
        struct_size=ctypes.sizeof(Options),
        tables=sum(1 << TABLES.index(table) for table in tables),
        calibration=None if calibration is None else os.fsencode(calibration),
        slice=None if slice is None else os.fsencode(slice),
        unit=None if unit is None else ctypes.pointer(ctypes.c_uint64(unit)),
        limit=NO_LIMIT if limit is None else limit,
        from_ns=None if from_ns is None else ctypes.pointer(ctypes.c_int64(from_ns)),
        to_ns=None if to_ns is None else ctypes.pointer(ctypes.c_int64(to_ns)),
    )


def _places():
    """Where the library may be: as the environment says, beside this package (in a build tree and
    installed), or where the loader looks."""
    if os.environ.get(VARIABLE):
        return [os.environ[VARIABLE]]
    share = pathlib.Path(__file__).resolve().parents[2]  # PREFIX/share/netslice
    beside = (share.parents[1] / folder / NAME for folder in ("lib", "lib64"))
    multiarch = sorted(share.parents[1].glob(f"lib/*-linux-gnu*/{NAME}"))
    return [*(str(path) for path in (*beside, *multiarch) if path.exists()), NAME]


def _load():
    failures = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            failures.append(str(error))
    raise LibraryMissing(
        f"{NAME} is not found: {'; '.join(failures)} (install the NetSlice toolkit and run "
        f"ldconfig, or set {VARIABLE} to the library's path)"
    )


def _declared(library):
    text, pointer = ctypes.c_char_p, ctypes.c_void_p
    out, size, number = ctypes.POINTER(Struct), ctypes.c_size_t, ctypes.c_uint64
    options_pointer = ctypes.POINTER(Options)
    for name, result, arguments in (
        ("pass_open", pointer, [text, options_pointer, text, size]),
        ("pass_close", None, [pointer]),
        ("pass_schema", ctypes.c_int, [pointer, ctypes.c_int, out]),
        ("pass_next", ctypes.c_int, [pointer, out]),
        ("pass_error", text, [pointer]),
        ("pass_position_bytes", number, [pointer]),
        ("pass_size_bytes", number, [pointer]),
        ("pass_findings", text, [pointer]),
        ("pass_has_findings", ctypes.c_int, [pointer]),
        ("stream", ctypes.c_int, [text, options_pointer, ctypes.c_int, out, text, size]),
    ):
        function = getattr(library, f"nsl_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_library = None


def library():
    global _library
    if _library is None:
        _library = _declared(_load())
    return _library


class ErrorText:
    """Where a failing call puts its message."""

    def __init__(self):
        self.buffer = ctypes.create_string_buffer(4096)
        self.size = len(self.buffer)

    def __str__(self):
        return self.buffer.value.decode(errors="replace")
