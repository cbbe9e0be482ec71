// SPDX-License-Identifier: MIT
// Fuzz target: a function with valid arguments, and any bytes as packets -> no byte read outside a
// packet, no mask gains bits.
#include "functions_harness.hpp"

namespace
{
using namespace fuzz;

const char *const kRules = "IP,SRC_IP,MAP\nIP,OPTIONS,STRIP\nTCP,PAYLOAD,STRIP,3\nHTTP,URI,HASHED,"
                           "SHA_2,STRIP_REST\nFTP,PASS,REPLACE,x\nIP,CHECKSUM,CHECKSUM_ADJUST";

const Case kCases[] = {
    {&mapi_fn_bpf_filter, {"tcp[20:4] = 0x47455420 or ip6 or vlan"}, {}},
    {&mapi_fn_str_search, {"|00 01|a"}, {2, 0}},
    {&mapi_fn_regexp, {"(?s)[^a-z]."}, {}},
    {&mapi_fn_match,
     {"content:\"GET\"; nocase; pcre:\"/a+b/R\"; content:\"/\"; http_uri; byte_jump:1,0,relative;"},
     {}},
    {&mapi_fn_connection, {"established,to_server,midstream; isset:a|b"}, {}},
    {&mapi_fn_connection,
     {"ssl_version:!sslv3,tls1.2; ssl_state:client_hello,unknown; stream_size:either,>,9"},
     {}},
    {&mapi_fn_connection_bits, {"set:a,g; toggle:b; setx:c,g; isset:any,g"}, {}},
    {&mapi_fn_rate_filter, {"threshold; type both; track by_src; count 2; seconds 1"}, {}},
    {&mapi_fn_interface, {}, {0}},
    {&mapi_fn_startstop, {"+1ms", "+1h"}, {}},
    {&mapi_fn_sample, {}, {2, PERIODIC}},
    {&mapi_fn_hashsamp, {}, {1024, 1}},
    {&mapi_fn_pktselect, {}, {int64_t(1) << 32, 0, 64, 1}},
    {&mapi_fn_pkt_counter, {}, {}},
    {&mapi_fn_byte_counter, {}, {}},
    {&mapi_fn_pktinfo, {}, {PKT_SIZE}},
    {&mapi_fn_gap, {}, {}},
    {&mapi_fn_hash, {}, {3}},
    {&mapi_fn_burst, {}, {100, 100000, 100, 96, 1000, 1000, 1000}},
    {&mapi_fn_stats, {"5"}, {1, 1}},
    {&mapi_fn_dist, {"0", "1000", "10"}, {1, 1}},
    {&mapi_fn_bucket, {"1ms"}, {1, 1, 1}},
    {&mapi_fn_res2file, {"1", "1@1", "rows", "null", "1s"}, {1, 0, 0}},
    {&mapi_fn_expired_flows, {}, {5, 5, 2}},
    {&mapi_fn_flow_report, {"NETFLOW_V5", "null", "", ""}, {0}},
    {&mapi_fn_flow_report, {"NETFLOW_V9", "null", "", ""}, {0}},
    {&mapi_fn_flow_report,
     {"NETFLOW_V9", "SHMEM", "", "IP_SRC_ADDR ICMP_TYPE TCP_WINDOW TCP_SEQUENCE VLAN_TAG SRC_MAC"},
     {-1}},
    {&mapi_fn_flow_report,
     {"IPFIX", "SHMEM", "IP_SRC_ADDR", "IP_SRC_ADDR PKTS BYTES FLOW_START_MS FLOW_END_REASON"},
     {-1}},
    {&mapi_fn_anonymize, {kRules}, {}},
    {&mapi_fn_anonymizeip, {"0123456789abcdef0123456789abcdef"}, {}},
    {&mapi_fn_to_buffer, {}, {NOWAIT}},
    {&mapi_fn_top, {}, {5, TOPX_IP, TOPX_IP_SRCIP, SORT_BY_PACKETS, 1}},
    {&mapi_fn_track, {"DNS"}, {}},
    {&mapi_fn_track_ftp, {}, {}},
    {&mapi_fn_binop, {}, {BINOP_SUB, 1, 1, 1, 1}},
    {&mapi_fn_threshold, {}, {THRESHOLD_ULL | THRESHOLD_POLL, 1, 1, 3, THRESHOLD_ABOVE, 1, 0, 2}},
    {&mapi_fn_sync, {"1"}, {1}},
    {&mapi_fn_cooking, {}, {100, 1, 0, BOTH_SIDE}},
    {&mapi_fn_uncook, {}, {11}},
    {&mapi_fn_to_file, {"null"}, {MFF_PCAP, 0, 0}},
    {&mapi_fn_perf_start, {}, {}},
    {&mapi_fn_perf_stop, {}, {}},
    {&mapi_fn_inject, {"lo"}, {}},
};
} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    leave_network();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 6)
        return 0;
    const Packets packets(data + 1, size - 1);
    Instance instance(kCases[data[0] % std::size(kCases)]);
    mapi_batch batch;
    mapi_batch_fill(&batch, packets.views.data(), uint32_t(packets.views.size()));
    instance.run(batch);
    return 0;
}
