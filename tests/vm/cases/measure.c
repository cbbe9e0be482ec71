/* SPDX-License-Identifier: MIT */
/* measure CPU BATCHES [ROOM]: cost of instructions and probes in the kernel, as printed by nsmod.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <nslice/control.h>

int main(int argc, char **argv)
{
    static char text[65536];
    struct nslice_measure_request request = {
        .size = sizeof(request), .text = (__u64)(unsigned long)text, .room = sizeof(text)};
    const int fd = open(NSLICE_DEVICE, O_RDWR);

    if (argc < 3 || fd < 0) {
        fprintf(stderr, "usage: measure CPU BATCHES [ROOM], with nsmod loaded\n");
        return 2;
    }
    request.cpu = (__u32)strtoul(argv[1], NULL, 10);
    request.batches = (__u32)strtoul(argv[2], NULL, 10);
    if (argc > 3)
        request.room = (__u32)strtoul(argv[3], NULL, 10);
    if (ioctl(fd, NSLICE_IOC_MEASURE, &request)) {
        perror("measure");
        return 1;
    }
    printf("%s<%u bytes>\n", text, request.bytes);
    return 0;
}
