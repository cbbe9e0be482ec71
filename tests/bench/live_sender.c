/* SPDX-License-Identifier: MIT */
/* live_sender INTERFACE PACKETS BYTES: sends UDP frames as fast as one core can, bypassing the
 * qdisc.  Prints frames sent and seconds. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

enum { BATCH = 64, ADDRESS_BYTES = 12, BYTES_MAX = 1514 };

static int open_socket(const char *interface)
{
    const int on = 1, descriptor = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_ifindex = (int)if_nametoindex(interface)};

    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(descriptor, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) < 0) {
        perror(interface);
        exit(1);
    }
    return descriptor;
}

static void fill(unsigned char *frame, size_t bytes)
{
    static const unsigned char headers[] = {0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17};

    memset(frame, 0xff, ADDRESS_BYTES);
    memset(frame + ADDRESS_BYTES, 0, bytes - ADDRESS_BYTES);
    memcpy(frame + ADDRESS_BYTES, headers, sizeof(headers));
    frame[16] = (unsigned char)((bytes - 14) >> 8);
    frame[17] = (unsigned char)(bytes - 14);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    static unsigned char frame[BYTES_MAX];
    struct mmsghdr messages[BATCH];
    struct iovec part = {frame, 0};
    unsigned long packets, sent = 0;
    double begin_s;
    int descriptor;

    if (argc != 4 || (part.iov_len = strtoul(argv[3], NULL, 10)) < 42 || part.iov_len > BYTES_MAX) {
        fprintf(stderr, "usage: live_sender INTERFACE PACKETS BYTES, from 42 to %d\n", BYTES_MAX);
        return 2;
    }
    packets = strtoul(argv[2], NULL, 10);
    fill(frame, part.iov_len);
    memset(messages, 0, sizeof(messages));
    for (int i = 0; i < BATCH; ++i) {
        messages[i].msg_hdr.msg_iov = &part;
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    descriptor = open_socket(argv[1]);
    begin_s = now_s();
    while (sent < packets) {
        const unsigned long rest = packets - sent;
        const int done = sendmmsg(descriptor, messages, rest < BATCH ? (unsigned)rest : BATCH, 0);

        if (done < 0 && errno != ENOBUFS && errno != EAGAIN) {
            perror("sendmmsg");
            return 1;
        }
        sent += done > 0 ? (unsigned long)done : 0;
    }
    printf("%lu %.6f\n", sent, now_s() - begin_s);
    return 0;
}
