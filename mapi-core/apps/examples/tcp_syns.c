/* SPDX-License-Identifier: MIT */
/* A plug-in: TCP_SYNS counts packets that request a TCP connection, in IPv4 over Ethernet. */
#include <mapi/plugin.h>

enum { LINKTYPE_ETHERNET = 1, IP = 14, IP_BYTES = 20, TCP = 6, FLAGS = 13, SYN = 0x02, ACK = 0x10 };

static int is_syn(const struct mapi_packet *packet)
{
    const uint8_t *frame = packet->data, *ip = frame + IP;

    /* a capture may have truncated packets: bytes from caplen on must not be read */
    if (packet->link_type != LINKTYPE_ETHERNET || packet->caplen < IP + IP_BYTES)
        return 0;
    if (frame[12] != 0x08 || frame[13] != 0x00 || ip[0] >> 4 != 4 || ip[9] != TCP)
        return 0;
    if ((ip[6] & 0x1f) != 0 || ip[7] != 0) /* a later fragment has no TCP header */
        return 0;
    const uint32_t flags = IP + (ip[0] & 0x0fu) * 4 + FLAGS;

    return packet->caplen > flags && (frame[flags] & (SYN | ACK)) == SYN;
}

static uint64_t process(void *instance, const struct mapi_batch *batch, uint64_t mask)
{
    uint64_t *count = instance; /* the result: all the state that this function has */

    for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
        *count += is_syn(&batch->packets[__builtin_ctzll(rest)]);
    return mask;
}

static const struct mapi_function tcp_syns = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(struct mapi_function),
    .name = "TCP_SYNS",
    .description = "counts TCP packets with SYN and without ACK",
    .flags = MAPI_FUNCTION_ADDITIVE | MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = sizeof(uint64_t),
    .process = process,
};

static const struct mapi_function *const functions[] = {&tcp_syns, NULL};

const struct mapi_plugin mapi_plugin = {
    .abi = MAPI_PLUGIN_ABI,
    .struct_size = sizeof(struct mapi_plugin),
    .functions = functions,
};
