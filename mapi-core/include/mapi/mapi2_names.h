/* SPDX-License-Identifier: MIT */
/*
 * Names that programs of MAPI 2 expect in mapi.h, which includes this file; nothing else needs
 * them.  Names and numbers are those of MAPI 2.
 */
#ifndef MAPI_MAPI2_NAMES_H
#define MAPI_MAPI2_NAMES_H

#include <syslog.h>

#include "errors.h"

/* glibc warns about it in strict ISO C, in which programs of MAPI 2 do not compile in any case. */
#if !defined(__STRICT_ANSI__) || defined(_DEFAULT_SOURCE) || defined(_XOPEN_SOURCE)
#include <sys/ipc.h>
#endif

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
typedef int boolean_t;

#define MAPI_UNUSED __attribute__((__unused__))

#define MAPI_ERRORSTR_LENGTH MAPI_ERROR_TEXT_BYTES

#define DEFAULT_DIMAPI_PORT 2233

#define MFF_PCAP_STR "MFF_PCAP"
#define MFF_DAG_ERF_STR "MFF_DAG_ERF"
#define MFF_NAPATECH_STR "MFF_NAPATECH"

typedef enum mapi_offline_device_status {
    DEVICE_ONLINE,
    DEVICE_SETUP,
    DEVICE_READING,
    DEVICE_FINISHED,
    DEVICE_DELETED
} mapi_offline_device_status_t;

#ifndef PAPI
#define PAPI 10
#endif

/* Types of arguments, as MAPI 2's own function libraries name them.  MAPI_NO_ARGUMENT_TYPES leaves
 * these names to the program. */
#ifndef MAPI_NO_ARGUMENT_TYPES
enum mapi_argument_type {
#ifndef INT
    INT = 1,
#define INT INT
#endif
#ifndef STRING
    STRING = 2,
#define STRING STRING
#endif
#ifndef UNSIGNED_LONG_LONG
    UNSIGNED_LONG_LONG = 3,
#define UNSIGNED_LONG_LONG UNSIGNED_LONG_LONG
#endif
#ifndef CHAR
    CHAR = 4,
#define CHAR CHAR
#endif
    MAPI_ARGUMENT_TYPES = 4
};
#endif
typedef unsigned char mapiFunctArg;

typedef struct mapi_result {
    void *res;
    unsigned size;
} mapi_result_t;

#endif /* MAPI_MAPI2_NAMES_H */
