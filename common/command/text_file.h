/* SPDX-License-Identifier: MIT */
/* text_file: command::Output for programs in C: text -> a file, which is complete or absent. */
#ifndef COMMON_COMMAND_TEXT_FILE_H
#define COMMON_COMMAND_TEXT_FILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum command_text_file {
    COMMAND_TEXT_FILE_OK = 0,
    COMMAND_TEXT_FILE_MISUSED,     /* it is the input */
    COMMAND_TEXT_FILE_UNWRITTEN,   /* it cannot be written */
    COMMAND_TEXT_FILE_INTERRUPTED, /* by Ctrl-C, while waiting for the reader of a pipe */
};

/* Whether it can be written; to be called before the work begins.  `why` receives what is wrong. */
enum command_text_file command_check_text_file(const char *path, const char *input, char *why,
                                               size_t why_bytes);

/* A pipe closed by its reader is not an error. */
enum command_text_file command_write_text_file(const char *path, const char *text, size_t bytes,
                                               char *why, size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif /* COMMON_COMMAND_TEXT_FILE_H */
