/* SPDX-License-Identifier: MIT */
/* RES2FILE: how its columns are written. */
#ifndef MAPI_RES2FILE_H
#define MAPI_RES2FILE_H

enum res2file_format {
	R2F_RAW,    /* as it is in memory, after its number of bytes */
	R2F_ULLSTR, /* a number */
	R2F_ULLSEC, /* NTP time in seconds */
	R2F_STATS   /* the result of STATS */
};

#endif /* MAPI_RES2FILE_H */
