/* SPDX-License-Identifier: MIT */
/* Machine, program and session -> INFO text of a trace. */
#define _GNU_SOURCE
#include "environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/machine.h>

static void command_line(char *text, size_t room)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = 0;

    text[0] = 0;
    if (!file)
        return;
    length = fread(text, 1, room - 1, file);
    fclose(file);
    while (length > 0 && text[length - 1] == 0)
        --length;
    for (size_t i = 0; i < length; ++i)
        if (text[i] == 0 || text[i] == '\n')
            text[i] = ' ';
    text[length] = 0;
}

size_t nsp_environment_text(const struct nsp_environment *session, char *text, size_t room)
{
    char command[512];
    struct nsp_machine machine;
    struct utsname kernel;
    struct timespec now;
    int length;

    nsp_machine_read(&machine);
    command_line(command, sizeof(command));
    uname(&kernel);
    clock_gettime(CLOCK_REALTIME, &now);
    length = snprintf(
        text, room,
        "writer.version=%s\nmachine.cpu=%s\nmachine.arch=%s\nmachine.cpus=%ld\n"
        "machine.kernel=%s %s\nmachine.virtualised=%s\nprogram.command=%s\nprogram.pid=%d\n"
        "clock.source=%s\nclock.mode=%s\nclock.invariant=%s\nclock.hz=%.0f\n"
        "ring.kind=%s\nring.bytes=%llu\nring.full=%s\n"
        "counters.source=%s\ncounters.reason=%s\ncounters.names=%s\ncounters.step_every=%u\n"
        "session.slices=%s\nsession.thin_permille=%u\nsession.memory=%s\nsession.memory.reason=%s\n"
        "session.start_unix_ns=%lld\ncompiler=%s\n%s%s",
        NETSLICE_VERSION, machine.cpu_model, machine.arch, sysconf(_SC_NPROCESSORS_ONLN),
        kernel.sysname, kernel.release, machine.hypervisor, command, (int)getpid(), machine.clock,
        session->clock_mode, machine.clock_is_invariant ? "yes" : "no", session->clock_hz,
        session->ring_kind, (unsigned long long)session->ring_bytes, session->ring_full,
        session->counter_source, session->counter_reason, session->counter_names,
        session->step_every, session->slices, session->thin_permille, session->memory,
        session->memory_reason, (long long)now.tv_sec * 1000000000 + now.tv_nsec, __VERSION__,
        session->pid_namespace, session->surroundings);
    return length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}
