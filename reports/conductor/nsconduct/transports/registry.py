# SPDX-License-Identifier: MIT
# An experiment -> its players, open for as long as a block runs.
import contextlib
import importlib

from nsreport import signals

from ..errors import TransportError

# kind -> module, class; imported when used, because ssh needs packages that others do not
_CLASSES = {
    "local": (".local", "LocalTransport"),
    "namespace": (".namespace", "NamespaceTransport"),
    "ssh": (".ssh", "SshTransport"),
}


@contextlib.contextmanager
def players(experiment, settings):
    """Yields name -> Player, in the experiment's order."""
    stack = contextlib.ExitStack()
    try:
        transports = {}
        for kind in sorted({kind for kind, _ in experiment.transports.values()}):
            transports[kind] = _made(kind, settings)
            stack.callback(transports[kind].close)
        opened = {}
        for name, (kind, argument) in experiment.transports.items():
            player = transports[kind].player(name, argument)
            stack.callback(player.close)  # also after a failed open()
            try:
                player.open()
            except TransportError as error:
                raise TransportError(f"player {name}: {error}", error.code) from error
            opened[name] = player
        for transport in transports.values():
            transport.connect()
        yield opened
    finally:
        with signals.held():
            stack.close()


def _made(kind, settings):
    module_name, class_name = _CLASSES[kind]
    try:
        module = importlib.import_module(module_name, __package__)
    except ModuleNotFoundError as error:
        raise TransportError(f'transport "{kind}": {error.name} is missing') from error
    return getattr(module, class_name)(settings)
