# SPDX-License-Identifier: MIT
# interfaces: what each interface of the player's network namespace received, sent and dropped.
from .snapshot import SnapshotCollector

_DEV = "/proc/net/dev"
_FIELDS = (
    *("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame"),
    *("rx_compressed", "rx_multicast"),
    *("tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo", "tx_collisions"),
    *("tx_carrier", "tx_compressed"),
)
_KEPT = tuple(f"{way}_{what}" for way in ("rx", "tx") for what in ("bytes", "packets", "errors"))
_KEPT += ("rx_dropped", "rx_fifo", "tx_dropped")


def _interfaces(text):
    rows = (line.rsplit(":", 1) for line in text.splitlines()[2:] if ":" in line)
    return {name.strip(): dict(zip(_FIELDS, map(int, counts.split()))) for name, counts in rows}


class InterfacesCollector(SnapshotCollector):
    NAME = "interfaces"
    FILES = (_DEV,)

    def difference(self, before, after):
        """An interface that appeared meanwhile began at zero; one that vanished is named."""
        old, new = _interfaces(before[_DEV]), _interfaces(after[_DEV])
        return {
            "interfaces": {
                name: {field: counts[field] - old.get(name, {}).get(field, 0) for field in _KEPT}
                for name, counts in new.items()
            },
            "vanished": sorted(old.keys() - new.keys()),
        }
