/* SPDX-License-Identifier: MIT */
/* A MAPI 2 program with its own copies of the function headers, before mapi.h with OWN_FIRST:
   prints the results of STATS and TOP for a capture. */
#ifdef OWN_FIRST
#include "own_headers.h"
#include "mapi.h"
#else
#include "mapi.h"
#include "own_headers.h"
#endif
#include <stdio.h>

#ifdef __cplusplus
#define STATS_OF(result) static_cast<stats_t *>(result)
#define ROWS_OF(result) static_cast<unsigned int *>(result)
#define FIRST_ROW(rows) reinterpret_cast<struct topx_result *>((rows) + 1)
#else
#define STATS_OF(result) ((stats_t *)(result))
#define ROWS_OF(result) ((unsigned int *)(result))
#define FIRST_ROW(rows) ((struct topx_result *)((rows) + 1))
#endif

int main(int argc, char **argv)
{
    int fd, number, size, stats, top, sum, packets, difference;
    unsigned int i;
    unsigned int *rows;
    struct topx_result *row;
    stats_t *of_size;
    char text[MAPI_ERRORSTR_LENGTH];

    if (argc != 2 || (fd = mapi_create_offline_flow(argv[1], MFF_PCAP)) < 0)
        return 2;
    if (mapi_apply_function(fd, "BPF_FILTER", "no such words") >= 0 ||
        mapi_read_error(&number, text) < 0 || number != PCAP_BPF_ERR)
        return 3;
    packets = mapi_apply_function(fd, "PKT_COUNTER");
    size = mapi_apply_function(fd, "PKTINFO", PKT_SIZE);
    stats = mapi_apply_function(fd, "STATS", fd, size, "0");
    top = mapi_apply_function(fd, "TOP", 5, TOPX_TCP, TOPX_TCP_DSTPORT);
    sum = mapi_apply_function(fd, "BINOP", BINOP_ADD, fd, packets, fd, packets);
    difference = mapi_apply_function(fd, "BINOP", BINOP_SUB, fd, packets, fd, packets);
    mapi_apply_function(fd, "SAMPLE", 2, PERIODIC);
    if (difference < 0 || mapi_connect(fd) < 0 || mapi_wait_flow(fd, 20000) < 0)
        return 4;
    of_size = STATS_OF(mapi_read_results(fd, stats)->res);
    printf("%llu %.0f %.0f\n", of_size->count, of_size->min, of_size->max);
    printf("%llu %llu\n", *(unsigned long long *)mapi_read_results(fd, sum)->res,
           *(unsigned long long *)mapi_read_results(fd, difference)->res);
    rows = ROWS_OF(mapi_read_results(fd, top)->res);
    row = FIRST_ROW(rows);
    for (i = 0; i < *rows; i++, row++)
        printf("%u %u %llu\n", row->value, row->count, row->bytecount);
    return mapi_close_flow(fd) < 0;
}
