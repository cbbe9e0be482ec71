/* SPDX-License-Identifier: MIT */
/* A thread's first call with a replaced return address -> bounds of its stack, block of entries. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "inside.h"

static uint32_t is_taken[NSF_BLOCKS];
static pthread_key_t at_exit;
static int has_key;

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

static void use_block(struct nsf_thread *thread, struct nsf_entry *block)
{
    const uint64_t bytes = find_stack(&thread->low);

    thread->free = (uint64_t *)(thread->low + bytes - sizeof(uint64_t));
    for (uint32_t i = 0; i < NSF_BLOCK_ENTRIES; ++i)
        block[i].where = thread->free;
    thread->top = block;
    thread->limit = block + NSF_BLOCK_ENTRIES - 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->bytes = bytes;
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
    struct nsf_entry *const block = has_key ? take_block() : NULL;

    if (block && pthread_setspecific(at_exit, block) == 0)
        use_block(&nsf_this_thread, block);
    else if (block)
        give_back(block);
    errno = errno_before;
}

void nsf_prepare_calibration(void)
{
    const int errno_before = errno;

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
    has_key = pthread_key_create(&at_exit, give_back) == 0;
    pthread_atfork(NULL, NULL, in_child);
    /* Of the main thread now: it allocates, and the program's first call may be from a handler. */
    nsf_prepare_thread();
}
