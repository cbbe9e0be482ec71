/* SPDX-License-Identifier: MIT */
/* kernel_recorder GROUPS MILLISECONDS: the kernel's own records for so long, as a trace on standard output. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nslice/control.h>

static int copy_until_end(int fd, int milliseconds)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    char bytes[65536];
    ssize_t count;

    poll(NULL, 0, milliseconds);
    if (ioctl(fd, NSLICE_IOC_END))
        return 1;
    while (poll(&readable, 1, -1) == 1 && (count = read(fd, bytes, sizeof(bytes))) > 0)
        if (write(STDOUT_FILENO, bytes, (size_t)count) != count)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct nslice_kernel_request request = {.size = sizeof(request), .flags = NSLICE_KERNEL_WHOLE};
    int fd = open(NSLICE_DEVICE, O_RDWR);

    if (argc != 3 || fd < 0) {
        fprintf(stderr, "usage: kernel_recorder GROUPS MILLISECONDS, with nsmod loaded\n");
        return 2;
    }
    request.groups = (__u64)(unsigned long)argv[1];
    request.groups_bytes = (__u32)strlen(argv[1]);
    if (ioctl(fd, NSLICE_IOC_KERNEL, &request)) {
        perror("kernel_recorder");
        return 1;
    }
    return copy_until_end(fd, atoi(argv[2]));
}
