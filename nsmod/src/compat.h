/* SPDX-License-Identifier: GPL-2.0 */
/* The one place that knows how kernels differ.  From 6.1 on; older ones are refused by the Makefile, in words. */
#ifndef NSMOD_COMPAT_H
#define NSMOD_COMPAT_H

#include <linux/fs.h>
#include <linux/splice.h>
#include <linux/version.h>

/* 6.5: copy_splice_read() takes over from generic_file_splice_read() for files without a page cache */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define nsmod_splice_read copy_splice_read
#else
#define nsmod_splice_read generic_file_splice_read
#endif

/* 6.12: no_llseek is gone, a NULL operation does the same */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define nsmod_no_llseek NULL
#else
#define nsmod_no_llseek no_llseek
#endif

/* 6.11: the tracepoint consume_skb also tells the place */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define NSMOD_CONSUME_SKB_LOCATION , void *location
#else
#define NSMOD_CONSUME_SKB_LOCATION
#endif

#endif /* NSMOD_COMPAT_H */
