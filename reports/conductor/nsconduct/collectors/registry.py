# SPDX-License-Identifier: MIT
# Name of a collector, as in [Collectors] -> class.
from .bpf import BpfCollector
from .cpu import CpuCollector
from .interfaces import InterfacesCollector
from .nsdump import NsdumpCollector
from .perf import PerfCollector
from .perf_record import PerfRecordCollector

COLLECTORS = {
    collector.NAME: collector
    for collector in (
        *(CpuCollector, InterfacesCollector, BpfCollector),
        *(PerfCollector, PerfRecordCollector, NsdumpCollector),
    )
}
