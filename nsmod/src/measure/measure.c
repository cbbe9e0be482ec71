// SPDX-License-Identifier: GPL-2.0
/*
 * Compares n repetitions with 2n: the difference divided by n is the value of a
 * batch, so constant costs cancel.  Batches are sorted, a fifth at either end is
 * left out, and the rest give mean and interval.  Interrupts are off for one
 * batch at a time, which is kept below 50 microseconds.  Uses integers only,
 * because the kernel has no floating point.
 */
#include "measure/measure.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "clock.h"

#define USUAL_BATCHES 200
#define TEXT_BYTES 4096
#define OFF_NS 50000 /* longest time with interrupts off */
#define MOST_TIMES 64
#define FARTHEST BIT(25) /* largest distance from the mean, for the sum of squares */
#define DRAIN_EVERY 50 /* batches whose records fit into a ring */

struct job {
	u32 cpu, batches;
	bool has_moved; /* the CPU went offline meanwhile */
	s64 empty; /* cost of the loop itself */
	s64 *values;
	char *text;
	size_t bytes;
};

struct figure {
	s64 mean, ci95;
	u32 batches;
};

static DEFINE_MUTEX(lock); /* one measurement at a time: they would disturb each other */

static noinline void empty(u32 times)
{
	u32 i;

	for (i = 0; i < times; ++i)
		barrier();
}

static u64 ticks_of(void (*run)(u32), u32 times)
{
	const u64 begin = nsmod_clock_ordered();

	run(times);
	return nsmod_clock_ordered() - begin;
}

/* A batch runs 3n times. */
static u32 times_for(void (*run)(u32))
{
	u64 least = U64_MAX;
	unsigned long flags;
	u32 i;

	for (i = 0; i < 3; ++i) {
		u64 begin;

		local_irq_save(flags);
		begin = ktime_get_raw_ns();
		run(1);
		least = min(least, ktime_get_raw_ns() - begin);
		local_irq_restore(flags);
	}
	return clamp_t(u64, div64_u64(OFF_NS, 3 * max_t(u64, least, 1)), 1, MOST_TIMES);
}

static s64 batch(struct job *job, void (*run)(u32), u32 times)
{
	u64 once = 0, twice = 0;
	unsigned long flags;

	local_irq_save(flags);
	if (smp_processor_id() == job->cpu) {
		once = ticks_of(run, times);
		twice = ticks_of(run, 2 * times);
	} else {
		job->has_moved = true;
	}
	local_irq_restore(flags);
	return div_s64((s64)(twice - once) * 1024, times);
}

static int compare(const void *a, const void *b)
{
	const s64 left = *(const s64 *)a, right = *(const s64 *)b;

	return left < right ? -1 : left > right;
}

static struct figure figure_of(s64 *values, u32 count)
{
	const u32 left_out = count / 5, kept = count - 2 * left_out;
	struct figure figure = { .batches = kept };
	s64 sum = 0;
	u64 squares = 0;
	u32 i;

	sort(values, count, sizeof(*values), compare, NULL);
	for (i = left_out; i < count - left_out; ++i)
		sum += values[i];
	figure.mean = div_s64(sum, kept);
	for (i = left_out; i < count - left_out; ++i) {
		const s64 distance = clamp_t(s64, values[i] - figure.mean, -FARTHEST, FARTHEST);

		squares += distance * distance;
	}
	figure.ci95 = 2 * int_sqrt64(div64_u64(squares, (u64)kept * (kept - 1)));
	return figure;
}

static struct figure measure(struct job *job, void (*run)(u32), void (*between)(void))
{
	const u32 times = times_for(run);
	u32 i;

	for (i = 0; i < job->batches; ++i) {
		job->values[i] = batch(job, run, times);
		if (between && i % DRAIN_EVERY == DRAIN_EVERY - 1)
			between();
		cond_resched();
	}
	if (between)
		between();
	return figure_of(job->values, job->batches);
}

static void say_unavailable(struct job *job, const char *name, const char *reason)
{
	job->bytes += scnprintf(job->text + job->bytes, TEXT_BYTES - job->bytes, "%s\tunavailable\t%s\n", name, reason);
}

static void add(struct job *job, const struct nsmod_measured *one, void (*between)(void))
{
	const char *lack = one->begin ? one->begin() : NULL;
	struct figure figure;

	if (lack) {
		say_unavailable(job, one->name, lack);
		return;
	}
	figure = measure(job, one->run, between);
	if (one->end)
		one->end();
	job->bytes += scnprintf(job->text + job->bytes, TEXT_BYTES - job->bytes, "%s\t%lld\t%lld\t%u\n", one->name,
				figure.mean - job->empty, figure.ci95, figure.batches);
}

static void add_macros(struct job *job)
{
	const char *lack;
	u32 i;

	for (i = 0; i < nsmod_measured_macros_count; ++i)
		add(job, &nsmod_measured_idle_macros[i], NULL);
	lack = nsmod_measure_macros_begin();
	for (i = 0; i < nsmod_measured_macros_count; ++i) {
		if (lack)
			say_unavailable(job, nsmod_measured_macros[i].name, lack);
		else
			add(job, &nsmod_measured_macros[i], nsmod_measure_macros_drain);
	}
	if (!lack)
		nsmod_measure_macros_end();
}

static long on_cpu(void *data)
{
	struct job *job = data;
	u32 i;

	job->empty = measure(job, empty, NULL).mean;
	for (i = 0; i < nsmod_measured_instructions_count; ++i)
		add(job, &nsmod_measured_instructions[i], NULL);
	add_macros(job);
	return 0;
}

char *nsmod_measure(u32 cpu, u32 batches, size_t *bytes)
{
	struct job job = { .cpu = cpu, .batches = batches ? batches : USUAL_BATCHES };
	long err;

	if (mutex_lock_killable(&lock))
		return ERR_PTR(-ERESTARTSYS);
	job.values = kvcalloc(job.batches, sizeof(*job.values), GFP_KERNEL);
	job.text = kvmalloc(TEXT_BYTES, GFP_KERNEL);
	if (!job.values || !job.text)
		err = -ENOMEM;
	else /* without cpus_read_lock(): enabling probes takes that lock itself */
		err = cpu_online(cpu) ? work_on_cpu(cpu, on_cpu, &job) : -ENODEV;
	if (!err && job.has_moved)
		err = -ENODEV;
	kvfree(job.values);
	mutex_unlock(&lock);
	if (err) {
		kvfree(job.text);
		return ERR_PTR(err);
	}
	*bytes = job.bytes;
	return job.text;
}
