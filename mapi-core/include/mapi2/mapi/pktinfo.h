/* SPDX-License-Identifier: MIT */
/* PKTINFO: its argument. */
#ifndef MAPI_PKTINFO_H
#define MAPI_PKTINFO_H

enum pktinfo {
    PKT_TS,  /* time stamp, NTP as in struct mapipkt */
    PKT_SIZE /* bytes on the wire */
};

#endif /* MAPI_PKTINFO_H */
