/* SPDX-License-Identifier: MIT */
/* Failed open, read or write: errno -> the cause in words and what to do about it. */
#ifndef NSLICE_FILE_ERROR_H
#define NSLICE_FILE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As strerror(), and after a semicolon the remedy, where there is one: "No space left on device; free some ...".
 * err: errno, positive.  The text is the thread's own and stays until its next call.  Any thread, no signal handler.
 */
const char *nslice_read_error(int err);
const char *nslice_write_error(int err);

#ifdef __cplusplus
}
#endif

#endif /* NSLICE_FILE_ERROR_H */
