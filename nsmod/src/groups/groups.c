// SPDX-License-Identifier: GPL-2.0
/* Names -> tracepoints, found by a search of all, because few are exported as symbols. */
#include "groups/groups.h"

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <nslice/record.h>

#include "kernel/kernel_sites.h"
#include "kernel/kernel_write.h"

#define LIST_BYTES 16384

#define NSMOD_GROUP_OF(name, points, says) &nsmod_group_##name,
#define NSMOD_NAMES_OF(name, points, says) { #name, says },
static const struct nsmod_group *const groups[] = { NSLICE_GROUPS(NSMOD_GROUP_OF) };
static const struct {
	const char *name, *says;
} names_of[] = { NSLICE_GROUPS(NSMOD_NAMES_OF) };

static DEFINE_MUTEX(lock);
static u32 attached; /* a bit per group */
u32 nsmod_groups_recording;

static void look_up(struct tracepoint *tracepoint, void *data)
{
	struct nsmod_point *point = data;

	if (strcmp(tracepoint->name, point->tracepoint) == 0)
		point->found = tracepoint;
}

static bool is_there(struct nsmod_point *point)
{
	if (!point->found)
		for_each_kernel_tracepoint(look_up, point);
	return point->found;
}

/*
 * Names all points of a group before the first is attached, because a probe may
 * write records of other points.  With an id, a site decides at its first
 * record whether it is on.
 */
static void name_points(const struct nsmod_group *group)
{
	u32 i;

	for (i = 0; i < group->count; ++i) {
		struct nsmod_point *point = &group->points[i];
		const u16 id = nsmod_kernel_site_id(point->slice, point->tracepoint, 0, point->kind, point->flags);

		point->site = (struct nslice_kernel_site){
			.bits = id ? 0 : NSMOD_BITS(id, point->kind, point->words),
			.step = NSLICE_POSITION_STEP(NSLICE_HEAD_WORDS + point->words),
			.head = &nslice_kernel_ring.head,
			.kind = point->kind,
			.words = point->words,
			.id = id,
			.name = point->slice,
		};
	}
}

/*
 * If this kernel lacks the tracepoint at one end of a slice, the other end is
 * not recorded either, because the slice would never end.  Groups that keep
 * state can end their slices at any of their points.
 */
static bool has_other_end(const struct nsmod_group *group, const struct nsmod_point *point)
{
	static const u8 other_end[] = {
		[NSLICE_KIND_START] = NSLICE_KIND_STOP, [NSLICE_KIND_STOP] = NSLICE_KIND_START, [NSLICE_KIND_MARK] = NSLICE_KIND_MARK,
		[NSLICE_KIND_INIT] = NSLICE_KIND_EXIT,  [NSLICE_KIND_EXIT] = NSLICE_KIND_INIT,
	};
	u32 i;

	if (group->reset)
		return true;
	for (i = 0; i < group->count; ++i)
		if (group->points[i].kind == other_end[point->kind] && strcmp(group->points[i].slice, point->slice) == 0 &&
		    is_there(&group->points[i]))
			return true;
	return false;
}

static int attach_point(const struct nsmod_group *group, struct nsmod_point *point)
{
	int err;

	if (!is_there(point) || !point->probe || !has_other_end(group, point))
		return 0;
	err = tracepoint_probe_register(point->found, point->probe, point);
	point->is_attached = !err;
	return err;
}

static int attach_group(const struct nsmod_group *group)
{
	u32 i, there = 0;
	int err = 0;

	name_points(group);
	if (group->reset)
		group->reset();
	/* Attaches ends first and detaches beginnings first, so that slices that begin also end. */
	for (i = group->count; i-- > 0 && !err;) {
		err = attach_point(group, &group->points[i]);
		there += group->points[i].is_attached;
	}
	return err ? err : there ? 0 : -ENOENT;
}

static void detach_group(const struct nsmod_group *group)
{
	u32 i;

	for (i = 0; i < group->count; ++i) {
		struct nsmod_point *point = &group->points[i];

		if (point->is_attached)
			tracepoint_probe_unregister(point->found, point->probe, point);
		point->is_attached = false;
	}
}

void nsmod_groups_decide_again(void)
{
	u32 i, j;

	mutex_lock(&lock);
	for (i = 0; i < ARRAY_SIZE(groups); ++i)
		for (j = 0; j < groups[i]->count; ++j)
			if ((attached & BIT(i)) && groups[i]->points[j].site.id)
				WRITE_ONCE(groups[i]->points[j].site.bits, 0);
	mutex_unlock(&lock);
}

/* Bits of the named groups; -EINVAL in *err for an unknown name. */
static u32 parse(const char *names, int *err)
{
	u32 wanted = 0, i;

	*err = 0;
	while (*names && !*err) {
		const size_t length = strcspn(names, ",");

		*err = -EINVAL;
		for (i = 0; i < ARRAY_SIZE(groups); ++i) {
			if (strlen(names_of[i].name) == length && strncmp(names_of[i].name, names, length) == 0) {
				wanted |= BIT(i);
				*err = 0;
			}
		}
		names += length;
		names += *names == ',';
	}
	return wanted;
}

int nsmod_groups_check(const char *names)
{
	int err;

	parse(names, &err);
	return err;
}

static void detach_all(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(groups); ++i)
		if (attached & BIT(i))
			detach_group(groups[i]);
	attached = 0;
	tracepoint_synchronize_unregister();
}

int nsmod_groups_attach(const char *names)
{
	u32 wanted, i;
	int err;

	mutex_lock(&lock);
	++nsmod_groups_recording;
	wanted = parse(names, &err);
	for (i = 0; i < ARRAY_SIZE(groups) && !err; ++i) {
		if (!(wanted & BIT(i)))
			continue;
		attached |= BIT(i);
		err = attach_group(groups[i]);
	}
	if (err)
		detach_all();
	mutex_unlock(&lock);
	return err;
}

void nsmod_groups_detach(void)
{
	mutex_lock(&lock);
	detach_all();
	mutex_unlock(&lock);
}

static size_t missing_of(const struct nsmod_group *group, const char *name, char *text, size_t room)
{
	size_t at = 0;
	u32 i;

	for (i = 0; i < group->count; ++i) {
		if (group->points[i].found)
			continue;
		at += at ? scnprintf(text + at, room - at, ",%s", group->points[i].tracepoint)
			 : scnprintf(text, room, "kernel.missing.%s=%s", name, group->points[i].tracepoint);
	}
	return at ? at + scnprintf(text + at, room - at, "\n") : 0;
}

size_t nsmod_groups_missing(char *text, size_t room)
{
	size_t at = 0;
	u32 i;

	mutex_lock(&lock);
	for (i = 0; i < ARRAY_SIZE(groups); ++i)
		if (attached & BIT(i))
			at += missing_of(groups[i], names_of[i].name, text + at, room - at);
	mutex_unlock(&lock);
	return at;
}

static const char *kind_name(u8 kind)
{
	static const char *const names[] = {
		[NSLICE_KIND_START] = "START", [NSLICE_KIND_STOP] = "STOP", [NSLICE_KIND_MARK] = "MARK",
		[NSLICE_KIND_INIT] = "INIT", [NSLICE_KIND_EXIT] = "EXIT",
	};

	return names[kind];
}

char *nsmod_groups_list(size_t *bytes)
{
	char *text = kvmalloc(LIST_BYTES, GFP_KERNEL);
	u32 i, j;

	*bytes = 0;
	if (!text)
		return NULL;
	mutex_lock(&lock);
	for (i = 0; i < ARRAY_SIZE(groups); ++i)
		for (j = 0; j < groups[i]->count; ++j) {
			struct nsmod_point *point = &groups[i]->points[j];

			*bytes += scnprintf(text + *bytes, LIST_BYTES - *bytes, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", names_of[i].name,
					    names_of[i].says, point->tracepoint, kind_name(point->kind), point->slice, point->says,
					    is_there(point) ? "yes" : "no");
		}
	mutex_unlock(&lock);
	return text;
}
