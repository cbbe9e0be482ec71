#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/time.h>
#include "mapi.h"

int main(void)
{
    int fd;
    int counter_all, counter_bpf, counter_str;
    unsigned long long *cr, *cr2, *cr3;
    int bufid;
    struct mapipkt* pkt;
    int i, j;
    unsigned char *p;
    char *fce="testcombo6()";

    fd=mapi_create_flow("/dev/scampi/0");
    counter_all=mapi_apply_function(fd, "PKT_COUNTER");
    mapi_apply_function(fd, "BPF_FILTER", "src port 2005");
    mapi_apply_function(fd,"SAMPLE_PACKETS","5", "PROBABILISTIC");
    counter_bpf=mapi_apply_function(fd, "PKT_COUNTER");
    mapi_apply_function(fd,"STR_SEARCH", "www", 0, 1500);
    counter_str=mapi_apply_function(fd, "PKT_COUNTER");
    bufid=mapi_apply_function(fd, "TO_BUFFER");
    mapi_connect(fd);

    while(1) {
        sleep(1);

        cr=mapi_read_results(fd, counter_all, 1);

        pkt=mapi_get_next_pkt(fd, bufid);

        printf("size: %d\n", pkt->caplen);

        cr2=mapi_read_results(fd, counter_bpf, 1);
        cr3=mapi_read_results(fd, counter_str, 1);
        printf("pkts all:%lld bpf:%lld (%.2f%%) str:%lld (%.2f%%)\n",
            *cr, *cr2, ((double)(*cr2)/(double)(*cr))*100.0, *cr3, ((double)(*cr3)/(double)(*cr))*100);
    }

    return 0;
}
