/* SPDX-License-Identifier: GPL-2.0 */
/* Records with fences or counters. */
#ifndef NSMOD_KERNEL_GENERAL_H
#define NSMOD_KERNEL_GENERAL_H

#include <linux/types.h>

/*
 * To be called before the first and after the last record.  Without fences and
 * counters the key stays off and the plain path is used.
 */
void nsmod_general_begin(bool is_ordered, bool is_counted);
void nsmod_general_end(void);

#endif /* NSMOD_KERNEL_GENERAL_H */
