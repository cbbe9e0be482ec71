// SPDX-License-Identifier: GPL-2.0
/*
 * A loop of 8 probes is compared with one of 16 and the same number of rounds:
 * the costs of the loop and of the readings cancel in the difference.  Uses
 * means over batches, because a single pair is too short for a clock that moves
 * in steps.
 */
#include "calibrate/calibrate_batch.h"

#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/percpu.h>

#include <nslice/kernel.h>

#include "counters/kernel_counters.h"
#include "kernel/kernel_ring.h"
#include "kernel/kernel_write.h"

#define FEW 8
#define MANY 16
#define MAX_ROUNDS 16
#define STRETCH_NS 40000
#define MIN_BATCHES 16 /* enough to leave out a fifth at either end, disturbed by a busy host */

static DEFINE_PER_CPU_ALIGNED(struct nslice_ring_meta, scratch_ring);
static DEFINE_STATIC_KEY_FALSE(always); /* enabled by the first calibration */

/* These sites need no ids: only this file reads their records. */
#define PROBE(kind_) NSLICE_KERNEL_PROBE(always, scratch_ring, "calibration", kind_, NSMOD_BITS(0, kind_, 0))

#define ONE_PAIR                          \
	do {                              \
		PROBE(NSLICE_KIND_START); \
		PROBE(NSLICE_KIND_STOP);  \
	} while (0)
#define ONE_MARK \
	NSLICE_KERNEL_PROBE_1(always, scratch_ring, "calibration", NSLICE_KIND_MARK, NSMOD_BITS(0, NSLICE_KIND_MARK, 1), rounds)
#define ONE_INIT \
	NSLICE_KERNEL_PROBE_3(always, scratch_ring, "calibration", NSLICE_KIND_INIT, NSMOD_BITS(0, NSLICE_KIND_INIT, 3), \
			      rounds, rounds, rounds)
#define ONE_EXIT PROBE(NSLICE_KIND_EXIT)

#define FOUR(...) __VA_ARGS__; __VA_ARGS__; __VA_ARGS__; __VA_ARGS__
#define EIGHT(...) FOUR(__VA_ARGS__); FOUR(__VA_ARGS__)

/* Work between probes, without which the compiler would lay them out in an untypical way. */
#define WORK asm volatile("nop")

/*
 * Aligned, so that the code before the loop is the same in both; both have the
 * same amount of work.
 */
#define LOOPS(name_, ...)                                                              \
	static noinline notrace __aligned(64) void few_##name_(u64 rounds)             \
	{                                                                              \
		for (; rounds > 0; --rounds) {                                         \
			EIGHT(__VA_ARGS__; WORK);                                      \
			EIGHT(WORK);                                                   \
		}                                                                      \
	}                                                                              \
	static noinline notrace __aligned(64) void many_##name_(u64 rounds)            \
	{                                                                              \
		for (; rounds > 0; --rounds) {                                         \
			EIGHT(__VA_ARGS__; WORK);                                      \
			EIGHT(__VA_ARGS__; WORK);                                      \
		}                                                                      \
	}

LOOPS(pairs, ONE_PAIR)
LOOPS(marks, ONE_MARK)
LOOPS(inits, ONE_INIT)
LOOPS(exits, ONE_EXIT)

struct loops {
	void (*few)(u64 rounds);
	void (*many)(u64 rounds);
};

const u8 nsmod_calibrated_kinds[NSMOD_CALIBRATE_KINDS] = { NSLICE_KIND_START, NSLICE_KIND_MARK, NSLICE_KIND_INIT, NSLICE_KIND_EXIT };
static const struct loops all_loops[NSMOD_CALIBRATE_KINDS] = {
	{ few_pairs, many_pairs }, { few_marks, many_marks }, { few_inits, many_inits }, { few_exits, many_exits },
};

/* Clock and counters of this CPU; zeros for counters that do not run. */
static noinline notrace void read_fields(u32 fields, u64 *values)
{
	struct nsmod_cpu_counters *own = raw_cpu_ptr(&nsmod_counters);
	u32 i;

	for (i = 1; i < fields; ++i)
		values[i] = own->count && nsmod_counter_runs(&own->of[i - 1]) ? nsmod_counter_total(&own->of[i - 1]) : 0;
	values[0] = nsmod_clock_ordered();
}

/* Cost of a loop in all fields, starting with an empty ring. */
static void run(void (*loop)(u64 rounds), u32 rounds, u32 fields, u64 *data, u64 *taken)
{
	u64 before[NSMOD_CALIBRATE_FIELDS], after[NSMOD_CALIBRATE_FIELDS];
	struct nslice_ring_meta *ring;
	unsigned long flags;
	u32 i;

	local_irq_save(flags);
	ring = raw_cpu_ptr(&scratch_ring);
	nsmod_ring_init(ring, 0, data, NSMOD_CALIBRATE_RING_BYTES, NSLICE_FULL_DISCARD);
	nsmod_ring_open(ring);
	read_fields(fields, before);
	loop(rounds);
	read_fields(fields, after);
	local_irq_restore(flags);
	for (i = 0; i < fields; ++i)
		taken[i] = after[i] - before[i];
}

static u64 field_of(const u64 *record, u32 field)
{
	return field == 0 ? record[0] : record[NSLICE_HEAD_WORDS + field - 1];
}

/* STOP minus START over all pairs in the ring, which are empty slices. */
static void sum_inner(const struct nslice_ring_meta *ring, u32 fields, s64 *sums)
{
	const u32 end = NSLICE_POSITION_WORDS(ring->head);
	const u64 *data = nsmod_ring_data(ring);
	u32 at = 0, i;

	while (at < end) {
		const u32 words = NSLICE_RECORD_WORDS(data[at + 1]);
		const u64 kind = NSLICE_RECORD_KIND(data[at + 1]);

		for (i = 0; i < fields && i < 1 + words - NSLICE_HEAD_WORDS; ++i)
			sums[i] += kind == NSLICE_KIND_STOP ? field_of(&data[at], i) : -field_of(&data[at], i);
		at += words;
	}
}

/* Largest power of two for which interrupts are off no longer than STRETCH_NS. */
static u32 choose_rounds(const struct loops *loops, u64 *data)
{
	u64 taken[NSMOD_CALIBRATE_FIELDS], begin, ns;
	u32 rounds = MAX_ROUNDS;

	run(loops->many, 1, 1, data, taken); /* warm-up */
	begin = ktime_get_raw_ns();
	run(loops->many, 1, 1, data, taken);
	ns = ktime_get_raw_ns() - begin;
	while (rounds > 1 && rounds * ns > STRETCH_NS)
		rounds /= 2;
	return rounds;
}

static void take_sample(const struct loops *loops, u32 rounds, bool is_pair, u32 fields, u64 *data, struct nsmod_samples *samples)
{
	u64 few[NSMOD_CALIBRATE_FIELDS], many[NSMOD_CALIBRATE_FIELDS];
	s64 inner[NSMOD_CALIBRATE_FIELDS] = {};
	u32 i;

	run(loops->few, rounds, fields, data, few);
	run(loops->many, rounds, fields, data, many);
	if (is_pair)
		sum_inner(this_cpu_ptr(&scratch_ring), fields, inner);
	for (i = 0; i < fields; ++i) {
		const s64 more = (s64)(many[i] - few[i]);

		samples->outer[i][samples->count] = div_s64(more << NSMOD_CALIBRATE_UNIT_BITS, (MANY - FEW) * rounds);
		samples->inner[i][samples->count] = div_s64(inner[i] << NSMOD_CALIBRATE_UNIT_BITS, MANY * rounds);
	}
	++samples->count;
}

void nsmod_calibrate_prepare(void)
{
	static_branch_enable(&always);
}

void nsmod_calibrate_kind(u32 kind_index, u32 fields, u64 *data, u64 budget_ns, struct nsmod_samples *samples)
{
	const struct loops *loops = &all_loops[kind_index];
	const u64 end = ktime_get_raw_ns() + budget_ns;
	const u32 rounds = choose_rounds(loops, data);

	samples->count = 0;
	while (samples->count < NSMOD_CALIBRATE_BATCHES && (samples->count < MIN_BATCHES || ktime_get_raw_ns() < end))
		take_sample(loops, rounds, nsmod_calibrated_kinds[kind_index] == NSLICE_KIND_START, fields, data, samples);
}
