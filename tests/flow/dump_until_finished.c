/* SPDX-License-Identifier: MIT */
/*
 * A program in the style of MAPI 2: takes a packet; if there is none, checks whether the flow has
 * finished. Prints how many packets of FILE pass FILTER. With a third argument it checks first and
 * takes a packet afterwards.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mapi.h>

#define NONE_MOST 100000 /* in a row: it would loop forever */

int main(int argc, char **argv)
{
    char *device;
    int fd, buffer;
    unsigned long packets = 0, none = 0;
    mapi_flow_info_t info;

    if (argc < 3 || !(device = mapi_create_offline_device(argv[1], MFF_PCAP)) ||
        (fd = mapi_create_flow(device)) < 0 || mapi_apply_function(fd, "BPF_FILTER", argv[2]) < 0 ||
        (buffer = mapi_apply_function(fd, "TO_BUFFER", WAIT)) < 0 || mapi_connect(fd) < 0 ||
        mapi_start_offline_device(device) < 0)
        return 2;
    info.status = FLOW_INIT;
    while (info.status != FLOW_FINISHED) {
        if (argc > 3) {
            mapi_get_flow_info(fd, &info);
            packets += info.status != FLOW_FINISHED && mapi_get_next_pkt(fd, buffer) != NULL;
            continue;
        }
        if (!mapi_get_next_pkt(fd, buffer)) {
            if (++none == NONE_MOST)
                return 3;
            continue;
        }
        ++packets;
        mapi_get_flow_info(fd, &info);
    }
    printf("%lu\n", packets);
    return mapi_close_flow(fd) < 0 || mapi_delete_offline_device(device) < 0;
}
