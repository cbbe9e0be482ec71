// SPDX-License-Identifier: GPL-2.0
/* Recorder of kernel records: only one at a time, because the sites that it enables are global. */
#include "trace/kernel_part.h"

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <asm/barrier.h>

#include <nslice/kernel.h>

#include "chunks/drained_ring.h"
#include "chunks/output.h"
#include "clock.h"
#include "counters/kernel_counters.h"
#include "groups/groups.h"
#include "groups/kernel_filter.h"
#include "kernel/kernel_general.h"
#include "kernel/kernel_ring.h"
#include "kernel/kernel_selection.h"
#include "request.h"

#define DEFAULT_RING_BYTES BIT_ULL(20)
#define INFO_BYTES 4096

static atomic_t is_taken = ATOMIC_INIT(0);
static DEFINE_MUTEX(selecting); /* protects is_recording and the rules of a part */

static int read_data(const struct nsmod_drained_ring *ring, u64 offset, void *to, u64 bytes)
{
	memcpy(to, ring->memory + offset, bytes);
	return 0;
}

static int clear_data(const struct nsmod_drained_ring *ring, u64 offset, u64 bytes)
{
	memset(ring->memory + offset, 0, bytes);
	return 0;
}

static const struct nsmod_ring_data_ops kernel_data = { .read = read_data, .clear = clear_data };

static int create_rings(struct nsmod_kernel_part *part, const struct nslice_kernel_request *request)
{
	const u64 ring_bytes = request->ring_bytes ? request->ring_bytes : DEFAULT_RING_BYTES;
	u32 cpu;
	int err;

	part->rings = kvcalloc(nr_cpu_ids, sizeof(*part->rings), GFP_KERNEL);
	if (!part->rings)
		return -ENOMEM;
	err = nsmod_kernel_rings_create(ring_bytes, request->full);
	if (err)
		return err;
	for (cpu = 0; cpu < nr_cpu_ids; ++cpu) {
		struct nsmod_drained_ring *ring = &part->rings[cpu];

		ring->meta = nsmod_kernel_ring_of(cpu);
		ring->data = &kernel_data;
		ring->memory = ring->meta ? nsmod_ring_data(ring->meta) : NULL;
		ring->ring_bytes = ring_bytes;
		ring->cpu = cpu;
		ring->chunk_kind = NSLICE_CHUNK_KERNEL_RECORDS;
		ring->is_atomic = true;
		ring->is_overwrite = request->full == NSLICE_FULL_OVERWRITE;
	}
	return 0;
}

static int write_info(const struct nsmod_kernel_request *request, struct nsmod_output *output)
{
	const struct nslice_kernel_request *fixed = &request->fixed;
	char *text = kzalloc(INFO_BYTES, GFP_KERNEL);
	size_t at;
	int err;

	if (!text)
		return -ENOMEM;
	at = scnprintf(text, INFO_BYTES, "kernel.module=%s\nkernel.clock=%s\nkernel.clock.mode=%s\n", NSMOD_RELEASE, NSMOD_CLOCK_NAME,
		       fixed->flags & NSLICE_KERNEL_ORDERED ? "ordered" : "fast");
	at += scnprintf(text + at, INFO_BYTES - at, "kernel.groups=%s\nkernel.ring.bytes=%llu\nkernel.ring.full=%s\n", request->groups,
			nsmod_kernel_ring_bytes(), fixed->full == NSLICE_FULL_OVERWRITE ? "overwrite" : "discard");
	at += nsmod_counters_text(text + at, INFO_BYTES - at);
	at += nsmod_groups_missing(text + at, INFO_BYTES - at);
	at += nsmod_kernel_filter_text(text + at, INFO_BYTES - at);
	err = nsmod_output_small(output, NSLICE_CHUNK_INFO, text, at);
	kfree(text);
	return err;
}

static int apply_rules(const char *slices)
{
	const int err = nsmod_kernel_selection_set(slices);

	if (err)
		return err;
	nsmod_kernel_sites_decide_again();
	nsmod_groups_decide_again();
	return 0;
}

static int change_rules(struct nsmod_kernel_part *part, const char *slices)
{
	char *copy = slices ? kstrdup(slices, GFP_KERNEL) : NULL;
	int err = slices && !copy ? -ENOMEM : apply_rules(slices);

	if (err) {
		kfree(copy);
		return err;
	}
	kfree(part->slices);
	part->slices = copy;
	WRITE_ONCE(part->is_selected, true);
	return 0;
}

int nsmod_kernel_part_select(struct nsmod_kernel_part *part, const char *slices)
{
	int err;

	mutex_lock(&selecting);
	err = part->is_recording ? change_rules(part, slices) : -EBADFD;
	mutex_unlock(&selecting);
	return err;
}

static int write_rules(struct nsmod_kernel_part *part, struct nsmod_output *output)
{
	char *text;
	int err;

	mutex_lock(&selecting);
	text = kasprintf(GFP_KERNEL, "kernel.slices=%s\n", part->slices ? part->slices : "");
	err = text ? nsmod_output_small(output, NSLICE_CHUNK_INFO, text, strlen(text)) : -ENOMEM;
	part->is_selected = err != 0;
	mutex_unlock(&selecting);
	kfree(text);
	return err;
}

static int prepare(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request)
{
	int err = nsmod_groups_check(request->groups);

	if (!err && request->slices)
		err = change_rules(part, request->slices);
	if (!err)
		err = create_rings(part, &request->fixed);
	if (!err)
		err = nsmod_kernel_filter_set(&request->fixed);
	if (!err)
		err = nsmod_counters_start(request->counters, request->fixed.counters_count);
	if (!err)
		nsmod_general_begin(request->fixed.flags & NSLICE_KERNEL_ORDERED, request->fixed.counters_count > 0);
	part->counters = request->fixed.counters_count;
	return err;
}

static int record(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output)
{
	int err;

	nsmod_kernel_rings_open();
	err = nsmod_groups_attach(request->groups);
	if (err)
		return err;
	static_branch_enable(&nslice_kernel_key);
	part->is_recording = true;
	return write_info(request, output);
}

/* Without memory there is no calibration. */
static void calibrate_beside(struct work_struct *work)
{
	struct nsmod_kernel_part *part = container_of(work, struct nsmod_kernel_part, calibrating);

	nsmod_kernel_calibrate(&part->at_start, NSLICE_CALIBRATION_START, part->counters);
	smp_store_release(&part->is_calibrated, true); /* pairs with the acquire in let_go() */
}

static int start(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output, bool is_beside)
{
	int err = prepare(part, request);

	if (!err && !is_beside)
		err = nsmod_kernel_calibrate(&part->at_start, NSLICE_CALIBRATION_START, part->counters);
	if (!err)
		err = record(part, request, output);
	if (!err && !is_beside)
		err = nsmod_kernel_calibration_write(&part->at_start, output);
	if (!err && is_beside) {
		part->is_held = true;
		queue_work(system_unbound_wq, &part->calibrating);
	}
	return err;
}

static int start_if_free(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output,
			 bool is_beside)
{
	int err;

	memset(part, 0, sizeof(*part));
	INIT_WORK(&part->calibrating, calibrate_beside);
	if (atomic_cmpxchg(&is_taken, 0, 1) != 0)
		return -EBUSY;
	part->is_owner = true;
	err = start(part, request, output, is_beside);
	if (err) {
		nsmod_kernel_calibration_destroy(&part->at_start); /* no end calibration */
		part->is_recording = true;
		nsmod_kernel_part_destroy(part);
	}
	return err;
}

int nsmod_kernel_part_start(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output)
{
	return start_if_free(part, request, output, false);
}

int nsmod_kernel_part_start_default(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output)
{
	return start_if_free(part, request, output, true);
}

void nsmod_kernel_part_stop(struct nsmod_kernel_part *part)
{
	if (!part->is_recording)
		return;
	mutex_lock(&selecting);
	part->is_recording = false;
	mutex_unlock(&selecting);
	static_branch_disable(&nslice_kernel_key);
	nsmod_groups_detach();
	nsmod_kernel_rings_close();
	if (part->slices)
		apply_rules(NULL); /* requires no memory */
	flush_work(&part->calibrating);
	if (part->at_start.payload) /* NULL if there was no memory */
		nsmod_kernel_calibrate(&part->at_end, NSLICE_CALIBRATION_END, part->counters);
	nsmod_general_end();
	nsmod_counters_stop();
}

/* Releases the held records once the calibration is complete.  0 or -ENOMEM. */
static int let_go(struct nsmod_kernel_part *part, struct nsmod_output *output)
{
	int err;

	if (!smp_load_acquire(&part->is_calibrated)) /* pairs with the release in calibrate_beside() */
		return 0;
	err = nsmod_kernel_calibration_write(&part->at_start, output);
	part->is_held = err != 0;
	return err;
}

s64 nsmod_kernel_part_pass(struct nsmod_kernel_part *part, struct nsmod_output *output)
{
	s64 fullest = 0, taken;
	u32 cpu;
	int err = part->is_held ? let_go(part, output) : 0;

	for (cpu = 0; cpu < nr_cpu_ids; ++cpu)
		if (part->rings[cpu].meta)
			nsmod_ring_watch(&part->rings[cpu]);
	if (!err && READ_ONCE(part->is_selected))
		err = write_rules(part, output);
	if (!err && !part->is_held)
		err = nsmod_kernel_sites_write(output, &part->written);
	if (err || part->is_held)
		return err;
	for (cpu = 0; cpu < nr_cpu_ids; ++cpu) {
		if (!part->rings[cpu].meta || (part->rings[cpu].is_overwrite && part->is_recording))
			continue;
		taken = nsmod_ring_take_all(&part->rings[cpu], output);
		if (taken < 0)
			return taken;
		fullest = max(fullest, taken);
	}
	return fullest;
}

static int write_totals(struct nsmod_kernel_part *part, struct nsmod_output *output)
{
	const size_t bytes = sizeof(struct nslice_file_kernel_totals) + nr_cpu_ids * sizeof(struct nslice_file_footer_cpu);
	struct nslice_file_kernel_totals *totals = kvzalloc(bytes, GFP_KERNEL);
	struct nslice_file_footer_cpu *rows = (void *)(totals + 1);
	u32 cpu;
	int err;

	if (!totals)
		return -ENOMEM;
	totals->unnamed_sites = nsmod_kernel_sites_unnamed();
	for (cpu = 0; cpu < nr_cpu_ids; ++cpu) {
		if (!part->rings[cpu].meta)
			continue;
		nsmod_ring_row(&part->rings[cpu], &rows[totals->cpus]);
		totals->cpus += rows[totals->cpus].issued > 0;
	}
	err = nsmod_output_small(output, NSLICE_CHUNK_KERNEL_TOTALS, totals, sizeof(*totals) + totals->cpus * sizeof(*rows));
	kvfree(totals);
	return err;
}

int nsmod_kernel_part_settle(struct nsmod_kernel_part *part, struct nsmod_output *output)
{
	s64 taken;
	u32 cpu;
	int err;

	if (part->is_settled)
		return 0;
	do
		taken = nsmod_kernel_part_pass(part, output);
	while (taken > 0);
	if (taken < 0)
		return taken;
	for (cpu = 0; cpu < nr_cpu_ids; ++cpu)
		if (part->rings[cpu].meta)
			nsmod_ring_settle(&part->rings[cpu]);
	err = nsmod_kernel_calibration_write(&part->at_end, output);
	if (!err)
		nsmod_kernel_calibration_destroy(&part->at_end); /* write it only once */
	if (!err)
		err = write_totals(part, output);
	part->is_settled = !err; /* without memory, retried later */
	return err;
}

void nsmod_kernel_part_destroy(struct nsmod_kernel_part *part)
{
	if (!part->is_owner)
		return;
	part->is_owner = false;
	nsmod_kernel_part_stop(part);
	nsmod_kernel_rings_destroy();
	nsmod_kernel_calibration_destroy(&part->at_start);
	nsmod_kernel_calibration_destroy(&part->at_end);
	kvfree(part->rings);
	part->rings = NULL;
	kfree(part->slices);
	part->slices = NULL;
	atomic_set(&is_taken, 0);
}
