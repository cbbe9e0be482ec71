# SPDX-License-Identifier: MIT
"""A client of mapid without libmapi: any bytes, any descriptors."""

import array
import contextlib
import os
import socket

MESSAGE_BYTES_MAX = 65536
VERSION = 2  # of the protocol: ipc/channel.hpp
# Fields of mapi.ipc.Request
(
    HELLO,
    CREATE_FLOW,
    CREATE_OFFLINE,
    START_OFFLINE,
    DELETE_OFFLINE,
    SET_OPTION,
    DESCRIBE_NAME,
    APPLY,
    CHECK_TARGET,
    CONNECT,
    CLOSE,
    DESCRIBE_FLOW,
    DESCRIBE_FUNCTION,
    DESCRIBE_DEVICE,
    NEXT_DEVICE,
    STATISTICS,
    POLL,
    _,
    FUNCTION_AT,
) = range(1, 20)


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def message(*fields):
    """Encodes (number, int, bytes or str) in the wire format of Protocol Buffers."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def call(kind, *fields):
    return message((kind, message(*fields)))


class Raw:
    """A client without libmapi."""

    def __init__(self, path, is_greeted=True):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(30)
        self.memory = []
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        if is_greeted:
            self.ask(call(HELLO, (1, VERSION)))

    def send(self, data, files=()):
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        self.socket.sendmsg([data], control)

    def receive(self):
        return self.socket.recvmsg(MESSAGE_BYTES_MAX, socket.CMSG_SPACE(8 * 4))

    def ask(self, data, files=()):
        """The reply, or the last message; empty if the daemon has closed the connection."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send(data, files)
        try:
            reply, control, _, _ = self.receive()
        except ConnectionResetError:  # reported once, before the last message
            reply, control, _, _ = self.receive()
        for _, _, descriptors in control:
            self.memory += array.array("i", descriptors)
        return reply

    def close(self):
        self.socket.close()
        while self.memory:
            os.close(self.memory.pop())
