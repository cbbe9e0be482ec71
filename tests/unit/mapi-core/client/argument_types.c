/* SPDX-License-Identifier: MIT */
/* Calls from a C program with arguments of each type, for argument_types_test.cpp. */
#include "argument_types.h"

#include "mapi/functions.h"

enum level { LOW = 1 };

int apply_in_c(int fd, enum call_in_c call)
{
    char text[] = "tcp";
    unsigned char bytes[] = "tcp";
    void *memory = text;
    unsigned short narrow = 1;
    long wide = 1;

    switch (call) {
    case CALL_INT_FOR_TEXT: return mapi_apply_function(fd, "BPF_FILTER", 7);
    case CALL_ZERO_FOR_TEXT: return mapi_apply_function(fd, "BPF_FILTER", 0);
    case CALL_NULL_FOR_TEXT: return mapi_apply_function(fd, "BPF_FILTER", NULL);
    case CALL_STRUCT_FOR_TEXT: return mapi_apply_function(fd, "BPF_FILTER", &fd);
    case CALL_TEXT_FOR_INT: return mapi_apply_function(fd, "SAMPLE", "5", "PERIODIC");
    case CALL_DOUBLE_FOR_INT: return mapi_apply_function(fd, "SAMPLE", 5, 2.0);
    case CALL_WIDE_FOR_INT: return mapi_apply_function(fd, "SAMPLE", 1LL << 32, PERIODIC);
    case CALL_UNSIGNED_FOR_INT: return mapi_apply_function(fd, "SAMPLE", 4294967295U, PERIODIC);
    case CALL_ARRAY: return mapi_apply_function(fd, "BPF_FILTER", text);
    case CALL_BYTES: return mapi_apply_function(fd, "BPF_FILTER", bytes);
    case CALL_MEMORY: return mapi_apply_function(fd, "BPF_FILTER", memory);
    case CALL_NARROW_AND_ENUM:
        return mapi_apply_function(fd, "HASH", LOW) < 0 ? -1
                                                        : mapi_apply_function(fd, "HASH", narrow);
    case CALL_LONG: return mapi_apply_function(fd, "HASH", wide);
    case CALL_NESTED:
        return mapi_apply_function(fd, "STATS", fd, mapi_apply_function(fd, "PKTINFO", PKT_SIZE),
                                   "0");
    case CALL_INT_FOR_WIDE:
        return mapi_apply_function(fd, "THRESHOLD", THRESHOLD_ULL, fd,
                                   mapi_apply_function(fd, "PKT_COUNTER"), 5, THRESHOLD_EQUAL, 0, 0,
                                   0);
    }
    return -1;
}
