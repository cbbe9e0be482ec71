/* SPDX-License-Identifier: MIT */
/* Names that programs of MAPI 2 take from mapi.h, which includes this, and that nothing here needs.  Names and numbers are those of MAPI 2. */
#ifndef MAPI_MAPI2_NAMES_H
#define MAPI_MAPI2_NAMES_H

#include <syslog.h>

#include "errors.h"

/* glibc warns of it in strict ISO C, where a program of MAPI 2 does not compile in any case. */
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

typedef struct mapi_result {
	void *res;
	unsigned size;
} mapi_result_t;

#endif /* MAPI_MAPI2_NAMES_H */
