# SPDX-License-Identifier: MIT
"""libmapi for tests in Python."""

import ctypes
import os
import sys

import mapi_sanitizer
from mapi_sanitizer import BUILD

MFF_PCAP = 0

mapi_sanitizer.begin_with_it()


class Results(ctypes.Structure):
    _fields_ = [("res", ctypes.c_void_p), ("ts", ctypes.c_uint64), ("size", ctypes.c_int)]


class FunctionInfo(ctypes.Structure):
    _fields_ = [
        ("fid", ctypes.c_int),
        ("name", ctypes.c_char * 256),
        ("libname", ctypes.c_char * 256),
        ("devtype", ctypes.c_char * 256),
        ("pkts", ctypes.c_uint64),
        ("passed_pkts", ctypes.c_uint64),
        ("dropped", ctypes.c_uint64),
        ("time_jumps", ctypes.c_uint64),
        ("unread_headers", ctypes.c_uint64),
        ("result_size", ctypes.c_int),
        ("shared_with", ctypes.c_int),
        ("place", ctypes.c_char * 256),
        ("given_up", ctypes.c_uint64),
    ]


class Perf(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "packets",
            "calls",
            "ticks",
            "ticks_ci95",
            "ticks_per_second",
            "counted_calls",
            "instructions",
            "cycles",
            "cycles_ci95",
        )
    ] + [("source", ctypes.c_char * 16)]


class Stats(ctypes.Structure):
    _fields_ = [
        ("ps_recv", ctypes.c_uint64),
        ("ps_drop", ctypes.c_uint64),
        ("ps_ifdrop", ctypes.c_uint64),
        ("hostname", ctypes.c_char * 256),
        ("dev", ctypes.c_char * 256),
        ("bytes_recv", ctypes.c_uint64),
        ("drop_bad_record", ctypes.c_uint64),
        ("drop_truncated", ctypes.c_uint64),
        ("drop_buffer_full", ctypes.c_uint64),
        ("drop_link_type", ctypes.c_uint64),
        ("drop_not_written", ctypes.c_uint64),
        ("drop_kernel", ctypes.c_uint64),
        ("drop_no_flow", ctypes.c_uint64),
        ("unread_bytes", ctypes.c_uint64),
        ("message", ctypes.c_char * 512),
        ("device_drop", ctypes.c_uint64),
        ("kernel_unreadable", ctypes.c_uint64),
        ("kernel_late", ctypes.c_uint64),
        ("undecided", ctypes.c_uint64),
        ("remark", ctypes.c_char * 512),
    ]


class FunctionDescription(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 256),
        ("descr", ctypes.c_char * 1024),
        ("argdescr", ctypes.c_char * 256),
        ("devtype", ctypes.c_char * 256),
    ]


class AtFirstUse:
    """libmapi, for a class: a test that uses it only in other processes also runs where it cannot
    be loaded."""

    def __get__(self, flow, owner):
        Flow.library = ctypes.CDLL(str(BUILD / "lib/libmapi.so"))
        Flow.library.mapi_read_results.restype = ctypes.POINTER(Results)
        return Flow.library


class Flow:
    """A flow; apply(), then connect() or run(), then words()."""

    library = AtFirstUse()

    def __init__(self, fd):
        self.fd = fd
        assert self.fd > 0, self.error()

    @classmethod
    def offline(cls, capture, file_format=MFF_PCAP):
        return cls(cls.library.mapi_create_offline_flow(os.fsencode(capture), file_format))

    @classmethod
    def on_device(cls, device):
        return cls(cls.library.mapi_create_flow(device.encode()))

    @classmethod
    def error(cls):
        number, text = ctypes.c_int(), ctypes.create_string_buffer(512)
        cls.library.mapi_read_error(ctypes.byref(number), text)
        return f"{number.value}: {text.value.decode()}"

    def try_apply(self, name, *arguments):
        given = [
            argument.encode() if isinstance(argument, str) else argument for argument in arguments
        ]
        return self.library.mapi_apply_function_counted(len(given), self.fd, name.encode(), *given)

    def apply(self, name, *arguments):
        function = self.try_apply(name, *arguments)
        assert function > 0, self.error()
        return function

    def connect(self):
        assert self.library.mapi_connect(self.fd) == 0, self.error()

    def reset(self, function):
        assert self.library.mapi_reset_function(self.fd, function) == 0, self.error()

    def remove(self, function):
        assert self.library.mapi_remove_function(self.fd, function) == 0, self.error()

    def perf(self, function):
        """The result of PERF_STOP."""
        results = self.library.mapi_read_results(self.fd, function)
        assert results and results.contents.size == ctypes.sizeof(Perf), self.error()
        perf = Perf.from_buffer_copy(ctypes.string_at(results.contents.res, results.contents.size))
        return {
            name: value.decode() if isinstance(value, bytes) else value
            for name, value in ((name, getattr(perf, name)) for name, _ in perf._fields_)
        }

    def run(self):
        self.connect()
        assert self.library.mapi_wait_flow(self.fd, -1) == 0, self.error()

    def words(self, function):
        results = self.library.mapi_read_results(self.fd, function)
        assert results, self.error()
        return list(
            (ctypes.c_uint64 * (results.contents.size // 8)).from_address(results.contents.res)
        )

    def each(self, function, shape):
        """Results that are returned one by one, each as a ctypes structure."""
        while True:
            results = self.library.mapi_read_results(self.fd, function)
            if not results:
                assert "no more results" in self.error()
                return
            assert results.contents.size == ctypes.sizeof(shape)
            yield shape.from_buffer_copy(
                ctypes.string_at(results.contents.res, results.contents.size)
            )

    def packets(self, function):
        """The packets in TO_BUFFER, as bytes."""
        next_packet = self.library.mapi_get_next_pkt
        next_packet.restype = ctypes.c_void_p
        while at := next_packet(self.fd, function):
            # struct mapipkt
            yield ctypes.string_at(at + 20, ctypes.c_uint32.from_address(at + 12).value)

    def word(self, function):
        results = self.library.mapi_read_results(self.fd, function)
        assert results, self.error()
        return int.from_bytes(
            ctypes.string_at(results.contents.res, results.contents.size), sys.byteorder
        )

    def information(self, function):
        information = FunctionInfo()
        assert (
            self.library.mapi_get_function_info(self.fd, function, ctypes.byref(information)) == 0
        ), self.error()
        return information

    def dropped(self, function):
        return self.information(function).dropped

    def close(self):
        self.library.mapi_close_flow(self.fd)


def function_names():
    """The names of all functions in libmapi."""
    description, names = FunctionDescription(), []
    while Flow.library.mapi_get_libfunct_info(0, len(names), ctypes.byref(description)) == 0:
        names.append(description.name.decode())
    return names


def stats_of(device):
    stats = Stats()
    assert Flow.library.mapi_stats(device.encode(), ctypes.byref(stats)) == 1, Flow.error()
    return stats
