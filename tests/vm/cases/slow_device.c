/* SPDX-License-Identifier: MIT */
/* slow_device NAME MICROSECONDS PERCENT: delays the packets that the device sends, and drops a
 * share of them (netem). */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
    struct nlmsghdr head;
    struct tcmsg device;
    char attributes[256];
};

static void add(struct request *request, unsigned short type, const void *data, size_t bytes)
{
    struct rtattr *at = (void *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));

    at->rta_type = type;
    at->rta_len = (unsigned short)RTA_LENGTH(bytes);
    memcpy(RTA_DATA(at), data, bytes);
    request->head.nlmsg_len =
        (__u32)(NLMSG_ALIGN(request->head.nlmsg_len) + RTA_ALIGN(at->rta_len));
}

int main(int argc, char **argv)
{
    struct request request = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg)),
                 .nlmsg_type = RTM_NEWQDISC,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE},
        .device = {.tcm_family = AF_UNSPEC, .tcm_parent = TC_H_ROOT},
    };
    struct tc_netem_qopt netem = {.limit = 1000};
    const int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char more[512];
    } answer;

    if (argc != 4 || netlink < 0) {
        fprintf(stderr, "usage: slow_device NAME MICROSECONDS PERCENT\n");
        return 2;
    }
    request.device.tcm_ifindex = (int)if_nametoindex(argv[1]);
    netem.latency =
        (__u32)(strtoul(argv[2], NULL, 10) * 1000 / 64); /* the scheduler's ticks are of 64 ns */
    netem.loss = (__u32)(strtoul(argv[3], NULL, 10) * (0xffffffffu / 100));
    add(&request, TCA_KIND, "netem", sizeof("netem"));
    add(&request, TCA_OPTIONS, &netem, sizeof(netem));
    if (send(netlink, &request, request.head.nlmsg_len, 0) < 0 ||
        recv(netlink, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(sizeof(int)))
        return 1;
    if (answer.error.error)
        fprintf(stderr, "slow_device: %s\n", strerror(-answer.error.error));
    return answer.error.error != 0;
}
