# SPDX-License-Identifier: MIT
# TCP packets over loopback, for as long as a recording lasts.
import contextlib
import socket

BYTES = 512


@contextlib.contextmanager
def connected():
    """(port, function that sends and returns some messages)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as near:
            far, _ = server.accept()
            with far:
                for one in (near, far):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    one.settimeout(5)
                yield port, lambda: _exchange(near, far)


def _exchange(near, far, times=50):
    message = b"s" * BYTES
    for _ in range(times):
        for one, other in ((near, far), (far, near)):
            one.sendall(message)
            other.recv(BYTES, socket.MSG_WAITALL)
