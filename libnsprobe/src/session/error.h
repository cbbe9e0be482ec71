/* SPDX-License-Identifier: MIT */
/* Failures: error text -> the thread's last error. */
#ifndef NSP_ERROR_H
#define NSP_ERROR_H

/* Room for a path, the error and the remedy; copies of a text require as much. */
#define NSP_ERROR_BYTES 1024

/* Keeps the text for nsp_last_error() and returns err, so that it can stand in a return statement.
 */
int nsp_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* NSP_ERROR_H */
