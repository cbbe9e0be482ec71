/* SPDX-License-Identifier: MIT */
/* Recorder: session memory passed to other processes, by inheritance or socket, drained here. */
#define _GNU_SOURCE
#include <nsprobe/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "connection.h"
#include "drain/drain.h"
#include "join.h"
#include "part.h"
#include "session/config.h"
#include "session/error.h"
#include "session/process.h"
#include "writer/emit.h"

#define GRACE_NS 2000000
#define DETACH_SECONDS 2

struct nsp_recorder {
    struct nsp_shm_map map;
    struct nsp_drain drain;
    int connection; /* to an attached process */
    int accepts_control;
    int is_stopped;
    char refusal[512];
};

static int check_config(const struct nsp_session_config *config)
{
    const size_t room = sizeof(((struct nsp_file *)0)->path);

    if (!config->output || !*config->output)
        return nsp_fail(-EINVAL, "a recorder requires an output file");
    if (strlen(config->output) >= room)
        return nsp_fail(-ENAMETOOLONG, "output: path longer than %zu characters", room - 1);
    /* Check before a program is started that could not be recorded. */
    return nsp_process_check(config);
}

static int open_all(struct nsp_recorder *recorder, const struct nsp_session_config *config)
{
    int err = nsp_shm_create(config, &recorder->map);

    if (err)
        return err;
    err = nsp_drain_open(&recorder->drain, &recorder->map, config->output,
                         config->has_file ? config->file : -1);
    if (err)
        nsp_shm_close(&recorder->map);
    return err;
}

int nsp_recorder_open(const struct nsp_session_config *config, struct nsp_recorder **out)
{
    struct nsp_session_config copy;
    struct nsp_recorder *recorder;
    int err = nsp_config_take(config, &copy);

    if (!err)
        err = check_config(&copy);
    if (err)
        return err;
    recorder = calloc(1, sizeof(*recorder));
    if (!recorder)
        return nsp_fail(-ENOMEM, "out of memory");
    recorder->connection = -1;
    recorder->accepts_control = copy.control != 0;
    err = open_all(recorder, &copy);
    if (err) {
        free(recorder);
        return err;
    }
    *out = recorder;
    return 0;
}

int nsp_recorder_prepare_exec(struct nsp_recorder *recorder)
{
    char number[16];

    if (fcntl(recorder->map.fd, F_SETFD, 0))
        return -errno;
    snprintf(number, sizeof(number), "%d", recorder->map.fd);
    return setenv(NSP_SESSION_FD_VARIABLE, number, 1) ? -errno : 0;
}

static int send_descriptor(int connection, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    return sendmsg(connection, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int nsp_recorder_attach(struct nsp_recorder *recorder, int pid)
{
    int connection, err;

    if (recorder->connection >= 0)
        return nsp_fail(-EBUSY, "the recorder is already attached to a process");
    connection = nsp_connect_to_process(
        pid, "recorders",
        "start it with NETSLICE=attach=yes in its environment, or have it call "
        "NET_SLICE_CONF(\"attach=yes\")");
    if (connection < 0)
        return connection;
    err = send_descriptor(connection, recorder->map.fd);
    if (!err)
        err = nsp_await_answer(connection, pid);
    if (err)
        close(connection);
    else
        recorder->connection = connection;
    return err;
}

int nsp_recorder_add_kernel(struct nsp_recorder *recorder, const struct nsp_kernel_config *config)
{
    struct nsp_kernel_config copy = {0};
    const struct nslice_session *shm = recorder->map.shm;

    if (!config || config->struct_size < sizeof(size_t) || config->struct_size > sizeof(copy))
        return nsp_fail(-EINVAL, "struct nsp_kernel_config: version mismatch (rebuild the program "
                                 "with this library's headers)");
    memcpy(&copy, config, config->struct_size);
    if (recorder->drain.kernel.fd >= 0)
        return nsp_fail(-EBUSY, "the recorder already records the kernel");
    if (!copy.groups)
        return nsp_fail(-EINVAL, "kernel: at least one group is required");
    if (!copy.slices)
        copy.slices = "";
    recorder->drain.kernel.follows_control = recorder->accepts_control || recorder->connection >= 0;
    return nsp_kernel_drain_open(&recorder->drain.kernel, &copy, shm->clock, shm->full);
}

/* Lets an attached process leave the session by itself, which includes its second calibration. */
static void detach(struct nsp_recorder *recorder)
{
    const struct timeval patience = {DETACH_SECONDS, 0};
    struct nsp_attach_answer answer;

    if (recorder->connection < 0)
        return;
    setsockopt(recorder->connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    shutdown(recorder->connection, SHUT_WR);
    recv(recorder->connection, &answer, sizeof(answer), 0);
    close(recorder->connection);
    recorder->connection = -1;
}

int nsp_recorder_end_kernel(struct nsp_recorder *recorder, struct nsp_session_counts *counts)
{
    struct nsp_drain *drain = &recorder->drain;
    int err;

    memset(counts, 0, sizeof(*counts));
    if (drain->kernel.fd < 0)
        return 0;
    detach(recorder); /* so that the process's remaining activity is recorded */
    nsp_drain_begin(drain);
    err = nsp_kernel_drain_end(&drain->kernel, &drain->file, &drain->last_kernel);
    nsp_kernel_drain_counts(&drain->kernel, counts);
    return err;
}

uint64_t nsp_recorder_pass(struct nsp_recorder *recorder)
{
    return nsp_drain_pass(&recorder->drain);
}

void nsp_recorder_watch(struct nsp_recorder *recorder)
{
    nsp_drain_watch(&recorder->drain);
}

static int check_pause(const struct nsp_recorder *recorder)
{
    if (recorder->map.shm->full == NSLICE_FULL_OVERWRITE)
        return nsp_fail(-ENOTSUP, "a recorder whose rings are overwritten when full cannot pause");
    return 0;
}

int nsp_recorder_pause(struct nsp_recorder *recorder)
{
    const int err = check_pause(recorder);

    if (!err)
        nsp_drain_pause(&recorder->drain);
    return err;
}

int nsp_recorder_resume(struct nsp_recorder *recorder)
{
    const int err = check_pause(recorder);

    if (!err)
        nsp_drain_resume(&recorder->drain);
    return err;
}

uint64_t nsp_recorder_left_out(const struct nsp_recorder *recorder)
{
    return nsp_drain_left_out(&recorder->drain);
}

void nsp_recorder_status_read(struct nsp_recorder *recorder, struct nsp_recorder_status *status)
{
    const struct nslice_session *shm = recorder->map.shm;

    status->joined = __atomic_load_n(&shm->joined, __ATOMIC_ACQUIRE);
    status->refused = __atomic_load_n(&shm->refused, __ATOMIC_ACQUIRE);
    if (status->refused)
        nsp_shm_copy_words(recorder->refusal, shm->refusal, sizeof(recorder->refusal));
    status->refusal = recorder->refusal;
    nsp_drain_counts(&recorder->drain, &status->counts);
    status->kernel_records = recorder->drain.kernel.records;
}

int nsp_recorder_part_of(const struct nsp_recorder *recorder, int pid)
{
    return nsp_part_of(&recorder->map, pid);
}

int nsp_recorder_error(const struct nsp_recorder *recorder)
{
    return -recorder->drain.file.error;
}

void nsp_recorder_stop(struct nsp_recorder *recorder)
{
    const struct timespec grace = {0, GRACE_NS};
    struct nsp_pauses *pauses = &recorder->drain.pauses;

    if (recorder->is_stopped)
        return;
    recorder->is_stopped = 1;
    detach(recorder);
    /* A ring that is paused stays so: what it refuses is left out, not lost. */
    for (uint32_t cpu = 0; cpu < recorder->map.cpus && !pauses->since_ns; ++cpu)
        nsp_ring_refuse(nsp_shm_ring(&recorder->map, cpu));
    /* Programs may continue to run: let sequences in progress on other CPUs end. */
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
    nanosleep(&grace, NULL);
    nsp_drain_sum_left_out(&recorder->drain);
    pauses->is_over = 1;
}

int nsp_recorder_close(struct nsp_recorder *recorder, enum nslice_end end,
                       struct nsp_session_counts *counts)
{
    int err;

    nsp_recorder_stop(recorder);
    err = nsp_drain_finish(&recorder->drain, end, counts);
    nsp_shm_close(&recorder->map);
    free(recorder);
    return err;
}
