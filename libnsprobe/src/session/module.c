/* SPDX-License-Identifier: MIT */
/* /dev/nsmod -> sessions whose memory outlives the process. */
#define _GNU_SOURCE
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nslice/control.h>

#include "error.h"

static int refuse_open(void)
{
    switch (errno) {
    case ENOENT:
    case ENXIO:
    case ENODEV:
        return nsp_fail(-ENODEV, "there is no " NSLICE_DEVICE
                                 ": the kernel module nsmod is not loaded (modprobe nsmod)");
    case EACCES:
    case EPERM:
        return nsp_fail(-EACCES, NSLICE_DEVICE
                        ": permission denied: requires root or the group " NSLICE_DEVICE_GROUP " "
                        "(usermod -aG " NSLICE_DEVICE_GROUP " USER, then log in again)");
    default: return nsp_fail(-errno, NSLICE_DEVICE ": cannot open: %s", strerror(errno));
    }
}

static int check_version(int fd)
{
    struct nslice_version_request version = {.size = sizeof(version)};

    if (ioctl(fd, NSLICE_IOC_VERSION, &version))
        return nsp_fail(-EPROTO, NSLICE_DEVICE ": is not the device of the kernel module nsmod: %s",
                        strerror(errno));
    version.release[sizeof(version.release) - 1] = 0;
    if (version.control != NSLICE_CONTROL_VERSION || version.abi != NSLICE_ABI_VERSION)
        return nsp_fail(-EPROTO,
                        "the kernel module nsmod has release %s (control version %u, record "
                        "version %u), this library of "
                        "release " NETSLICE_VERSION
                        " supports %u and %u: load a module of the same release",
                        version.release, version.control, version.abi, NSLICE_CONTROL_VERSION,
                        NSLICE_ABI_VERSION);
    return 0;
}

int nsp_module_open(void)
{
    const int fd = open(NSLICE_DEVICE, O_RDWR | O_CLOEXEC);
    int err;

    if (fd < 0)
        return refuse_open();
    err = check_version(fd);
    if (!err)
        return fd;
    close(fd);
    return err;
}

static int refuse_session(uint64_t ring_bytes)
{
    switch (errno) {
    case EMFILE:
        return nsp_fail(-EMFILE, "the kernel module nsmod has reached its limit of sessions "
                                 "(module parameter max_sessions)");
    case ENOMEM:
        return nsp_fail(-ENOMEM,
                        "the kernel module nsmod is out of memory for rings of %llu bytes on each "
                        "CPU (use smaller rings)",
                        (unsigned long long)ring_bytes);
    default:
        return nsp_fail(-errno, "the kernel module nsmod cannot create a session: %s",
                        strerror(errno));
    }
}

int nsp_module_session(uint64_t ring_bytes, uint32_t flags, int *fd, uint32_t *cpus)
{
    struct nslice_session_request request = {
        .size = sizeof(request), .flags = flags, .ring_bytes = ring_bytes};
    const int opened = nsp_module_open();
    int err;

    if (opened < 0)
        return opened;
    if (ioctl(opened, NSLICE_IOC_SESSION, &request)) {
        err = refuse_session(ring_bytes);
        close(opened);
        return err;
    }
    *fd = opened;
    *cpus = request.cpus;
    return 0;
}

int nsp_module_has(int fd)
{
    struct nslice_version_request version = {.size = sizeof(version)};

    return ioctl(fd, NSLICE_IOC_VERSION, &version) == 0;
}

void nsp_module_end(int fd)
{
    ioctl(fd, NSLICE_IOC_END);
}
