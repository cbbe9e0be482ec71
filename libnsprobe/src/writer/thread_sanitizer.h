/* SPDX-License-Identifier: MIT */
/*
 * Order between threads, for ThreadSanitizer.  If the program is built with it but
 * this library is not, ThreadSanitizer sees the library's calls into the C library
 * (memcpy(), writev()) but none of its atomics, and would report what they order as
 * races.  If the library is built with it as well, no annotation is required.
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

#include <stddef.h>

#ifdef NSP_IS_INSTRUMENTED

static inline int nsp_has_thread_sanitizer(void)
{
    return 1;
}

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

/* Whether ThreadSanitizer sees the C library's calls of this process. */
static inline int nsp_has_thread_sanitizer(void)
{
    return __tsan_release != NULL;
}

/* Call before the store that publishes the caller's writes. */
static inline void nsp_tell_release(const void *address)
{
    if (__tsan_release)
        __tsan_release((void *)address);
}

/* Call after the load that has seen that store. */
static inline void nsp_tell_acquire(const void *address)
{
    if (__tsan_acquire)
        __tsan_acquire((void *)address);
}

#endif

#endif /* NSP_THREAD_SANITIZER_H */
