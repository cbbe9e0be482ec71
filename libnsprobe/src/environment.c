/* SPDX-License-Identifier: MIT */
/* Machine, program and session -> the INFO text of a trace. */
#define _GNU_SOURCE
#include "environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* First line "name : value" of /proc/cpuinfo. */
static void cpu_model(char *model, size_t room)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];

    snprintf(model, room, "unknown");
    if (!file)
        return;
    while (fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && colon) {
            colon[strcspn(colon, "\n")] = 0;
            snprintf(model, room, "%s", colon + 2);
            break;
        }
    }
    fclose(file);
}

#if defined(__x86_64__)

#define ARCH_NAME "x86_64"
#define CLOCK_NAME "tsc"

static void hypervisor(char *name, size_t room)
{
    unsigned a, b, c, d, text[4] = {0};

    snprintf(name, room, "none");
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
        return;
    __cpuid(0x40000000, a, text[0], text[1], text[2]);
    snprintf(name, room, "%s", text[0] ? (const char *)text : "yes");
}

static int clock_is_invariant(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

#endif

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
    char model[128], virtualised[64], command[512];
    struct utsname kernel;
    struct timespec now;
    int length;

    cpu_model(model, sizeof(model));
    hypervisor(virtualised, sizeof(virtualised));
    command_line(command, sizeof(command));
    uname(&kernel);
    clock_gettime(CLOCK_REALTIME, &now);
    length = snprintf(text, room,
                      "writer.version=%s\nmachine.cpu=%s\nmachine.arch=%s\nmachine.cpus=%ld\n"
                      "machine.kernel=%s %s\nmachine.virtualised=%s\nprogram.command=%s\nprogram.pid=%d\n"
                      "clock.source=%s\nclock.mode=%s\nclock.invariant=%s\nclock.hz=%.0f\n"
                      "ring.kind=%s\nring.bytes=%llu\nring.full=%s\n"
                      "counters.source=%s\ncounters.names=%s\ncounters.step_every=%u\n"
                      "session.start_unix_ns=%lld\ncompiler=%s\n",
                      NETSLICE_VERSION, model, ARCH_NAME, sysconf(_SC_NPROCESSORS_ONLN), kernel.sysname,
                      kernel.release, virtualised, command, (int)getpid(), CLOCK_NAME, session->clock_mode,
                      clock_is_invariant() ? "yes" : "no", session->clock_hz, session->ring_kind,
                      (unsigned long long)session->ring_bytes, session->ring_full, session->counter_source,
                      session->counter_names, session->step_every,
                      (long long)now.tv_sec * 1000000000 + now.tv_nsec, __VERSION__);
    return length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}
