/* SPDX-License-Identifier: MIT */
/* A MAPI 2 program that reads EXPIRED_FLOWS and HASHSAMP, with its own headers (OWN) or those of
   the library: prints the flows and samples of a capture. */
#include <arpa/inet.h>
#include <stdio.h>

#include <mapi.h>
#ifdef OWN
#include "own_headers.h"
#else
#include <mapi/expiredflowshash.h>
#include <mapi/hashsamp.h>
#endif

static void print_address(ip_addr address, int port)
{
    printf("%d.%d.%d.%d %d ", address.byte1, address.byte2, address.byte3, address.byte4, port);
}

static unsigned int print_flows(int fd, int fid)
{
    mapi_results_t *result = (mapi_results_t *)mapi_read_results(fd, fid);
    flows_stat *stats = (flows_stat *)result->res;
    flow_data *data = (struct flow_data *)(void *)((char *)result->res + sizeof(flows_stat));
    unsigned int i;

    for (i = stats->sent; i > 0; i--, data++) {
        printf("flow ");
        print_address(data->saddr, data->sport);
        print_address(data->daddr, data->dport);
        printf("%d %llu %llu\n", data->ptcl, data->packets_count, data->bytes_count);
    }
    if (stats->ignored || stats->dropped || stats->packets.ignored || stats->packets.dropped)
        printf("flows are missing\n");
    return stats->sent;
}

static void print_sample(const struct sample *sample)
{
    const struct in_addr source = {sample->source_ip}, destination = {sample->dest_ip};

    printf("sample %llu %s %u ", sample->timestamp >> 32, inet_ntoa(source), sample->sourceport);
    printf("%s %u %u %u %d%d%d%d%d\n", inet_ntoa(destination), sample->destport, sample->protocol,
           sample->sequence, (sample->tcp_flags & TCP_FIN) != 0, (sample->tcp_flags & TCP_SYN) != 0,
           (sample->tcp_flags & TCP_RST) != 0, (sample->tcp_flags & TCP_PSH) != 0,
           (sample->tcp_flags & TCP_ACK) != 0);
}

int main(int argc, char **argv)
{
    const unsigned int shm_flows = 20, list_max = 1000, least_packets = 0;
    int fd, flows, samples;
    mapi_results_t *result;

    if (argc != 2 || (fd = mapi_create_offline_flow(argv[1], MFF_PCAP)) < 0)
        return 2;
    flows = mapi_apply_function(fd, "EXPIRED_FLOWS", shm_flows, list_max, least_packets);
    samples = mapi_apply_function(fd, "HASHSAMP", 1024, 1);
    if (flows < 0 || samples < 0 || mapi_connect(fd) < 0 || mapi_wait_flow(fd, 20000) < 0)
        return 3;
    while (print_flows(fd, flows) > 0)
        ;
    while ((result = mapi_read_results(fd, samples)) != NULL)
        print_sample((struct sample *)result->res);
    return mapi_close_flow(fd) < 0;
}
