// SPDX-License-Identifier: GPL-2.0
/* nsmod: rings that outlive instrumented programs, kernel probes, and traces of both. */
#include <linux/init.h>
#include <linux/module.h>

#include "device/device.h"
#include "kernel/kernel_sites.h"
#include "session/session.h"

static int __init nsmod_init(void)
{
	int err = nsmod_kernel_sites_init();

	if (err)
		return err;
	err = nsmod_sessions_init();
	if (err)
		goto no_sessions;
	err = nsmod_device_init();
	if (err)
		goto no_device;
	return 0;

no_device:
	nsmod_sessions_exit();
no_sessions:
	nsmod_kernel_sites_exit();
	return err;
}

static void __exit nsmod_exit(void)
{
	nsmod_device_exit();
	nsmod_sessions_exit();
	nsmod_kernel_sites_exit();
}

module_init(nsmod_init);
module_exit(nsmod_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The NetSlice maintainers");
MODULE_DESCRIPTION("NetSlice: per-packet instruction and cycle records of programs and of the kernel");
MODULE_VERSION(NSMOD_RELEASE);
