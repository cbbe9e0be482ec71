// SPDX-License-Identifier: GPL-2.0
/* Requests begin with the caller's size; unknown flags, tails and reserved fields must be zero. */
#include "request.h"

#include <linux/err.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <nslice/ring.h>
#include <nslice/rules.h>
#include <nslice/session.h>

#define MAX_REQUEST_BYTES 4096

int nsmod_request_take(void *request, size_t known, const void __user *from)
{
	u32 size;

	if (get_user(size, (const u32 __user *)from))
		return -EFAULT;
	if (size < 2 * sizeof(u32) || size > MAX_REQUEST_BYTES)
		return -EINVAL;
	return copy_struct_from_user(request, known, from, size);
}

int nsmod_request_answer(void __user *to, const void *request, size_t known)
{
	u32 size;

	if (get_user(size, (const u32 __user *)to))
		return -EFAULT;
	return copy_to_user(to, request, min_t(size_t, size, known)) ? -EFAULT : 0;
}

bool nsmod_is_ring_size(u64 bytes)
{
	return bytes >= NSLICE_MIN_RING_BYTES && bytes <= NSLICE_MAX_RING_BYTES && is_power_of_2(bytes);
}

static int check_kernel(const struct nslice_kernel_request *request)
{
	if (request->flags & ~(NSLICE_KERNEL_WHOLE | NSLICE_KERNEL_ORDERED))
		return -EINVAL;
	if (request->counters_count > NSLICE_MAX_COUNTERS || request->reserved)
		return -EINVAL;
	if (request->full > NSLICE_FULL_OVERWRITE || request->port > U16_MAX || request->protocol > U8_MAX)
		return -EINVAL;
	if (request->groups_bytes >= NSMOD_MAX_GROUPS_BYTES || (request->protocol && !request->port))
		return -EINVAL;
	return !request->ring_bytes || nsmod_is_ring_size(request->ring_bytes) ? 0 : -EINVAL;
}

/* Names are written to the trace as a comma-separated line. */
static int check_counter(const struct nslice_kernel_counter *counter)
{
	const size_t length = strnlen(counter->name, sizeof(counter->name));

	if (counter->reserved || length == 0 || length == sizeof(counter->name))
		return -EINVAL;
	return strpbrk(counter->name, ",\n") ? -EINVAL : 0;
}

static int take_counters(struct nsmod_kernel_request *request)
{
	const u32 count = request->fixed.counters_count;
	int err = 0;
	u32 i;

	if (copy_from_user(request->counters, u64_to_user_ptr(request->fixed.counters), count * sizeof(*request->counters)))
		return -EFAULT;
	for (i = 0; i < count && !err; ++i)
		err = check_counter(&request->counters[i]);
	return err;
}

/* A terminated copy, which belongs to the caller. */
static int take_text(char **text, u64 at, u32 bytes)
{
	char *copy = memdup_user_nul(u64_to_user_ptr(at), bytes);

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	*text = copy;
	return 0;
}

static int take_rules(char **rules, u64 at, u32 bytes)
{
	int err;

	if (!bytes)
		return 0;
	if (bytes >= NSLICE_RULES_TEXT)
		return -EINVAL;
	err = take_text(rules, at, bytes);
	if (!err && nslice_rules_check(*rules, bytes) != NSLICE_RULES_VALID) {
		kfree(*rules);
		*rules = NULL;
		err = -EINVAL;
	}
	return err;
}

int nsmod_request_take_kernel(struct nsmod_kernel_request *request, const void __user *from)
{
	int err = nsmod_request_take(&request->fixed, sizeof(request->fixed), from);

	request->groups = NULL;
	request->slices = NULL;
	if (!err)
		err = check_kernel(&request->fixed);
	if (!err)
		err = take_counters(request);
	if (!err)
		err = take_text(&request->groups, request->fixed.groups, request->fixed.groups_bytes);
	if (!err)
		err = take_rules(&request->slices, request->fixed.slices, request->fixed.slices_bytes);
	if (err)
		nsmod_kernel_request_free(request);
	return err;
}

void nsmod_kernel_request_free(struct nsmod_kernel_request *request)
{
	kfree(request->groups);
	kfree(request->slices);
}

int nsmod_request_take_slices(char **slices, const void __user *from)
{
	struct nslice_slices_request request;
	const int err = nsmod_request_take(&request, sizeof(request), from);

	*slices = NULL;
	if (err)
		return err;
	if (request.flags || request.reserved)
		return -EINVAL;
	return take_rules(slices, request.slices, request.slices_bytes);
}
