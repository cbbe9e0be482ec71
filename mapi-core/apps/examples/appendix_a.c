#include <stdio.h>
#include <unistd.h>    /* sleep */
#include "mapi.h"

int main(void)
{
    int fd;
    int counter_all;
    int total_packets=0;
    unsigned long long *cr;

    fd=mapi_create_flow("/dev/scampi/0");
    // fd=mapi_create_flow("eth1");
    counter_all=mapi_apply_function(fd, "PKT_COUNTER");
    mapi_connect(fd);

    while(1) {
        usleep(100000);
        cr=mapi_read_results(fd, counter_all, 1);
        total_packets+=*cr;
        printf("pkts all: %lld\n", total_packets);
        // printf("pkts all: %lld\n", *cr);
    }

    return 0;
}
