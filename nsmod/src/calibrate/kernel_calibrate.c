// SPDX-License-Identifier: GPL-2.0
/* Samples of each CPU, measured in turn by workers bound to them -> trimmed sums, as entries. */
#include "calibrate/kernel_calibrate.h"

#include <linux/cpu.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/workqueue.h>

#include "calibrate/calibrate_batch.h"
#include "chunks/output.h"
#include "clock.h"

#define MAX_ENTRIES \
	((NSLICE_MAX_PAYLOAD_BYTES - sizeof(struct nslice_file_kernel_calibration)) / sizeof(struct nslice_kernel_calibration_entry))

#define CPU_BUDGET_NS 16000000ull

struct job {
	u32 cpu;
	u32 fields;
	u64 *data;
	struct nsmod_samples *samples;
	struct nslice_kernel_calibration_entry *entries; /* of this CPU, for all kinds and fields */
};

static size_t payload_bytes(size_t entries)
{
	return sizeof(struct nslice_file_kernel_calibration) + entries * sizeof(struct nslice_kernel_calibration_entry);
}

static int compare(const void *a, const void *b)
{
	const s64 left = *(const s64 *)a, right = *(const s64 *)b;

	return left < right ? -1 : left > right;
}

/* Sorts the samples.  Returns the number of batches in the sum. */
static u32 sum_up(s64 *samples, u32 count, s64 *sum, s64 *squares)
{
	const u32 trimmed = count / 5, left = count - 2 * trimmed;
	s64 mean, of_all = 0;
	u32 i;

	sort(samples, count, sizeof(*samples), compare, NULL);
	*sum = *squares = 0;
	for (i = trimmed; i < count - trimmed; ++i)
		*sum += samples[i];
	for (i = 0; i < count; ++i) {
		samples[i] = clamp(samples[i], samples[trimmed], samples[count - 1 - trimmed]);
		of_all += samples[i];
	}
	mean = div_s64(of_all, count);
	for (i = 0; i < count; ++i)
		*squares += (samples[i] - mean) * (samples[i] - mean);
	return left;
}

static long calibrate_cpu(void *argument)
{
	struct job *job = argument;
	u32 kind, field;

	for (kind = 0; kind < NSMOD_CALIBRATE_KINDS; ++kind) {
		struct nslice_kernel_calibration_entry *entries = job->entries + kind * job->fields;

		nsmod_calibrate_kind(kind, job->fields, job->data, CPU_BUDGET_NS / NSMOD_CALIBRATE_KINDS, job->samples);
		for (field = 0; field < job->fields; ++field) {
			entries[field].cpu = job->cpu;
			entries[field].kind = nsmod_calibrated_kinds[kind];
			entries[field].field = field;
			entries[field].batches = sum_up(job->samples->outer[field], job->samples->count, &entries[field].outer_sum,
							&entries[field].outer_squares);
			sum_up(job->samples->inner[field], job->samples->count, &entries[field].inner_sum, &entries[field].inner_squares);
		}
	}
	return 0;
}

static u32 calibrate_cpus(struct job *job, struct nslice_kernel_calibration_entry *entries)
{
	const u32 of_cpu = NSMOD_CALIBRATE_KINDS * job->fields;
	u32 count = 0, cpu;

	nsmod_calibrate_prepare();
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		job->cpu = cpu;
		job->entries = entries + count;
		if (work_on_cpu(cpu, calibrate_cpu, job) == 0)
			count += of_cpu;
	}
	cpus_read_unlock();
	return count;
}

int nsmod_kernel_calibrate(struct nsmod_kernel_calibration *calibration, u32 phase, u32 counters)
{
	struct job job = { .fields = 1 + counters };
	const size_t room = (size_t)num_possible_cpus() * NSMOD_CALIBRATE_KINDS * job.fields;
	struct nslice_file_kernel_calibration *payload = kvzalloc(payload_bytes(room), GFP_KERNEL);

	job.data = kvmalloc(NSMOD_CALIBRATE_RING_BYTES, GFP_KERNEL);
	job.samples = kvmalloc(sizeof(*job.samples), GFP_KERNEL);
	if (payload && job.data && job.samples) {
		payload->phase = phase;
		nsmod_clock_pair(&payload->ticks, &payload->mono_ns);
		payload->entries = calibrate_cpus(&job, (struct nslice_kernel_calibration_entry *)(payload + 1));
		calibration->payload = payload;
	} else {
		kvfree(payload);
	}
	kvfree(job.samples);
	kvfree(job.data);
	return calibration->payload ? 0 : -ENOMEM;
}

/* Writes one chunk of `count` entries from `first` on. */
static int write_part(const struct nslice_file_kernel_calibration *all, u32 first, u32 count, struct nsmod_output *output)
{
	const struct nslice_kernel_calibration_entry *entries = (const void *)(all + 1);
	struct nslice_file_kernel_calibration *payload = kvzalloc(payload_bytes(count), GFP_KERNEL);
	int err;

	if (!payload)
		return -ENOMEM;
	*payload = *all;
	payload->entries = count;
	memcpy(payload + 1, entries + first, count * sizeof(*entries));
	err = nsmod_output_small(output, NSLICE_CHUNK_KERNEL_CALIBRATION, payload, payload_bytes(count));
	kvfree(payload);
	return err;
}

/* Machines with hundreds of CPUs have more entries than fit into one chunk. */
int nsmod_kernel_calibration_write(const struct nsmod_kernel_calibration *calibration, struct nsmod_output *output)
{
	const struct nslice_file_kernel_calibration *all = calibration->payload;
	u32 first = 0;
	int err = 0;

	while (all && first < all->entries && !err) {
		const u32 count = min_t(u32, all->entries - first, MAX_ENTRIES);

		err = write_part(all, first, count, output);
		first += count;
	}
	return err;
}

void nsmod_kernel_calibration_destroy(struct nsmod_kernel_calibration *calibration)
{
	kvfree(calibration->payload);
	calibration->payload = NULL;
}
