/* SPDX-License-Identifier: MIT */
/* RES2FILE: formats of its columns. */
#ifndef MAPI_RES2FILE_H
#define MAPI_RES2FILE_H

enum res2file_format {
    R2F_RAW,    /* number of bytes, then the result as it is in memory */
    R2F_ULLSTR, /* a number */
    R2F_ULLSEC, /* NTP time in seconds */
    R2F_STATS   /* the result of STATS */
};

#endif /* MAPI_RES2FILE_H */
