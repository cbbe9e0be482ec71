// SPDX-License-Identifier: GPL-2.0
/* Answers from what is there: versions, sessions, groups, measured costs. */
#include "device/requests.h"

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "groups/groups.h"
#include "measure/measure.h"
#include "request.h"
#include "session/session.h"

#define MAX_LISTED 4096

long nsmod_request_version(void __user *at)
{
	struct nslice_version_request request;
	int err = nsmod_request_take(&request, sizeof(request), at);

	if (err)
		return err;
	if (request.flags)
		return -EINVAL;
	request.control = NSLICE_CONTROL_VERSION;
	request.abi = NSLICE_ABI_VERSION;
	request.session = NSLICE_SESSION_VERSION;
	request.file = NSLICE_FILE_VERSION;
	strscpy_pad(request.release, NSMOD_RELEASE, sizeof(request.release));
	return nsmod_request_answer(at, &request, sizeof(request));
}

long nsmod_request_list(void __user *at)
{
	struct nslice_session_entry *entries;
	struct nslice_list_request request;
	int err = nsmod_request_take(&request, sizeof(request), at);
	u32 room;

	if (err)
		return err;
	if (request.flags)
		return -EINVAL;
	room = min_t(u32, request.room, MAX_LISTED);
	entries = kvcalloc(max(room, 1u), sizeof(*entries), GFP_KERNEL_ACCOUNT);
	if (!entries)
		return -ENOMEM;
	request.count = nsmod_session_list(entries, room);
	if (copy_to_user(u64_to_user_ptr(request.entries), entries, min(room, request.count) * sizeof(*entries)))
		err = -EFAULT;
	kvfree(entries);
	return err ? err : nsmod_request_answer(at, &request, sizeof(request));
}

static long answer_text(void __user *at, struct nslice_text_request *request, const char *text, size_t bytes)
{
	if (copy_to_user(u64_to_user_ptr(request->text), text, min_t(size_t, request->room, bytes)))
		return -EFAULT;
	request->bytes = bytes;
	return nsmod_request_answer(at, request, sizeof(*request));
}

long nsmod_request_groups(void __user *at)
{
	struct nslice_text_request request;
	long err = nsmod_request_take(&request, sizeof(request), at);
	size_t bytes;
	char *text;

	if (err)
		return err;
	if (request.flags)
		return -EINVAL;
	text = nsmod_groups_list(&bytes);
	if (!text)
		return -ENOMEM;
	err = answer_text(at, &request, text, bytes);
	kvfree(text);
	return err;
}

static int check_measure(const struct nslice_measure_request *request)
{
	if (request->flags || request->cpu >= nr_cpu_ids)
		return -EINVAL;
	if (!request->batches)
		return 0;
	return request->batches >= NSMOD_MEASURE_MIN_BATCHES && request->batches <= NSLICE_MEASURE_MAX_BATCHES ? 0 : -EINVAL;
}

long nsmod_request_measure(void __user *at)
{
	struct nslice_measure_request request;
	long err = nsmod_request_take(&request, sizeof(request), at);
	size_t bytes;
	char *text;

	if (!err)
		err = check_measure(&request);
	if (!err && !perfmon_capable())
		err = -EPERM;
	if (err)
		return err;
	text = nsmod_measure(request.cpu, request.batches, &bytes);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (copy_to_user(u64_to_user_ptr(request.text), text, min_t(size_t, request.room, bytes)))
		err = -EFAULT;
	kvfree(text);
	request.bytes = bytes;
	return err ? err : nsmod_request_answer(at, &request, sizeof(request));
}
