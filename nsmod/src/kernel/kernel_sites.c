// SPDX-License-Identifier: GPL-2.0
/*
 * Sites -> ids and site chunks.  The first use of a site may be in an NMI: it
 * takes an id by an atomic add and puts the site on a lock-free list; names are
 * copied from there later, but before their module is unloaded.  When a module
 * is loaded again, its sites get their previous ids.
 *
 * A site that the recording's rules turn off keeps bits of 0, so that the probes'
 * test for the first use is also their switch; a bit by its id distinguishes the
 * two.  A site without an id stays on.
 */
#include "kernel/kernel_sites.h"

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include <asm/barrier.h>
#include <asm/processor.h>

#include <nslice/file.h>
#include <nslice/kernel.h>

#include "chunks/output.h"
#include "kernel/kernel_selection.h"
#include "kernel/kernel_write.h"

#define MAX_TEXT_BYTES 200

/* Copy of a site, kept until nsmod is unloaded. */
struct known_site {
	u32 line;
	u8 kind;
	u8 flags; /* NSLICE_SITE_* */
	u16 name_bytes, file_bytes; /* with terminators */
	char text[];                /* name, file */
};

static DEFINE_MUTEX(lock);
static struct known_site *known[NSMOD_KERNEL_IDS];
static atomic_t next = ATOMIC_INIT(0);
static atomic64_t unnamed = ATOMIC64_INIT(0);
static LLIST_HEAD(fresh); /* sites not copied yet */
static struct llist_node *met; /* those copied, of loaded modules; under the lock */
static DECLARE_BITMAP(off, NSMOD_KERNEL_IDS); /* sites that are off, by index */
static atomic_t meeting = ATOMIC_INIT(0); /* writers that are adding a site */
static u32 changes;       /* number of changes of `known`, under the lock */

DEFINE_STATIC_KEY_FALSE(nslice_kernel_key);
EXPORT_SYMBOL_GPL(nslice_kernel_key);

static struct known_site *copy_of(const char *name, const char *file, u32 line, u8 kind, u8 flags)
{
	const u16 name_bytes = strnlen(name, MAX_TEXT_BYTES - 1) + 1, file_bytes = strnlen(file, MAX_TEXT_BYTES - 1) + 1;
	struct known_site *copy = kzalloc(struct_size(copy, text, name_bytes + file_bytes), GFP_KERNEL);

	if (!copy)
		return NULL;
	copy->line = line;
	copy->kind = kind;
	copy->flags = flags;
	copy->name_bytes = name_bytes;
	copy->file_bytes = file_bytes;
	memcpy(copy->text, name, name_bytes - 1);
	memcpy(copy->text + name_bytes, file, file_bytes - 1);
	return copy;
}

static u32 id_count(void)
{
	return min_t(u32, atomic_read(&next), NSMOD_KERNEL_IDS);
}

static bool is_same(const struct known_site *site, const char *name, const char *file, u32 line, u8 kind)
{
	return site && site->line == line && site->kind == kind && strncmp(site->text, name, MAX_TEXT_BYTES - 1) == 0 &&
	       strncmp(site->text + site->name_bytes, file, MAX_TEXT_BYTES - 1) == 0;
}

/* Any context: copies never change once they are published.  0: unknown site. */
static u16 known_id(const char *name, const char *file, u32 line, u8 kind)
{
	u32 i;

	for (i = 0; i < id_count(); ++i)
		if (is_same(smp_load_acquire(&known[i]), name, file, line, kind)) /* pairs with the release in keep() */
			return NSLICE_KERNEL_FIRST_ID + i;
	return 0;
}

static void keep(u32 index, struct known_site *copy)
{
	smp_store_release(&known[index], copy); /* pairs with the acquire in known_id() */
	++changes;
}

/* Any context.  0: none left. */
static u16 new_id(void)
{
	const u32 index = atomic_inc_return(&next) - 1;

	if (index < NSMOD_KERNEL_IDS)
		return NSLICE_KERNEL_FIRST_ID + index;
	atomic_dec(&next);
	atomic64_inc(&unnamed);
	return 0;
}

u16 nsmod_kernel_site_id(const char *name, const char *file, u32 line, u8 kind, u8 flags)
{
	u16 id;

	mutex_lock(&lock);
	id = known_id(name, file, line, kind);
	if (!id) {
		id = new_id();
		if (id)
			keep(id - NSLICE_KERNEL_FIRST_ID, copy_of(name, file, line, kind, flags));
	}
	mutex_unlock(&lock);
	return id;
}

/* Without memory the site is counted as unnamed. */
static void keep_copy_of(u32 index, const struct nslice_kernel_site *site)
{
	struct known_site *copy = copy_of(site->name, site->file, site->line, site->kind, 0);

	if (copy)
		keep(index, copy);
	else
		atomic64_inc(&unnamed);
}

/* Under the lock. */
static void copy_fresh(void)
{
	struct nslice_kernel_site *site, *after;
	struct llist_node *list = llist_del_all(&fresh);

	llist_for_each_entry_safe(site, after, list, node) {
		const u32 index = site->id - NSLICE_KERNEL_FIRST_ID;

		if (index < NSMOD_KERNEL_IDS && !known[index])
			keep_copy_of(index, site);
		site->node.next = met;
		met = &site->node;
	}
}

/*
 * Assigns the id and adds the site to the list.  If two writers do so
 * concurrently, the second one's new id stays unused.  0: no ids left.
 */
static u16 hand_over(struct nslice_kernel_site *site, u16 before)
{
	const u16 id = before ? before : new_id(), first = id ? cmpxchg(&site->id, 0, id) : 0;

	if (first)
		return first;
	if (id)
		llist_add(&site->node, &fresh);
	return id;
}

/* Concurrent users of a site decide alike. */
static u64 decide(struct nslice_kernel_site *site, u16 id)
{
	const u64 bits = NSMOD_BITS(id, site->kind, site->words);

	if (id && !nsmod_kernel_is_selected(site->kind, site->name)) {
		set_bit(id - NSLICE_KERNEL_FIRST_ID, off);
		return 0;
	}
	WRITE_ONCE(site->bits, bits);
	return bits;
}

/*
 * Any context: concurrent first users of a site agree on one id.  As soon as
 * the site has the id, others write records with it, so the drain waits until
 * the site is also in the list; preemption is off meanwhile to keep this short.
 */
noinline u64 nsmod_kernel_site_meet(struct nslice_kernel_site *site)
{
	u16 id = READ_ONCE(site->id), before;
	u64 bits;

	if (id && test_bit(id - NSLICE_KERNEL_FIRST_ID, off))
		return 0;
	before = id ? 0 : known_id(site->name, site->file, site->line, site->kind);
	preempt_disable_notrace();
	atomic_inc(&meeting);
	/* pairs with the acquire of a ring's head: a drain that sees a record of the site sees `meeting` */
	smp_mb__after_atomic();
	if (!id)
		id = hand_over(site, before);
	bits = decide(site, id);
	smp_mb__before_atomic(); /* pairs with the acquire in wait_for_meeting(): the site is in the list */
	atomic_dec(&meeting);
	preempt_enable_notrace();
	return bits;
}

/* Afterwards all sites whose records have been seen are in the list. */
static void wait_for_meeting(void)
{
	while (atomic_read_acquire(&meeting) > 0) /* pairs with the decrement in nsmod_kernel_site_meet() */
		cpu_relax();
}

void nsmod_kernel_sites_decide_again(void)
{
	struct nslice_kernel_site *site;

	mutex_lock(&lock);
	copy_fresh();
	bitmap_zero(off, NSMOD_KERNEL_IDS);
	llist_for_each_entry(site, met, node)
		WRITE_ONCE(site->bits, 0);
	mutex_unlock(&lock);
}

/* Under the lock. */
static void forget_sites_of(const struct module *module)
{
	struct llist_node **at = &met;

	while (*at) {
		if (within_module((unsigned long)*at, module))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

/* Copies the names of a module's sites before the module is unloaded. */
static int module_changed(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == MODULE_STATE_GOING) {
		mutex_lock(&lock);
		copy_fresh();
		forget_sites_of(data);
		mutex_unlock(&lock);
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = module_changed };

int nsmod_kernel_sites_init(void)
{
	return register_module_notifier(&module_notifier);
}

void nsmod_kernel_sites_exit(void)
{
	u32 i;

	unregister_module_notifier(&module_notifier);
	for (i = 0; i < NSMOD_KERNEL_IDS; ++i)
		kfree(known[i]);
}

static u32 entry_bytes(const struct known_site *site)
{
	return sizeof(struct nslice_file_site) + ALIGN(site->name_bytes + site->file_bytes, 8);
}

static void write_entry(const struct known_site *site, u32 index, void *to)
{
	const struct nslice_file_site head = {
		.slice_id = NSLICE_KERNEL_FIRST_ID + index,
		.kind = site->kind,
		.flags = site->flags,
		.line = site->line,
		.name_bytes = site->name_bytes,
		.file_bytes = site->file_bytes,
	};

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), site->text, site->name_bytes + site->file_bytes);
}

/* Writes as many sites as fit into one chunk.  1: there may be more; 0, or -ENOMEM. */
static int write_chunk(struct nsmod_output *output, struct nsmod_written_sites *written)
{
	void *payload = kvzalloc(NSLICE_MAX_PAYLOAD_BYTES, GFP_KERNEL);
	u32 bytes = 0, i;
	int err;

	if (!payload)
		return -ENOMEM;
	for (i = 0; i < id_count(); ++i) {
		if (!known[i] || test_bit(i, written->ids))
			continue;
		if (bytes + entry_bytes(known[i]) > NSLICE_MAX_PAYLOAD_BYTES)
			break;
		write_entry(known[i], i, payload + bytes);
		bytes += entry_bytes(known[i]);
		__set_bit(i, written->ids);
	}
	err = bytes > 0 ? nsmod_output_small(output, NSLICE_CHUNK_KERNEL_SITES, payload, bytes) : 0;
	if (err)
		bitmap_zero(written->ids, NSMOD_KERNEL_IDS); /* write all again */
	kvfree(payload);
	return err ? err : i < id_count();
}

int nsmod_kernel_sites_write(struct nsmod_output *output, struct nsmod_written_sites *written)
{
	int more;

	wait_for_meeting();
	mutex_lock(&lock);
	copy_fresh();
	more = written->seen != changes;
	while (more > 0)
		more = write_chunk(output, written);
	if (!more)
		written->seen = changes;
	mutex_unlock(&lock);
	return more;
}

u64 nsmod_kernel_sites_unnamed(void)
{
	return atomic64_read(&unnamed);
}
