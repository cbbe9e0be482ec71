/* SPDX-License-Identifier: MIT */
/*
 * reader [snapshot] ID [MILLISECONDS]: writes a session's trace to standard output; with
 * MILLISECONDS, requests END after this time. ID 0: any; "newest": the newest session.  Exit code
 * 1: the device refused.
 */
#define _GNU_SOURCE
#include <poll.h>

#include "device.h"

static uint32_t newest_session(void)
{
    static struct nslice_session_entry entries[64];
    struct nslice_list_request request = {
        .size = sizeof(request), .room = 64, .entries = (uint64_t)(uintptr_t)entries};
    const int fd = open_device(O_RDWR);

    must(ioctl(fd, NSLICE_IOC_LIST, &request), "list");
    close(fd);
    must(request.count == 0 || request.count > 64, "no session");
    return entries[request.count - 1].id;
}

int main(int argc, char **argv)
{
    const int is_snapshot = argc > 1 && strcmp(argv[1], "snapshot") == 0;
    struct nslice_reader_request request = {.size = sizeof(request),
                                            .flags = is_snapshot ? NSLICE_READER_SNAPSHOT : 0};
    const int fd = open_device(O_RDWR);
    static char bytes[65536];
    ssize_t got;

    argc -= is_snapshot;
    argv += is_snapshot;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: reader [snapshot] ID|newest [MILLISECONDS]\n");
        return 2;
    }
    request.session =
        strcmp(argv[1], "newest") == 0 ? newest_session() : (uint32_t)strtoul(argv[1], NULL, 0);
    if (ioctl(fd, NSLICE_IOC_READER, &request)) {
        perror("reader");
        return 1;
    }
    if (argc == 3) {
        poll(NULL, 0, atoi(argv[2]));
        must(ioctl(fd, NSLICE_IOC_END), "end");
    }
    while ((got = read(fd, bytes, sizeof(bytes))) > 0)
        if (write(STDOUT_FILENO, bytes, (size_t)got) != got)
            return 2;
    return got != 0;
}
