# SPDX-License-Identifier: MIT
# What `nsreport --ktime` measures: variants of an XDP program, packets, and what precedes them.
SCHEMA = "netslice-ktime-1"
NUMBERS = (1, 2, 4, 8, 16)  # of checksums of a packet
EXECUTIONS, RUNS = 4, 1000  # of the document
# Which parts a variant has.  Each also exists without checksums, as number 0.
VARIANTS = {
    "full": "clock and map",
    "first": "clock, read before the event is initialised, and map",
    "map": "map without clock",
    "clock": "clock without map",
    "none": "neither clock nor map",
}
WITH_CLOCK = ("full", "first")  # whose clock's time is in the map
PACKETS = 100  # of one attachment
WARM_EVERY = 20  # runs: the attachments that get so many packets
PAUSES_EVERY = 20  # runs: how often pauses are watched
# What precedes packets 2 to 6 of an attachment; a test run precedes packet 1.
BEFORE = {
    "nothing": "nothing, the next packet follows at once",
    "wait": "5 ms without packets",
    "level_2": "the second-level cache is filled with other data",
    "level_3": "all caches are filled with other data",
    "load": "another program is loaded and unloaded, which also flushes the TLB",
    "test_run": "the program is new, and has run once by BPF_PROG_TEST_RUN",
}
BEFORE_PACKETS = 6
BEFORE_PROGRAMS = ("full_4", "none_0")
TIMEOUT_MS = 1000
GIVE_UP = 3  # timeouts in succession at the begin
RUN_S = 0.03  # about, of one run: attaching and detaching wait for grace periods


def name(variant, number):
    return f"{variant}_{number}"


def programs():
    return [name(variant, number) for variant in VARIANTS for number in (0, *NUMBERS)]


def has_clock(program):
    return program.split("_")[0] in WITH_CLOCK


def steps(options):
    """Progress: each run of all programs, and each part of the treatments."""
    return options.rounds * (options.runs + before_runs(options.runs) * len(BEFORE))


def before_runs(runs):
    """Attachments for each treatment in one execution."""
    return max(1, runs // WARM_EVERY)
