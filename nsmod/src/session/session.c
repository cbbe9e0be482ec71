// SPDX-License-Identifier: GPL-2.0
/*
 * The list of sessions.  A session lives while a process has it open or mapped.
 * Records left in its rings then wait for a reader.  The number of waiting
 * sessions is limited (parameter keep_sessions); the oldest is evicted first.
 */
#include "session/session.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <nslice/ring.h>

#define WATCH_JIFFIES (HZ / 10)

static unsigned int keep_sessions = 4;
module_param(keep_sessions, uint, 0644);
MODULE_PARM_DESC(keep_sessions, "maximum number of sessions of ended processes per user that wait for a reader (default 4)");

static unsigned int max_sessions = 64;
module_param(max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "maximum number of sessions per user (default 64)");

static unsigned long sessions_dropped;
module_param(sessions_dropped, ulong, 0444);
MODULE_PARM_DESC(sessions_dropped, "sessions dropped without having been read");

static DEFINE_MUTEX(lock);
static LIST_HEAD(sessions); /* oldest first */
static u32 next_id = 1;
DECLARE_WAIT_QUEUE_HEAD(nsmod_sessions_changed);

static void watch(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch);

static int read_data(const struct nsmod_drained_ring *ring, u64 offset, void *to, u64 bytes)
{
	const struct nsmod_memory *memory = ring->memory;

	return nsmod_memory_read(memory, NSLICE_SESSION_RING_OFFSET(ring->cpu, memory->ring_bytes) + NSLICE_RING_META_BYTES + offset,
				 to, bytes);
}

static int clear_data(const struct nsmod_drained_ring *ring, u64 offset, u64 bytes)
{
	const struct nsmod_memory *memory = ring->memory;

	return nsmod_memory_clear(memory, NSLICE_SESSION_RING_OFFSET(ring->cpu, memory->ring_bytes) + NSLICE_RING_META_BYTES + offset,
				  bytes);
}

static const struct nsmod_ring_data_ops session_data = { .read = read_data, .clear = clear_data };

static void free_session(struct kref *ref)
{
	struct nsmod_session *session = container_of(ref, struct nsmod_session, ref);

	nsmod_memory_destroy(&session->memory);
	kvfree(session->rings);
	kfree(session);
}

void nsmod_session_put(struct nsmod_session *session)
{
	kref_put(&session->ref, free_session);
}

static int create_rings(struct nsmod_session *session)
{
	u32 cpu;

	session->rings = kvcalloc(session->memory.cpus, sizeof(*session->rings), GFP_KERNEL_ACCOUNT);
	if (!session->rings)
		return -ENOMEM;
	for (cpu = 0; cpu < session->memory.cpus; ++cpu) {
		struct nsmod_drained_ring *ring = &session->rings[cpu];

		ring->meta = nsmod_memory_ring(&session->memory, cpu);
		ring->data = &session_data;
		ring->memory = &session->memory;
		ring->ring_bytes = session->memory.ring_bytes;
		ring->cpu = cpu;
		ring->chunk_kind = NSLICE_CHUNK_RECORDS;
	}
	return 0;
}

/* Under the lock. */
static unsigned int sessions_of(kuid_t uid)
{
	const struct nsmod_session *session;
	unsigned int count = 0;

	list_for_each_entry(session, &sessions, node)
		count += uid_eq(session->uid, uid);
	return count;
}

static int add_to_list(struct nsmod_session *session)
{
	int err = 0;

	mutex_lock(&lock);
	if (sessions_of(session->uid) >= READ_ONCE(max_sessions)) {
		err = -EMFILE;
	} else {
		session->id = next_id++;
		if (next_id == 0)
			next_id = 1;
		kref_get(&session->ref); /* held by the list */
		list_add_tail(&session->node, &sessions);
		__module_get(THIS_MODULE); /* must not be unloaded while processes have it mapped */
		session->holds_module = true;
		schedule_delayed_work(&watch_work, WATCH_JIFFIES);
	}
	mutex_unlock(&lock);
	return err;
}

struct nsmod_session *nsmod_session_create(u64 ring_bytes, u32 flags)
{
	struct nsmod_session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	int err;

	if (!session)
		return ERR_PTR(-ENOMEM);
	kref_init(&session->ref);
	INIT_LIST_HEAD(&session->node);
	session->flags = flags;
	session->pid = task_tgid_nr(current);
	session->uid = current_euid();
	get_task_comm(session->command, current);
	err = nsmod_memory_create(&session->memory, nr_cpu_ids, ring_bytes);
	if (!err)
		err = create_rings(session);
	if (!err)
		err = add_to_list(session);
	if (err) {
		nsmod_session_put(session);
		return ERR_PTR(err);
	}
	wake_up_interruptible(&nsmod_sessions_changed);
	return session;
}

/* Under the lock.  Also drops the list's reference. */
static void remove_from_list(struct nsmod_session *session)
{
	if (session->is_gone)
		return;
	session->is_gone = true;
	list_del_init(&session->node);
	nsmod_session_put(session);
}

static u32 records_in_rings(const struct nsmod_session *session)
{
	u64 records = 0;
	u32 cpu;

	for (cpu = 0; cpu < session->memory.cpus; ++cpu) {
		const struct nslice_ring_meta *meta = nsmod_memory_ring(&session->memory, cpu);
		const u64 there = READ_ONCE(meta->head) - READ_ONCE(meta->tail);

		if (NSLICE_POSITION_WORDS(there) <= session->memory.ring_bytes / NSLICE_WORD_BYTES)
			records += NSLICE_POSITION_RECORDS(there);
	}
	return min_t(u64, records, U32_MAX);
}

static bool takes_part(const struct nsmod_session *session)
{
	return READ_ONCE(nsmod_memory_header(&session->memory)->joined) > 0;
}

/* Under the lock: no writers are left.  Keeps the session only if there is something to read. */
static void over(struct nsmod_session *session)
{
	session->is_over = true;
	if (session->holds_module) {
		session->holds_module = false;
		module_put(THIS_MODULE);
	}
	if (session->has_reader)
		return;
	if (!takes_part(session) || (!(session->flags & NSLICE_SESSION_DRAINED) && records_in_rings(session) == 0))
		remove_from_list(session);
}

/* Under the lock. */
static bool is_waiting(const struct nsmod_session *session)
{
	return session->is_over && !session->has_reader;
}

/* Under the lock. */
static unsigned int waiting_of(kuid_t uid)
{
	const struct nsmod_session *session;
	unsigned int waiting = 0;

	list_for_each_entry(session, &sessions, node)
		waiting += is_waiting(session) && uid_eq(session->uid, uid);
	return waiting;
}

/* Under the lock.  The limit is per user, so that users cannot evict each other's sessions. */
static void drop_too_many(void)
{
	struct nsmod_session *session, *next;

	list_for_each_entry_safe(session, next, &sessions, node) {
		if (!is_waiting(session) || waiting_of(session->uid) <= READ_ONCE(keep_sessions))
			continue;
		++sessions_dropped;
		remove_from_list(session);
	}
}

/* Under the lock: checks whether there are still writers. */
static void look_for_end(struct nsmod_session *session)
{
	if (session->is_over || !session->is_released)
		return;
	/* After END the rings are closed; the mapping may be kept for a thread preempted in a probe. */
	if (!session->ended_in_order && nsmod_memory_is_mapped(&session->memory))
		return;
	over(session);
	wake_up_interruptible(&nsmod_sessions_changed);
}

/* Positions are ambiguous beyond 2^32 words, so rings without a reader are checked regularly. */
static void watch_rings(struct nsmod_session *session)
{
	u32 cpu;

	for (cpu = 0; cpu < session->memory.cpus; ++cpu)
		nsmod_ring_watch(&session->rings[cpu]);
}

static bool is_overwrite(const struct nsmod_session *session)
{
	return READ_ONCE(nsmod_memory_header(&session->memory)->full) == NSLICE_FULL_OVERWRITE;
}

static bool needs_watch(const struct nsmod_session *session)
{
	return !session->has_reader && !session->is_over && ((session->flags & NSLICE_SESSION_DRAINED) || is_overwrite(session));
}

static void watch(struct work_struct *work)
{
	struct nsmod_session *session, *next;
	bool is_any_alive = false;

	mutex_lock(&lock);
	list_for_each_entry_safe(session, next, &sessions, node) {
		if (needs_watch(session))
			watch_rings(session);
		is_any_alive |= !session->is_over;
		look_for_end(session);
	}
	drop_too_many();
	if (is_any_alive)
		schedule_delayed_work(&watch_work, WATCH_JIFFIES);
	mutex_unlock(&lock);
}

void nsmod_session_end(struct nsmod_session *session)
{
	mutex_lock(&lock);
	session->ended_in_order = true;
	mutex_unlock(&lock);
}

void nsmod_session_release(struct nsmod_session *session)
{
	mutex_lock(&lock);
	session->is_released = true;
	look_for_end(session);
	drop_too_many();
	mutex_unlock(&lock);
	nsmod_session_put(session);
}

struct nsmod_rights nsmod_rights_of_caller(void)
{
	return (struct nsmod_rights){ .uid = current_euid(), .reads_all = capable(CAP_SYS_PTRACE) };
}

static bool may_read(const struct nsmod_session *session, const struct nsmod_rights *rights)
{
	return rights->reads_all || uid_eq(session->uid, rights->uid);
}

/* Under the lock. */
static int check_adoptable(const struct nsmod_session *session, const struct nsmod_rights *rights)
{
	if (!may_read(session, rights))
		return -EACCES;
	if (session->has_reader)
		return -EBUSY;
	return session->is_over || (session->flags & NSLICE_SESSION_DRAINED) ? 0 : -EBUSY;
}

/* Under the lock. */
static struct nsmod_session *find(u32 id, const struct nsmod_rights *rights)
{
	struct nsmod_session *session;

	list_for_each_entry(session, &sessions, node)
		if (id ? session->id == id : check_adoptable(session, rights) == 0)
			return session;
	return NULL;
}

/* The process's own drain has written the earlier records: this drain begins where that ended. */
static void begin_at_tails(struct nsmod_session *session)
{
	u32 cpu;

	for (cpu = 0; cpu < session->memory.cpus; ++cpu) {
		struct nsmod_drained_ring *ring = &session->rings[cpu];

		ring->tail = READ_ONCE(ring->meta->tail);
		ring->head = ring->tail;
	}
}

struct nsmod_session *nsmod_session_adopt(u32 id, bool is_snapshot, const struct nsmod_rights *rights)
{
	struct nsmod_session *session;
	int err;

	mutex_lock(&lock);
	session = find(id, rights);
	err = !session ? -ENOENT : is_snapshot && may_read(session, rights) ? 0 : check_adoptable(session, rights);
	if (!err) {
		kref_get(&session->ref);
		if (!is_snapshot) {
			session->has_reader = true;
			if (!(session->flags & NSLICE_SESSION_DRAINED) && !is_overwrite(session))
				begin_at_tails(session);
		}
	}
	mutex_unlock(&lock);
	return err ? ERR_PTR(err) : session;
}

struct nsmod_drained_ring *nsmod_session_copy_rings(struct nsmod_session *session)
{
	const size_t bytes = session->memory.cpus * sizeof(*session->rings);
	struct nsmod_drained_ring *copy = kvmalloc(bytes, GFP_KERNEL);

	if (!copy)
		return NULL;
	mutex_lock(&lock);
	memcpy(copy, session->rings, bytes);
	mutex_unlock(&lock);
	return copy;
}

/* Under the lock.  If the reader took nothing and did not finish, the next one gets everything. */
static void leave_to_next(struct nsmod_session *session, bool is_drained)
{
	bool was_read = is_drained;
	u32 cpu;

	for (cpu = 0; cpu < session->memory.cpus; ++cpu)
		was_read |= session->rings[cpu].chunks > 0;
	for (cpu = 0; cpu < session->memory.cpus && was_read; ++cpu)
		nsmod_ring_begin_anew(&session->rings[cpu]);
}

void nsmod_session_leave(struct nsmod_session *session, bool is_drained)
{
	mutex_lock(&lock);
	session->has_reader = false;
	if (session->is_over && is_drained)
		remove_from_list(session);
	else
		leave_to_next(session, is_drained);
	drop_too_many();
	mutex_unlock(&lock);
	nsmod_session_put(session);
	wake_up_interruptible(&nsmod_sessions_changed);
}

bool nsmod_session_is_over(struct nsmod_session *session)
{
	bool is_over;

	mutex_lock(&lock);
	look_for_end(session);
	is_over = session->is_over;
	mutex_unlock(&lock);
	return is_over;
}

bool nsmod_session_ended_in_order(struct nsmod_session *session)
{
	return READ_ONCE(session->ended_in_order);
}

static void fill_entry(const struct nsmod_session *session, struct nslice_session_entry *entry)
{
	BUILD_BUG_ON(sizeof(entry->command) != sizeof(session->command));
	memset(entry, 0, sizeof(*entry));
	entry->id = session->id;
	entry->pid = session->pid;
	entry->uid = from_kuid_munged(current_user_ns(), session->uid);
	entry->flags = session->flags;
	entry->flags |= session->is_over ? NSLICE_ENTRY_OVER : 0;
	entry->flags |= session->has_reader ? NSLICE_ENTRY_READ : 0;
	if (is_overwrite(session))
		entry->flags |= NSLICE_ENTRY_OVERWRITE;
	entry->ring_bytes = session->memory.ring_bytes;
	entry->records = records_in_rings(session);
	memcpy(entry->command, session->command, sizeof(entry->command));
}

u32 nsmod_session_list(struct nslice_session_entry *entries, u32 room)
{
	const struct nsmod_rights rights = nsmod_rights_of_caller();
	struct nsmod_session *session;
	u32 count = 0;

	mutex_lock(&lock);
	list_for_each_entry(session, &sessions, node) {
		if (!may_read(session, &rights))
			continue;
		if (count < room)
			fill_entry(session, &entries[count]);
		++count;
	}
	mutex_unlock(&lock);
	return count;
}

/*
 * The machine is out of memory and about to kill a process: first drops the sessions that wait for
 * a reader.  No process owns them, so killing would not free them.  Their pages are freed
 * immediately, the rest when their files are closed.
 */
static int drop_for_memory(struct notifier_block *block, unsigned long event, void *freed)
{
	struct nsmod_session *session, *next;

	if (!mutex_trylock(&lock))
		return NOTIFY_DONE;
	list_for_each_entry_safe(session, next, &sessions, node) {
		kref_get(&session->ref);
		look_for_end(session);
		if (!session->is_gone && is_waiting(session)) {
			*(unsigned long *)freed += nsmod_memory_give_back(&session->memory);
			++sessions_dropped;
			remove_from_list(session);
		}
		nsmod_session_put(session);
	}
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block oom_notifier = { .notifier_call = drop_for_memory };

int nsmod_sessions_init(void)
{
	return register_oom_notifier(&oom_notifier);
}

void nsmod_sessions_exit(void)
{
	struct nsmod_session *session, *next;

	unregister_oom_notifier(&oom_notifier);
	cancel_delayed_work_sync(&watch_work);
	mutex_lock(&lock);
	list_for_each_entry_safe(session, next, &sessions, node)
		remove_from_list(session);
	mutex_unlock(&lock);
}
