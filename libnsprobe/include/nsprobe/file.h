/* SPDX-License-Identifier: MIT */
/* Structures of the trace file, shared with the kernel module. */
#ifndef NSPROBE_FILE_H
#define NSPROBE_FILE_H

#include <nslice/file.h>

#endif /* NSPROBE_FILE_H */
