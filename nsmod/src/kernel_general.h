/* SPDX-License-Identifier: GPL-2.0 */
/* How records are written beyond the plain way: fenced, counted. */
#ifndef NSMOD_KERNEL_GENERAL_H
#define NSMOD_KERNEL_GENERAL_H

#include <linux/types.h>

/* Before the first record, and after the last one.  Without anything to do the key stays off and the plain way is as lean as ever. */
void nsmod_general_begin(bool is_ordered, bool is_counted);
void nsmod_general_end(void);

#endif /* NSMOD_KERNEL_GENERAL_H */
