/* SPDX-License-Identifier: GPL-2.0 */
/* Requests allowed on any open file -> their answers. */
#ifndef NSMOD_REQUESTS_H
#define NSMOD_REQUESTS_H

#include <linux/compiler.h>

long nsmod_request_version(void __user *at);
long nsmod_request_list(void __user *at);
long nsmod_request_groups(void __user *at);
long nsmod_request_measure(void __user *at);

#endif /* NSMOD_REQUESTS_H */
