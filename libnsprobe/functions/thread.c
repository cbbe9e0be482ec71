/* SPDX-License-Identifier: MIT */
/* A thread's start -> bounds of its stack; its first recorded call -> block of entries. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "inside.h"

static uint32_t is_taken[NSF_BLOCKS];
static pthread_key_t at_exit;
static int has_key;

/* Values of later keys are allocated when they are set (glibc), which may be in a signal handler.
 */
#define KEYS_WITHOUT_ALLOCATION 32

/* 0 bytes: unknown. */
static __thread struct {
    uint64_t low, bytes;
} own_stack;

/* Returns the number of bytes of the calling thread's stack, 0 if unknown. */
static uint64_t find_stack(uint64_t *low)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    void *begin = NULL;

    if (pthread_getattr_np(pthread_self(), &attributes))
        return 0;
    if (pthread_attr_getstack(&attributes, &begin, &bytes))
        bytes = 0;
    pthread_attr_destroy(&attributes);
    *low = (uint64_t)begin;
    return bytes;
}

void nsf_begin_thread(void)
{
    own_stack.bytes = find_stack(&own_stack.low);
}

int nsf_stack_is_known(void)
{
    return own_stack.bytes > 0;
}

static void use_block(struct nsf_thread *thread, struct nsf_entry *block)
{
    thread->low = own_stack.low;
    thread->free = (uint64_t *)(thread->low + own_stack.bytes - sizeof(uint64_t));
    for (uint32_t i = 0; i < NSF_BLOCK_ENTRIES; ++i)
        block[i].where = thread->free;
    thread->top = block;
    thread->limit = block + NSF_BLOCK_ENTRIES - 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->bytes = own_stack.bytes;
}

static struct nsf_entry *take_block(void)
{
    for (uint32_t i = 0; i < NSF_BLOCKS; ++i)
        if (!__atomic_exchange_n(&is_taken[i], 1, __ATOMIC_ACQUIRE))
            return &nsf_entries[(size_t)i * NSF_BLOCK_ENTRIES];
    return NULL;
}

static void give_back(void *block)
{
    nsf_this_thread.bytes = 0; /* a later destructor's call takes a block again */
    __atomic_store_n(&is_taken[((struct nsf_entry *)block - nsf_entries) / NSF_BLOCK_ENTRIES], 0,
                     __ATOMIC_RELEASE);
}

void nsf_prepare_thread(void)
{
    const int errno_before = errno;
    struct nsf_entry *const block = has_key && nsf_stack_is_known() ? take_block() : NULL;

    if (block && pthread_setspecific(at_exit, block) == 0)
        use_block(&nsf_this_thread, block);
    else if (block)
        give_back(block);
    errno = errno_before;
}

void nsf_prepare_calibration(void)
{
    const int errno_before = errno;

    if (!nsf_stack_is_known())
        nsf_begin_thread(); /* not in a handler */
    use_block(&nsf_calibrating, nsf_calibration_entries);
    errno = errno_before;
}

/* The other threads' blocks: they are not in the child. */
static void in_child(void)
{
    const struct nsf_entry *const own = nsf_this_thread.bytes ? nsf_this_thread.limit : nsf_entries;

    for (uint32_t i = 0; i < NSF_BLOCKS; ++i)
        if (!nsf_this_thread.bytes || (own - nsf_entries) / NSF_BLOCK_ENTRIES != i)
            is_taken[i] = 0;
}

void nsf_threads_begin(void)
{
    has_key = pthread_key_create(&at_exit, give_back) == 0 && at_exit < KEYS_WITHOUT_ALLOCATION;
    pthread_atfork(NULL, NULL, in_child);
    nsf_begin_thread();
    nsf_prepare_thread(); /* of the main thread */
}
