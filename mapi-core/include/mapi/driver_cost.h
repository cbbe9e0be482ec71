/* SPDX-License-Identifier: MIT */
/*
 * What the active program of a driver costs a packet (mapi_driver_offload in driver.h).  Members
 * are only appended.
 */
#ifndef MAPI_DRIVER_COST_H
#define MAPI_DRIVER_COST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAPI_COST_TEXT_BYTES 256

/*
 * Runs of the program on the packets that arrived during the measurement.  The kernel reads a clock
 * before and after each run and adds the difference: it includes about one reading of the clock.
 * The empty program shows how much that is.
 */
struct mapi_cost_runs {
    uint64_t runs;
    uint64_t run_ns;     /* of all runs together */
    uint64_t empty_runs; /* of a program that only passes the packet */
    uint64_t empty_run_ns;
    char missing[MAPI_COST_TEXT_BYTES]; /* why there are no figures; empty if there are */
};

/* Net cost: a copy of the program, minus an empty program, run on the same packets. */
struct mapi_cost_net {
    uint32_t packets;  /* that arrived at the interface during the measurement */
    uint64_t runs;     /* of the copy, on all of them */
    double program_ns; /* a run of the copy; median over the packets, as the next two */
    double empty_ns;   /* a run of the empty program */
    double net_ns;     /* their difference */
    double net_p10_ns; /* a tenth of the packets costs less, */
    double net_p90_ns; /* a tenth more */
    char missing[MAPI_COST_TEXT_BYTES];
};

struct mapi_driver_cost {
    uint32_t struct_size; /* sizeof(struct mapi_driver_cost); set by the caller, as the next two */
    uint32_t duration_ms; /* during which runs are counted and packets taken */
    int stop;             /* a descriptor: the measurement ends early once it is readable; or -1 */

    const char *mode;      /* how the program is attached, in one word; never freed */
    uint32_t functions;    /* that the program runs */
    uint32_t instructions; /* of the program; 0: not known, as the next */
    uint32_t code_bytes;   /* of the machine code made of them */
    struct mapi_cost_runs live;
    struct mapi_cost_net net;
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_DRIVER_COST_H */
