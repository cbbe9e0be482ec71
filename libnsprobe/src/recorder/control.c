/* SPDX-License-Identifier: MIT */
/* Control of a running process: new rules for its session -> sent to its listener. */
#define _GNU_SOURCE
#include <nsprobe/recorder.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach.h"
#include "connection.h"
#include "session/error.h"
#include "sites/selection.h"

int nsp_control_slices(int pid, const char *rules)
{
    char text[NSP_CONTROL_BYTES];
    int connection, err = nsp_selection_check(rules), length;

    if (err)
        return err;
    connection = nsp_connect_to_process(
        pid, "control requests",
        "start it with control=yes in NETSLICE, or under `nsdump record --control`");
    if (connection < 0)
        return connection;
    length = snprintf(text, sizeof(text), "%s%s", NSP_CONTROL_SLICES, rules);
    err = send(connection, text, (size_t)length, MSG_NOSIGNAL) == length
              ? nsp_await_answer(connection, pid)
              : nsp_fail(-errno, "process %d: cannot send to it: %s", pid, strerror(errno));
    close(connection);
    return err;
}
