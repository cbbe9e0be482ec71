/* SPDX-License-Identifier: MIT */
/* Failures: what went wrong, in words -> the thread's last error. */
#ifndef NSP_ERROR_H
#define NSP_ERROR_H

/* A path, what went wrong and the remedy; who carries a text on needs as much room. */
#define NSP_ERROR_BYTES 1024

/* Keeps the text for nsp_last_error() and returns err, so that it can stand in a return statement. */
int nsp_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* NSP_ERROR_H */
