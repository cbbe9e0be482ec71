/* SPDX-License-Identifier: MIT */
/* install test: results read through the headers and names of MAPI 2; prints the packet count
   according to each. */
#include <arpa/inet.h>
#include <stdio.h>

#include "mapi/binop.h"
#include "mapi/burst.h"
#include "mapi/dist.h"
#include "mapi/hashsamp.h"
#include "mapi/pktinfo.h"
#include "mapi/sample.h"
#include "mapi/startstop.h"
#include "mapi/stats.h"
#include "mapi/threshold.h"
#include "mapi/topx.h"
#include <mapi.h>
#include <mapi/bucket.h>
#include <res2file.h>

enum { CATEGORIES = 102, INTERVALS = 16, ROWS = 1000 };

static unsigned long long sum_of_bursts(const burst_category_t *bursts)
{
    unsigned long long packets = 0;

    for (int i = 0; i < CATEGORIES; ++i)
        packets += bursts[i].packets;
    return packets;
}

static unsigned long long sum_of_intervals(const dist_t *dist)
{
    unsigned long long packets = 0;

    for (unsigned i = 0; i <= dist->intervals; ++i)
        packets += dist->data[i];
    return packets;
}

/* As MAPI 2's own example iterates over them. */
static unsigned long long sum_of_rows(void *result)
{
    const unsigned rows = *(unsigned int *)result;
    struct topx_result *row = (struct topx_result *)((int *)result + 1);
    unsigned long long packets = 0;

    for (unsigned i = 0; i < rows; ++i, ++row) {
        char text[INET6_ADDRSTRLEN];
        const void *address =
            row->family == AF_INET6 ? (const void *)&row->addr6 : (const void *)&row->value;

        if (!inet_ntop(row->family, address, text, sizeof(text)))
            return 0;
        packets += row->count;
    }
    return packets;
}

static int use_old_names(int fd, MAPI_UNUSED int unused)
{
    const mapi_offline_device_status_t states[] = {DEVICE_ONLINE, DEVICE_SETUP, DEVICE_READING,
                                                   DEVICE_FINISHED, DEVICE_DELETED};
    const enum mapi_file_formats format = MFF_PCAP;
    const enum cooking_direction side = BOTH_SIDE;
    const enum toba_flg mode = NOWAIT;
    const enum mapi_read_result_method method = MAPI_REF;
    char name[MAPI_STR_LENGTH], error[MAPI_ERRORSTR_LENGTH];
    boolean_t is_right = TRUE;
    mapi_result_t result = {name, sizeof(name)};
    mapi_flow_info_t info;

    if (mapi_get_flow_info(fd, &info) < 0 || info.end < info.start ||
        time(NULL) - info.start > 60 || !ctime(&info.start))
        is_right = FALSE;
    is_right = is_right && sizeof(name) == sizeof(info.device) && sizeof(error) == 512 &&
               states[4] == 4 && format == 0 && side == 3 && mode == 1;
    return is_right && method == 1 && result.size == 256 && DEFAULT_DIMAPI_PORT == 2233 &&
           MFF_PCAP_STR[4] == 'P' && MFF_DAG_ERF_STR[4] == 'D' && MFF_NAPATECH_STR[4] == 'N';
}

/* MAPI 2's mapi.h included the headers of these. */
static int use_system_names(void)
{
    const key_t key = IPC_PRIVATE;

    openlog("of_mapi2", LOG_PID, LOG_USER);
    closelog();
    return key == 0;
}

int main(int argc, char **argv)
{
    int fd, size, stats, bucket, burst, dist, top, ip;
    unsigned long long counted[4];
    char text[MAPI_ERROR_TEXT_BYTES] = "";

    if (argc != 2 || (fd = mapi_create_offline_flow(argv[1], MFF_PCAP)) < 0)
        return 2;
    size = mapi_apply_function(fd, "PKTINFO", PKT_SIZE);
    stats = mapi_apply_function(fd, "STATS", fd, size, "0");
    bucket = mapi_apply_function(fd, "BUCKET", fd, mapi_apply_function(fd, "stdflib:PKT_COUNTER"),
                                 "-1", 0);
    burst = mapi_apply_function(fd, "BURST", 0, 100000, 1000, 1, 1, 1, 1000);
    dist = mapi_apply_function(fd, "DIST", fd, size, "0", "1600", "100");
    top = mapi_apply_function(fd, "TOP", ROWS, TOPX_IP, TOPX_IP_SRCIP, SORT_BY_BYTES, 0);
    mapi_apply_function(fd, "BPF_FILTER", "ip or ip6");
    ip = mapi_apply_function(fd, "PKT_COUNTER");
    if (stats < 0 || bucket < 0 || burst < 0 || dist < 0 || top < 0 || ip < 0 ||
        mapi_connect(fd) < 0 || mapi_wait_flow(fd, 20000) < 0) {
        mapi_read_error(NULL, text);
        printf("%s\n", text);
        return 1;
    }
    counted[0] = ((stats_t *)mapi_read_results(fd, stats)->res)->count;
    counted[1] = ((struct bucket_data *)mapi_read_results(fd, bucket)->res)->data;
    counted[2] = sum_of_bursts((burst_category_t *)mapi_read_results(fd, burst)->res);
    counted[3] = sum_of_intervals((dist_t *)mapi_read_results(fd, dist)->res);
    for (int i = 1; i < 4; ++i) {
        if (counted[i] != counted[0]) {
            printf("%d: %llu packets, not %llu\n", i, counted[i], counted[0]);
            return 1;
        }
    }
    if (sum_of_rows(mapi_read_results(fd, top)->res) !=
        *(unsigned long long *)mapi_read_results(fd, ip)->res) {
        printf("the rows of TOP are not of all IP packets\n");
        return 1;
    }
    if (!use_old_names(fd, 0) || !use_system_names()) {
        printf("a name of MAPI 2 has another meaning\n");
        return 1;
    }
    printf("packets %llu\n", counted[0]);
    return mapi_close_flow(fd) < 0;
}
