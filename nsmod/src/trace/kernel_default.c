// SPDX-License-Identifier: GPL-2.0
/* The parameter `groups`: a plain reader also gets kernel records, or the reason why not. */
#include "trace/kernel_default.h"

#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <nslice/control.h>

#include "chunks/output.h"
#include "groups/groups.h"
#include "request.h"
#include "trace/kernel_part.h"

static char wanted[NSMOD_MAX_GROUPS_BYTES]; /* under kernel_param_lock() */

static int take_names(const char *text, const struct kernel_param *parameter)
{
	const size_t length = strcspn(text, "\n");
	char groups[NSMOD_MAX_GROUPS_BYTES];
	int err;

	if (length >= sizeof(groups) || text[length + (text[length] == '\n')])
		return -EINVAL;
	memcpy(groups, text, length);
	groups[length] = '\0';
	err = nsmod_groups_check(groups);
	if (!err)
		memcpy(wanted, groups, length + 1);
	return err;
}

static int give_names(char *text, const struct kernel_param *parameter)
{
	return scnprintf(text, PAGE_SIZE, "%s\n", wanted);
}

static const struct kernel_param_ops groups_ops = { .set = take_names, .get = give_names };
module_param_cb(groups, &groups_ops, NULL, 0600);
MODULE_PARM_DESC(groups, "groups of tracepoints that a plain read records with the session, e.g. net_rx,irq (default none)");

int nsmod_kernel_default_init(struct nsmod_kernel_default *defaults)
{
	int err = 0;

	memset(defaults, 0, sizeof(*defaults));
	kernel_param_lock(THIS_MODULE);
	if (wanted[0]) {
		defaults->groups = kstrdup(wanted, GFP_KERNEL);
		err = defaults->groups ? 0 : -ENOMEM;
	}
	kernel_param_unlock(THIS_MODULE);
	if (defaults->groups && !perfmon_capable())
		defaults->refused = -EPERM;
	return err;
}

void nsmod_kernel_default_destroy(struct nsmod_kernel_default *defaults)
{
	kfree(defaults->groups);
	defaults->groups = NULL;
}

static const char *reason_of(int err)
{
	switch (err) {
	case -EPERM:
		return "the reader lacks CAP_PERFMON";
	case -EBUSY:
		return "the kernel is already being recorded";
	case -ENOENT:
		return "this kernel has none of a group's tracepoints";
	case -ESRCH:
		return "the session had already ended";
	default:
		return "no memory";
	}
}

static int tell(const char *groups, int err, struct nsmod_output *output)
{
	char *text = kasprintf(GFP_KERNEL, "kernel.groups.refused=%s\nkernel.groups.refused.reason=%s\n", groups, reason_of(err));
	int result;

	if (!text)
		return -ENOMEM;
	result = nsmod_output_small(output, NSLICE_CHUNK_INFO, text, strlen(text));
	kfree(text);
	return result;
}

int nsmod_kernel_default_start(const struct nsmod_kernel_default *defaults, bool is_session_over, struct nsmod_kernel_part *part,
			       struct nsmod_output *output)
{
	const struct nsmod_kernel_request request = { .fixed = { .size = sizeof(request.fixed), .full = NSLICE_FULL_DISCARD },
						      .groups = defaults->groups };
	int err = defaults->refused;

	if (!defaults->groups)
		return 0;
	if (!err && is_session_over)
		err = -ESRCH;
	if (!err)
		err = nsmod_kernel_part_start_default(part, &request, output);
	return err ? tell(defaults->groups, err, output) : 0;
}
