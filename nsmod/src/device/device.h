/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/nsmod: open files and their roles. */
#ifndef NSMOD_DEVICE_H
#define NSMOD_DEVICE_H

int nsmod_device_init(void);
void nsmod_device_exit(void);

#endif /* NSMOD_DEVICE_H */
