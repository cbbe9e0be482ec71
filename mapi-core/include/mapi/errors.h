/* SPDX-License-Identifier: MIT */
/* Error numbers: what mapi_read_error() gives.  Groups and numbers are those of MAPI 2. */
#ifndef MAPI_ERRORS_H
#define MAPI_ERRORS_H

/* Longest text that mapi_read_error() writes, with its final zero. */
#define MAPI_ERROR_TEXT_BYTES 512

enum mapi_error {
	/* capture files and filters */
	MAPI_PCAP_OPEN_ERROR = 1025,   /* the capture file cannot be opened or is none */
	MAPI_PCAP_READ_ERROR = 1027,   /* the capture file is damaged */

	MAPI_INTERFACE_ERROR = 1100,   /* the network interface cannot be opened */

	/* flows */
	MAPI_FLOW_LIMIT = 3078,         /* no free flow descriptor */
	MAPI_FUNCTION_NOT_FOUND = 3079, /* no function of that name */
	MAPI_FLOW_ALREADY_ACTIVE = 3081,
	MAPI_FLOW_NOT_MODIFIABLE = 3082, /* functions are applied before mapi_connect() */

	MAPI_NOT_AUTHENTICATED = 3139, /* the user is in no group that may use the device */

	/* devices and drivers */
	MAPI_NO_DRIVER = 3200,
	MAPI_NO_DEVICE = 3202,

	/* strings to search */
	MAPI_STR_SEARCH_UNTERMINATED = 3503, /* a |hex| block without its end */
	MAPI_STR_SEARCH_DEPTH = 3504,        /* the window is shorter than the pattern */
	MAPI_STR_SEARCH_INVALID = 3505,

	/* mapid */
	MCOM_INIT_SOCKET_ERROR = 5121, /* mapid cannot be reached, or is there no more */

	/* calls */
	MAPI_INTERNAL_ERROR = 6140,
	MAPI_FLOW_NOT_CONNECTED = 6143,
	MAPI_INVALID_FLOW = 6145,
	MAPI_INVALID_FID_FUNCID = 6147, /* bad flow or function id, or a call that the function has no answer to */
	MAPI_TIMED_OUT = 6150,
	MAPI_INVALID_ARGUMENT = 6151,
	MAPI_CONFIG_ERROR = 6154,
	MAPI_FILE_ERROR = 6155,
	MAPI_NO_MORE_RESULTS = 6158, /* of a function whose results come one after another; not of MAPI 2 */

	/* arguments of a function */
	MFUNCT_INVALID_ARGUMENT = 7000,
	MFUNCT_INVALID_ARGUMENT_1 = 7001,
	MFUNCT_INVALID_ARGUMENT_2 = 7002,
	MFUNCT_INVALID_ARGUMENT_3 = 7003,
	MFUNCT_INVALID_ARGUMENT_4 = 7004,
	MFUNCT_INVALID_ARGUMENT_5 = 7005,
	MFUNCT_COULD_NOT_APPLY_FUNCT = 7006,
	MFUNCT_INVALID_ARGUMENT_6 = 7011,

	/* admission */
	MAPI_LIMIT_REACHED = 8000 /* flows, functions or memory of one client */
};

#endif /* MAPI_ERRORS_H */
