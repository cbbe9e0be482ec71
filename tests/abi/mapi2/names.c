/* SPDX-License-Identifier: MIT */
/* What MAPI 2 published in mapi.h and in the headers of functions, each name used as its programs
   use it; prints facts about a capture's packets. */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mapi.h>
#include <mapi/bucket.h>
#include <mapi/burst.h>
#include <mapi/dist.h>
#include <mapi/expiredflowshash.h>
#include <mapi/hashsamp.h>
#include <mapi/ipfixlib.h>
#include <mapi/pktinfo.h>
#include <mapi/protocols.h>
#include <mapi/sample.h>
#include <mapi/stats.h>
#include <mapi/topx.h>
#include <res2file.h>

#if !defined(INT) || !defined(STRING) || !defined(CHAR) || !defined(UNSIGNED_LONG_LONG) || \
    !defined(PAPI)
#error "a macro of mapi.h is missing"
#endif

#ifndef __cplusplus
typedef struct stats *stats_pointer;
typedef struct dist *dist_pointer;
#else /* the library has the tags only in C */
typedef stats_t *stats_pointer;
typedef dist_t *dist_pointer;
#endif

static unsigned long long wire_bytes;
static int looped, has_failed;

static void check(int holds, int line)
{
    if (!holds) {
        fprintf(stderr, "names.c:%d does not hold\n", line);
        has_failed = 1;
    }
}
#define CHECK(condition) check(condition, __LINE__)

static void take(const struct mapipkt *pkt)
{
    const unsigned char *byte = &pkt->pkt;

    looped++;
    wire_bytes += pkt->wlen;
    CHECK((const char *)byte - (const char *)pkt == 20 && pkt->ts >> 32 > 0 && pkt->ifindex == 0 &&
          pkt->caplen <= pkt->wlen);
}

static void use_numbers(void)
{
    const int kinds[] = {INT, STRING, UNSIGNED_LONG_LONG, CHAR};
    const mapi_offline_device_status_t device = DEVICE_READING;
    const enum mapi_flow_status status = FLOW_FINISHED;
    const topxDefs field = TOPX_UDP_CHECKSUM;
    mapiFunctArg arguments[4];
    boolean_t is_one = TRUE;

    memset(arguments, 0, sizeof(arguments));
    CHECK(kinds[0] == 1 && kinds[1] == 2 && kinds[2] == 3 && kinds[3] == 4 && PAPI == 10 &&
          sizeof(arguments) == 4);
    CHECK(is_one != FALSE && device == 2 && status == 2 && FLOW_INIT == 0 && FLOW_ACTIVE == 1 &&
          FLOW_CLOSED == 3);
    CHECK(MFF_PCAP == 0 && MFF_RAW == 1 && MFF_DAG_ERF == 2 && MFF_COMBO6 == 3 &&
          MFF_NAPATECH == 4);
    CHECK(CLIENT_SIDE == 1 && SERVER_SIDE == 2 && BOTH_SIDE == 3 && WAIT == 0 && NOWAIT == 1 &&
          MAPI_COPY == 0 && MAPI_REF == 1);
    CHECK(MAPI_STR_LENGTH == 256 && MAPI_ERRORSTR_LENGTH == 512 && DEFAULT_DIMAPI_PORT == 2233);
    CHECK(TOPX_IP == 1 && TOPX_TCP == 2 && TOPX_UDP == 3 && TOPX_ICMP == 4 && field == 21 &&
          SORT_BY_PACKETS == 1 && SORT_BY_BYTES == 2);
    CHECK(PKT_TS == 0 && PKT_SIZE == 1 && PERIODIC == 2 && PROBABILISTIC == 3 && R2F_STATS == 3 &&
          TOPX_MAX_X == 1000);
    CHECK(IFP_MAX_REC_SIZE == 2000 && TCP_FIN == 1 && TCP_SYN == 2 && TCP_FLAGS == 0x3f &&
          CLOSED == 7);
}

/* Layouts of MAPI 2 on a 64-bit machine. */
static void use_layouts(void)
{
    CHECK(sizeof(struct sample) == 40 && sizeof(flow_data) == 40 && sizeof(flows_stat) == 40 &&
          sizeof(struct topx_result) == 48);
    CHECK(sizeof(struct bucket_data) == 16 && sizeof(struct burst_category) == 40 &&
          sizeof(dist_t) == 32 && sizeof(ifp_dgram_t) == 2016);
    CHECK(sizeof(ip_addr) == 4 && sizeof(ip_header) == 20 && sizeof(tcp_header) == 20 &&
          sizeof(udp_header) == 8 && sizeof(ether_header) == 14);
    CHECK(sizeof(stats_t) == sizeof(mapi_value_stats_t) &&
          sizeof(struct burst_category) == sizeof(mapi_burst_category_t));
    CHECK(sizeof(struct bucket_data) == sizeof(mapi_bucket_t) &&
          sizeof(dist_t) == sizeof(mapi_dist_t) &&
          sizeof(ifp_dgram_t) == sizeof(mapi_flow_report_t));
}

static void use_packet(struct mapipkt *pkt)
{
    ether_header *ethernet = (ether_header *)(void *)&pkt->pkt;
    ip_header *ip = (ip_header *)(void *)(ethernet + 1);
    tcp_header *tcp = (tcp_header *)(void *)((unsigned char *)ip + (ip->ver_ihl & 15) * 4);

    printf("%d.%d.%d.%d:%d > %d.%d.%d.%d:%d ttl %d df %d flags %d\n", ip->saddr.byte1,
           ip->saddr.byte2, ip->saddr.byte3, ip->saddr.byte4, ntohs(tcp->sport), ip->daddr.byte1,
           ip->daddr.byte2, ip->daddr.byte3, ip->daddr.byte4, ntohs(tcp->dport), ip->ttl,
           (ntohs(ip->off) & 0x4000) != 0, tcp->flags & TCP_FLAGS);
}

static void wait_for_end(int fd)
{
    mapi_flow_info_t info;

    do {
        usleep(1000);
        CHECK(mapi_get_flow_info(fd, &info) == 0);
    } while (info.status != FLOW_FINISHED);
    CHECK(info.fd == fd && info.num_functions > 0 && info.start > 0 && info.end >= info.start &&
          info.uid == getuid() && info.device[0]);
}

static void use_descriptions(int fd, int fid)
{
    mapi_flow_info_t flow, next;
    mapi_function_info_t function;
    mapi_device_info_t device;
    mapi_lib_info_t library;
    mapi_libfunct_info_t described;
    struct mapi_stat counted;
    int functions = 0;

    CHECK(mapi_get_flow_info(fd, &flow) == 0 && mapi_get_next_flow_info(0, &next) == 0 &&
          next.fd > 0);
    CHECK(mapi_get_function_info(fd, fid, &function) == 0 && function.fid == fid &&
          !strcmp(function.name, "PKT_COUNTER") && function.libname[0] && function.devtype[0]);
    CHECK(function.pkts == function.passed_pkts &&
          function.result_size == sizeof(unsigned long long) &&
          mapi_get_next_function_info(fd, 0, &function) == 0);
    CHECK(mapi_get_device_info(flow.devid, &device) == 0 && device.id == flow.devid &&
          device.device[0] && device.name[0] && device.link_speed == 0);
    CHECK(device.mpls == 0 && device.vlan == 0 && sizeof(device.alias) == 256 &&
          sizeof(device.description) == 1024 && mapi_get_next_device_info(0, &device) == 0);
    CHECK(mapi_get_library_info(0, &library) == 0 &&
          mapi_get_next_library_info(-1, &library) == 0 && library.libname[0]);
    while (mapi_get_next_libfunct_info(library.id, functions - 1, &described) == 0)
        functions++;
    CHECK(functions == (int)library.functs &&
          mapi_get_libfunct_info(library.id, 0, &described) == 0 && described.name[0] &&
          described.descr[0] && described.devtype[0]);
    CHECK(mapi_stats(flow.device, &counted) == 1 && (int)counted.ps_recv == looped &&
          counted.ps_drop == 0 && counted.ps_ifdrop == 0 && counted.hostname[0] && counted.dev[0]);
    CHECK(mapi_get_scope_size(fd) == 1 && mapi_is_remote(fd) == 0);
}

static void use_device(const char *path)
{
    char *device = mapi_create_offline_device(path, MFF_PCAP);
    int fd = mapi_create_flow(device), counter, buffer;
    mapi_results_t *results;

    counter = mapi_apply_function(fd, "PKT_COUNTER");
    buffer = mapi_apply_function(fd, "TO_BUFFER", WAIT);
    CHECK(mapi_connect(fd) == 0 && mapi_start_offline_device(device) == 0 &&
          mapi_loop(fd, buffer, -1, &take) == 0);
    wait_for_end(fd);
    results = mapi_read_results(fd, counter);
    CHECK(results->size == sizeof(unsigned long long) && results->ts > 0 &&
          *((unsigned long long *)results->res) == (unsigned long long)looped);
    use_descriptions(fd, counter);
    printf("%d %llu\n", looped, wire_bytes);
    CHECK(mapi_close_flow(fd) == 0 && mapi_delete_offline_device(device) == 0);
}

static void use_results(const char *path)
{
    int fd = mapi_create_offline_flow(path, MFF_PCAP), size, stats, dist, top, buffer, *live;
    stats_pointer sizes;
    dist_pointer spread;
    struct topx_result *row;
    unsigned long long i, spread_packets = 0;
    char text[INET6_ADDRSTRLEN];

    mapi_apply_function(fd, "BPF_FILTER", "tcp");
    size = mapi_apply_function(fd, "PKTINFO", PKT_SIZE);
    stats = mapi_apply_function(fd, "STATS", fd, size, "0");
    dist = mapi_apply_function(fd, "DIST", fd, size, "0", "1600", "100");
    top = mapi_apply_function(fd, "TOP", 1, TOPX_IP, TOPX_IP_SRCIP, SORT_BY_PACKETS, 0);
    buffer = mapi_apply_function(fd, "TO_BUFFER");
    CHECK(buffer > 0 && mapi_connect(fd) == 0);
    use_packet(mapi_get_next_pkt(fd, buffer));
    while (mapi_get_next_pkt(fd, buffer))
        ;
    wait_for_end(fd);
    live = (int *)mapi_read_results(fd, size, MAPI_REF);
    sizes = (stats_pointer)mapi_read_results(fd, stats)->res;
    CHECK(*live > 0);
    printf("%llu %.0f %.0f %.0Lf %.0Lf\n", (unsigned long long)sizes->count, sizes->min, sizes->max,
           sizes->sum, sizes->sum2);
    spread = (dist_pointer)mapi_read_results(fd, dist)->res;
    for (i = 0; i <= spread->intervals; i++)
        spread_packets += (&spread->data[0])[i];
    CHECK(spread_packets == sizes->count && spread->min == 0 && spread->max == 1600);
    row = (struct topx_result *)(void *)((unsigned int *)mapi_read_results(fd, top)->res + 1);
    CHECK(row->family == AF_INET && row->addr6.s6_addr[15] == 0 && row->last_rst_secs > 0 &&
          row->bytecount > 0);
    printf("%s %u\n", inet_ntop(row->family, &row->value, text, sizeof(text)),
           (unsigned)row->count);
    CHECK(mapi_close_flow(fd) == 0);
}

int main(MAPI_UNUSED int argc, char **argv)
{
    char error[MAPI_ERRORSTR_LENGTH];
    int number = 0;

    use_numbers();
    use_layouts();
    use_device(argv[1]);
    use_results(argv[1]);
    CHECK(mapi_connect(1234) == -1 && mapi_read_error(&number, error) == 0 && number == 6145 &&
          error[0]);
    return has_failed;
}
