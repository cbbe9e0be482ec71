/* SPDX-License-Identifier: MIT */
/*
 * Error numbers, as returned by mapi_read_error().  Names and numbers are those of MAPI 2.  Numbers
 * with a comment that describes their cause are used by this library.  The text names the object,
 * then what is wrong with it; the text that MAPI 2 published for the number is used only if there
 * are no such details.
 */
#ifndef MAPI_ERRORS_H
#define MAPI_ERRORS_H

/* Maximum length of the text that mapi_read_error() writes, including the final zero. */
#define MAPI_ERROR_TEXT_BYTES 512

/* A program of MAPI 2 that includes its own mapi_errors.h defines these names as macros. */
#ifndef PCAP_BPF_ERR

enum mapi_error {
    /* libpcap */
    PCAP_BPF_ERR = 1025,  /* the filter compiler rejects a filter */
    PCAP_OPEN_ERR = 1026, /* not a capture, or an interface that cannot be opened */
    PCAP_OPEN_DEAD_ERR = 1027,

    /* MAPI 2's drivers */
    NICDRV_PTHR_ERR = 1100,
    COMBO6_OPEN_ERR = 1200,
    COMBO6_PTHR_ERR = 1201,
    COMBO6_GET_OPTION_ERR = 1202,
    COMBO6_GET_STU_STATS = 1203,
    DAGDRV_OPEN_ERR = 1300,
    DAGDRV_PTHR_ERR = 1301,
    DAGDRV_MMAP_ERR = 1302,
    DAGDRV_START_ERR = 1303,
    VINDRV_PTHR_ERR = 1400,
    VINDRV_OFF_ERR = 1401,
    VINDRV_DEVID_NOT_FOUND = 1402,
    DRV_OFF_ERR = 1501,
    NAPATECHDRV_PTHR_ERR = 1600,
    NAPATECHDRV_OPENCARD_ERR = 1601,
    NAPATECHDRV_SHUTDOWN_FEEDS_ERR = 1602,

    /* flows and functions in the daemon */
    MDLIB_ERROR_NOT_FOUND = 3073,
    MDLIB_INVALID_FLID = 3074,
    MDLIB_SHM_ERR = 3075,
    MDLIB_SEM_ERR = 3076,
    MDLIB_TMPF_ERR = 3077,
    MDLIB_INVALID_FUNCID = 3078,
    MDLIB_FUNCTION_NOT_FOUND = 3079,
    MDLIB_COULD_NOT_APPLY_FUNCT = 3080,
    MDLIB_FLOW_ALREADY_ACTIVE = 3081, /* the flow is already connected, or the device is open */
    MDLIB_NO_MODIFYING = 3082,
    MDLIB_FILE_EXSISTS = 3083,
    MAPID_MEM_ALLOCATION_ERROR = 3084,

    /* the daemon */
    MAPID_NOT_AUTHENTICATED = 3139, /* the user is not in the group that has access */
    MAPID_NO_DRIVER = 3200,         /* no such device, driver or format */
    MAPID_NO_FD = 3201,
    MAPID_NO_DEVICE = 3202, /* no offline device of that name */

    /* expressions and search strings */
    MDLIB_ETH_DLINK_ERR = 3500,
    MDLIB_ETH_SYM_NOT_FOUND = 3501,
    MDLIB_ETH_FILTER_ERR = 3502,
    MDLIB_STRSEARCH_UNTERMINATED_PIPE_ERR = 3503, /* a |hex| block is not terminated */
    MDLIB_STRSEARCH_DEPTH_LESS_THAN_PTRN_ERR = 3504,
    MDLIB_STRSEARCH_NOT_A_VALID_SEARCH_STRING = 3505,

    /* between libmapi and mapid */
    MCOM_UNKNOWN_ERROR = 5121, /* unexpected reply of mapid */
    MCOM_ERROR_ACK = 5122,
    MCOM_SOCKET_ERROR = 5123,      /* mapid is gone */
    MCOM_INIT_SOCKET_ERROR = 5124, /* mapid cannot be reached */

    /* calls */
    MAPI_SHUTTING_DOWN = 6140,
    MAPI_INIT_ERROR = 6141, /* no flow has been created yet */
    MAPI_CONNECT = 6142,
    MAPI_FLOW_NOT_CONNECTED = 6143,
    MAPI_FUNCTION_NOT_FOUND = 6144, /* no such function to apply */
    MAPI_INVALID_FLOW = 6145,       /* no such flow */
    MAPI_SHM_ERR = 6146,            /* the function has no result */
    MAPI_INVALID_FID_FUNCID = 6147, /* no such function, or it does not support the call */
    MAPI_SEM_ERR = 6148,
    MAPI_FLOW_INFO_ERR = 6149,     /* no further flow */
    MAPI_FUNCTION_INFO_ERR = 6150, /* no such function, or no further one */
    MAPI_LIBRARY_LOAD_ERR = 6151,  /* a plug-in cannot be loaded */
    MAPI_ERROR_GETTING_LIBPATH = 6152,
    MAPI_ERROR_GETTING_LIBS = 6153,
    MAPI_ERROR_GETTING_PATH = 6154,
    MAPI_ERROR_FILE = 6155, /* a capture or an output file cannot be opened */
    MAPI_ERROR_SEND_FD = 6156,
    MAPI_DEVICE_INFO_ERR = 6157, /* no such device, or no further one */

    /* calls; not from MAPI 2 */
    MAPI_NO_MORE_RESULTS = 6158, /* of a function that returns them one by one */
    MAPI_TIMED_OUT = 6159,
    MAPI_INTERNAL_ERROR = 6160,
    MAPI_CONFIG_ERROR = 6161, /* an error in mapi.conf or in an option */
    /*
     * limit of flows of a process; of flows, captures, functions, files or memory of a client
     * of mapid
     */
    MAPI_LIMIT_REACHED = 6162,
    MAPI_FUNCTION_IN_USE = 6163, /* other functions need it, so it cannot be removed */

    /* arguments of a function or a call */
    MFUNCT_INVALID_ARGUMENT = 7000, /* the seventh or a later one, or a pattern of REGEXP */
    MFUNCT_INVALID_ARGUMENT_1 = 7001,
    MFUNCT_INVALID_ARGUMENT_2 = 7002,
    MFUNCT_INVALID_ARGUMENT_3 = 7003,
    MFUNCT_INVALID_ARGUMENT_4 = 7004,
    MFUNCT_INVALID_ARGUMENT_5 = 7005,
    /* the flow is connected, or the function cannot be used at that place */
    MFUNCT_COULD_NOT_APPLY_FUNCT = 7006,
    MFUNCT_COULD_NOT_INIT_FUNCT = 7007,
    MFUNCT_SEM_ERROR = 7008,
    MFUNCT_NOT_SUPPORTED = 7009,
    MFUNCT_INVALID_ARGUMENT_DESCRIPTOR = 7010,
    MFUNCT_INVALID_ARGUMENT_6 = 7011,

    /* admission and statistics */
    ADMCTRL_MEM_ERROR = 8000,
    ADMCTRL_NO_AUTHDATA = 8001,
    ADMCTRL_COMM_FAILURE = 8002,
    ADMCTRL_AUTH_FAILED = 8003,
    MAPI_STATS_ERROR = 8004 /* the device is not open */
};

#endif /* PCAP_BPF_ERR */

#endif /* MAPI_ERRORS_H */
