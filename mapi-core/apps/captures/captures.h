/* SPDX-License-Identifier: MIT */
/* captures: files, folders and "-" -> captures read as one device; a name -> a flow of a device
 * that may not exist yet. */
#ifndef CAPTURES_CAPTURES_H
#define CAPTURES_CAPTURES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct capture {
    char *path;
    int is_of_folder; /* then a file that is not a capture is reported and skipped */
};

struct captures {
    struct capture *list;
    int count;
};

/*
 * For a folder, adds its regular files in order of name, except those that begin with a dot.  0, or
 * -1 with a message in `why`.
 */
int captures_add(struct captures *captures, const char *path, char *why, size_t bytes);
void captures_free(struct captures *captures);

/* Whether any of them, including standard input, is a pipe or the like, which can be read once. */
int captures_have_stream(const struct captures *captures);

/*
 * Returns an offline device that reads them all, or NULL with the reason in mapi_read_error().  The
 * caller frees it with mapi_delete_offline_device().  A stream is read in this process, because
 * mapid does not accept streams.  program: for notes; NULL: no notes.
 */
char *captures_open(const struct captures *captures, int format, const char *program);

/* Like mapi_create_flow(); with `wait`, waits until the device exists or the user interrupts. */
int captures_create_flow(const char *device, int wait, const char *program);

#ifdef __cplusplus
}
#endif

#endif /* CAPTURES_CAPTURES_H */
