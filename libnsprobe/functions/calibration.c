/* SPDX-License-Identifier: MIT */
/* Loops of calls for calibration: libnsprobe runs them, and finds what trampolines cost. */
#include <nsprobe/detail/arch.h>
#include <nsprobe/detail/functions.h>

#include <stdio.h>

#include "calibrate/work.h"
#include "inside.h"

static struct nsp_slice calibrated = {
    .start = {.name = "calibration",
              .file = "",
              .head_bits = NSP_DETAIL_HEAD_BITS(NSLICE_KIND_START, 0)},
    .stop = {.name = "calibration",
             .file = "",
             .head_bits = NSP_DETAIL_HEAD_BITS(NSLICE_KIND_STOP, 0)},
};
static struct nsp_slice *only_slice = &calibrated;
struct nsp_slice **nsf_calibration_slices = &only_slice;

#define STATE "nsp_detail_calibration_state"
#define PAIR                                       \
    NSP_DETAIL_PROBE_AT(STATE, &calibrated.start); \
    NSP_DETAIL_PROBE_AT(STATE, &calibrated.stop)

/* The functions and the work use a register that no probe changes. */
#define CALL(function) __asm__ volatile("call " function : "+r"(work)::"memory", "cc")
#define WORK NSP_WORK(work)

#define LOOP(name, ...)                                         \
    static __attribute__((noinline)) void name(uint32_t rounds) \
    {                                                           \
        register uint64_t work __asm__("r12") = 3;              \
                                                                \
        NSP_RUN_ROUNDS(rounds, __VA_ARGS__);                    \
        __asm__ volatile("" ::"r"(work));                       \
    }

LOOP(sled_empty, CALL("nsf_sled_empty"))
LOOP(sled_work, WORK; CALL("nsf_sled_work"))
LOOP(entry_empty, CALL("nsf_entry_empty"))
LOOP(entry_work, WORK; CALL("nsf_entry_work"))
LOOP(bare_empty, CALL("nsf_bare_empty"))
LOOP(bare_work, WORK; CALL("nsf_bare_work"))
LOOP(pairs, PAIR)
LOOP(pairs_and_calls, PAIR; CALL("nsf_bare_empty"))

static uint32_t skipped_text(char *text, uint32_t room)
{
    static const char *const keys[NSF_SKIPPED] = {
        [NSF_TOO_DEEP] = "not_recorded.too_deep",
        [NSF_NO_BLOCK] = "not_recorded.too_many_threads",
        [NSF_UNKNOWN_STACK] = "not_recorded.unknown_stack",
        [NSF_FOREIGN_STACK] = "not_recorded.foreign_stack",
        [NSF_LEFT_SIGNAL_STACK] = "not_recorded.left_signal_stack",
        [NSF_TAKEN_BY_HANDLER] = "not_recorded.taken_by_handler",
        [NSF_IN_LIBRARY] = "not_recorded.in_library",
        [NSF_END_UNKNOWN] = "end_unknown"};
    int length = 0;

    for (unsigned i = 0; i < NSF_SKIPPED; ++i) {
        const uint64_t calls = __atomic_load_n(&nsf_skipped[i], __ATOMIC_RELAXED);

        if (calls > 0)
            length += snprintf(text + length, room - (uint32_t)length, "functions.%s=%llu\n",
                               keys[i], (unsigned long long)calls);
    }
    return (uint32_t)length;
}

const struct nsp_detail_functions nsp_detail_functions = {
    .slice = &calibrated,
    .loops = {[NSLICE_WAY_SLED - 1] = {[NSP_WAY_EMPTY] = sled_empty,
                                       [NSP_WAY_EMPTY_BARE] = bare_empty,
                                       [NSP_WAY_WORK] = sled_work,
                                       [NSP_WAY_WORK_BARE] = bare_work,
                                       [NSP_WAY_PAIR] = pairs,
                                       [NSP_WAY_PAIR_BARE] = pairs_and_calls},
              [NSLICE_WAY_ENTRY - 1] = {[NSP_WAY_EMPTY] = entry_empty,
                                        [NSP_WAY_EMPTY_BARE] = bare_empty,
                                        [NSP_WAY_WORK] = entry_work,
                                        [NSP_WAY_WORK_BARE] = bare_work,
                                        [NSP_WAY_PAIR] = pairs,
                                        [NSP_WAY_PAIR_BARE] = pairs_and_calls}},
    .skipped_text = skipped_text,
};
