/* SPDX-License-Identifier: MIT */
/* captures: files, folders and "-" -> the captures that are read as one device; a name -> a flow of a device that may not be there yet. */
#ifndef CAPTURES_CAPTURES_H
#define CAPTURES_CAPTURES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct capture {
	char *path;
	int is_of_folder; /* what is no capture there is told and passed over */
};

struct captures {
	struct capture *list;
	int count;
};

/* Of a folder all regular files, by their names, but those that begin with a point.  0, or -1 with a message in `why`. */
int captures_add(struct captures *captures, const char *path, char *why, size_t bytes);
void captures_free(struct captures *captures);

/* Whether one of them is a pipe or the like, standard input among it: what was read is gone. */
int captures_have_stream(const struct captures *captures);

/*
 * An offline device that reads them all, or NULL; mapi_read_error() tells why.  A stream is read in this process, since mapid takes none.
 * program: for messages.
 */
char *captures_open(const struct captures *captures, int format, const char *program);

/* As mapi_create_flow(), but with `wait` it waits for a device that is not there yet, until it is there or the user interrupts. */
int captures_create_flow(const char *device, int wait, const char *program);

#ifdef __cplusplus
}
#endif

#endif /* CAPTURES_CAPTURES_H */
