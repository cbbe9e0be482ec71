/* SPDX-License-Identifier: MIT */
/* Failed open, read or write: errno -> cause and remedy as text. */
#ifndef NSLICE_FILE_ERROR_H
#define NSLICE_FILE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As strerror(), followed by the remedy in parentheses if there is one: "No space left on
 * device (free some ...".  err: positive errno.  The text belongs to the calling thread and is
 * valid until its next call.  Any thread; not a signal handler.
 */
const char *nslice_read_error(int err);
const char *nslice_write_error(int err);

#ifdef __cplusplus
}
#endif

#endif /* NSLICE_FILE_ERROR_H */
