/* SPDX-License-Identifier: MIT */
/* Failures: what went wrong, in words -> the thread's last error. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include <nsprobe/session.h>

static __thread char last_error[NSP_ERROR_BYTES];

int nsp_fail(int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_error, sizeof(last_error), format, args);
    va_end(args);
    return err;
}

const char *nsp_last_error(void)
{
    return last_error[0] ? last_error : "no error";
}
