/* SPDX-License-Identifier: MIT */
/* The kernel module's device, for tools. */
#include <nsprobe/nsmod.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "session/error.h"
#include "session/module.h"

/* A single request on a descriptor of its own.  Returns 0 or -errno. */
static int ask(unsigned long command, void *request)
{
    const int fd = nsp_module_open();
    int err = 0;

    if (fd < 0)
        return fd;
    if (ioctl(fd, command, request))
        err = nsp_fail(-errno, NSLICE_DEVICE ": %s", strerror(errno));
    close(fd);
    return err;
}

int nsp_nsmod_sessions(struct nslice_session_entry *entries, uint32_t room, uint32_t *count)
{
    struct nslice_list_request request = {
        .size = sizeof(request), .room = room, .entries = (uintptr_t)entries};
    const int err = ask(NSLICE_IOC_LIST, &request);

    *count = err ? 0 : request.count;
    return err;
}

int nsp_nsmod_groups(char **text)
{
    struct nslice_text_request request = {.size = sizeof(request)};
    int err = ask(NSLICE_IOC_GROUPS, &request);

    if (err)
        return err;
    *text = calloc(1, (size_t)request.bytes + 1);
    if (!*text)
        return nsp_fail(-ENOMEM, "out of memory");
    request.room = request.bytes;
    request.text = (uintptr_t)*text;
    err = ask(NSLICE_IOC_GROUPS, &request);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}

#define MEASURED_BYTES 65536u /* far more than the text requires */

static int refuse_measure(uint32_t cpu)
{
    switch (errno) {
    case EPERM:
        return nsp_fail(-EPERM, "nsmod: permission denied: measuring requires root or CAP_PERFMON");
    case ENOTTY: return nsp_fail(-ENOTTY, "nsmod: this version is too old to measure");
    case ENODEV:
    case ENXIO: return nsp_fail(-ENXIO, "nsmod: cannot measure on CPU %u: it is offline", cpu);
    default: return nsp_fail(-errno, "nsmod: cannot measure: %s", strerror(errno));
    }
}

/* Asks only once: measuring takes time, and each answer differs. */
int nsp_nsmod_measure(uint32_t cpu, uint32_t batches, char **text)
{
    struct nslice_measure_request request = {
        .size = sizeof(request), .room = MEASURED_BYTES, .cpu = cpu, .batches = batches};
    const int fd = nsp_module_open();
    int err = 0;

    if (fd < 0)
        return fd;
    *text = calloc(1, MEASURED_BYTES + 1);
    request.text = (uintptr_t)*text;
    if (!*text)
        err = nsp_fail(-ENOMEM, "out of memory");
    else if (ioctl(fd, NSLICE_IOC_MEASURE, &request))
        err = refuse_measure(cpu);
    else if (request.bytes > MEASURED_BYTES)
        err = nsp_fail(-E2BIG, "nsmod: its answer is longer than this library supports");
    close(fd);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}

static int refuse(uint32_t session, uint32_t flags)
{
    switch (errno) {
    case ENOENT:
        return nsp_fail(
            -ENOENT, "session %u: no such session in the kernel module nsmod (it may have ended)",
            session);
    case EBUSY:
        return nsp_fail(
            -EBUSY, "session %u: already has a reader, or its process drains it into its own file",
            session);
    case EINVAL:
        return nsp_fail(
            -EINVAL, "session %u: %s", session,
            flags & NSLICE_READER_SNAPSHOT
                ? "is not a flight recorder (its program must run with NETSLICE=full=overwrite)"
                : "cannot be read this way");
    case EACCES:
        return nsp_fail(
            -EACCES,
            "session %u: permission denied: belongs to another user (requires CAP_SYS_PTRACE)",
            session);
    default: return nsp_fail(-errno, "session %u: cannot read: %s", session, strerror(errno));
    }
}

int nsp_nsmod_read_session(uint32_t session, uint32_t flags)
{
    struct nslice_reader_request request = {
        .size = sizeof(request), .flags = flags, .session = session};
    const int fd = nsp_module_open();
    int err;

    if (fd < 0 || ioctl(fd, NSLICE_IOC_READER, &request) == 0)
        return fd;
    err = refuse(session, flags);
    close(fd);
    return err;
}
