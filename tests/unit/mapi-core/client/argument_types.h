/* SPDX-License-Identifier: MIT */
/* Calls from a C program with arguments of each type, for argument_types_test.cpp. */
#ifndef ARGUMENT_TYPES_H
#define ARGUMENT_TYPES_H

#include <mapi/mapi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum call_in_c {
    CALL_INT_FOR_TEXT,
    CALL_ZERO_FOR_TEXT,
    CALL_NULL_FOR_TEXT,
    CALL_STRUCT_FOR_TEXT,
    CALL_TEXT_FOR_INT,
    CALL_DOUBLE_FOR_INT,
    CALL_WIDE_FOR_INT,
    CALL_UNSIGNED_FOR_INT,
    CALL_ARRAY,
    CALL_BYTES,
    CALL_MEMORY,
    CALL_NARROW_AND_ENUM,
    CALL_LONG,
    CALL_NESTED,
    CALL_INT_FOR_WIDE
};

int apply_in_c(int fd, enum call_in_c call);

#ifdef __cplusplus
}
#endif

#endif /* ARGUMENT_TYPES_H */
