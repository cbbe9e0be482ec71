/* SPDX-License-Identifier: MIT */
/* Trace file: its structures, which the kernel module writes as well. */
#ifndef NSPROBE_FILE_H
#define NSPROBE_FILE_H

#include <nslice/file.h>

#endif /* NSPROBE_FILE_H */
