// SPDX-License-Identifier: MIT
// case: cost of one record in a separate session: with room, into a full ring (the counted loss),
// overwriting.
#include <algorithm>

#include <nsprobe/probe.h>
#include <nsprobe/session.h>

#include <fmt/format.h>

#include "cases.hpp"

namespace calibrate
{
#ifdef NETSLICE_DISABLE

void run_ring_case(const Pass &, Results &results)
{
    results.lacks("rings", "built with NETSLICE_DISABLE: this program has no probes");
}

#else

namespace
{
struct RingState {
    const char *name;
    uint64_t ring_bytes;
    nslice_ring_full full;
    uint32_t rounds;
    bool expects_loss;
};

constexpr uint64_t kRoomBytes = 4u << 20;
constexpr uint32_t kRoomRounds = 512;
// A batch writes n and 2n records of 16 bytes; the warm-up writes another n.
constexpr uint32_t kRoomBatches = kRoomBytes / (uint64_t(kRoomRounds) * 3 * 16) - 1;

/*
 * room: the default size; all batches of a pass fit, so that the result does not depend on the
 * drain.
 *
 * full: so small that only a few records fit after the drain has emptied it.
 *
 * overwrite: an eighth of the ring is freed at a time; n rounds contain eight of these, because the
 * trim would remove rarer ones.
 */
constexpr RingState kStates[] = {
    {"room", kRoomBytes, NSLICE_FULL_DISCARD, kRoomRounds, false},
    {"full", 4096, NSLICE_FULL_DISCARD, 1024, true},
    {"overwrite", 64u << 10, NSLICE_FULL_OVERWRITE, 4096, true},
};

// Writes records of two words, the smallest size.
void exit_loop(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i += kUnrolled) {
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
    }
}

nsp_session_config config_of(const RingState &state, nslice_ring_kind kind)
{
    nsp_session_config config = {};
    config.struct_size = sizeof(config);
    config.output = "/dev/null";
    config.full = state.full;
    config.ring_bytes = state.ring_bytes;
    config.ring_kind = kind;
    config.no_calibration = 1;
    return config;
}

void add_counts(RingRow &row, const nsp_session_counts &counts)
{
    uint64_t lost = 0;
    for (const uint64_t by_cause : counts.lost)
        lost += by_cause;
    row.issued += counts.issued;
    row.drained += counts.drained;
    row.lost += lost;
    row.has_loss_equation = row.has_loss_equation && counts.issued == counts.drained + lost;
}

// A full ring stays full only if the drain cannot run in parallel with the writer.  For it, the
// drain thread shares the measured CPU, and the batches it interrupts are trimmed.  In the other
// cases it runs elsewhere.
bool measure(const RingState &state, const char *kind_name, nslice_ring_kind kind, const Pass &pass,
             Results &results)
{
    const nsp_session_config config = config_of(state, kind);
    if (!state.expects_loss)
        pass.affinity->widen();
    const int err = nsp_session_open(&config);
    pass.affinity->narrow();
    if (err) {
        results.lacks(fmt::format("a session with ring kind {}", kind_name), nsp_last_error());
        return false;
    }
    exit_loop(state.rounds);
    const uint32_t batches =
        state.expects_loss ? pass.batches : std::min(pass.batches, kRoomBatches);
    const Estimate cost = measure_loop(exit_loop, state.rounds, batches, read_ticks);
    nsp_session_counts counts = {};
    const int close_err = nsp_session_close(&counts);
    if (close_err)
        throw CannotMeasure(fmt::format("cannot close session: {}", nsp_last_error()));

    RingRow &row = results.ring(state.name, {"fast", kind_name, "none"});
    add_counts(row, counts);
    const bool has_loss = counts.issued != counts.drained;
    if (has_loss != state.expects_loss)
        ++row.dropped_passes;
    else
        row.ticks.add(cost);
    return true;
}
} // namespace

void run_ring_case(const Pass &pass, Results &results)
{
    for (const RingState &state : kStates)
        if (!measure(state, "rseq", NSLICE_RING_RSEQ, pass, results))
            break;
    for (const RingState &state : kStates)
        if (!measure(state, "atomic", NSLICE_RING_ATOMIC, pass, results))
            break;
}

#endif
} // namespace calibrate
