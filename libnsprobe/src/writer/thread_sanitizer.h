/* SPDX-License-Identifier: MIT */
/*
 * Order between threads, told to ThreadSanitizer.  In a program built with it
 * beside this library built without, it sees what the library does through the
 * C library (memcpy(), writev()) but none of its atomics, and would take what
 * they order for races.  Built with it, the library needs no words.
 */
#ifndef NSP_THREAD_SANITIZER_H
#define NSP_THREAD_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define NSP_IS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NSP_IS_INSTRUMENTED 1
#endif
#endif

#ifdef NSP_IS_INSTRUMENTED

static inline void nsp_tell_release(const void *address)
{
    (void)address;
}

static inline void nsp_tell_acquire(const void *address)
{
    (void)address;
}

#else

extern void __tsan_release(void *address) __attribute__((weak));
extern void __tsan_acquire(void *address) __attribute__((weak));

/* Before the store that shows others what the caller has written. */
static inline void nsp_tell_release(const void *address)
{
    if (__tsan_release)
        __tsan_release((void *)address);
}

/* After the load that has seen that store. */
static inline void nsp_tell_acquire(const void *address)
{
    if (__tsan_acquire)
        __tsan_acquire((void *)address);
}

#endif

#endif /* NSP_THREAD_SANITIZER_H */
