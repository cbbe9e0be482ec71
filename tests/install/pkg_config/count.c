/* SPDX-License-Identifier: MIT */
/* install test: capture file -> number of its packets, counted by the installed libmapi. */
#include <stdio.h>

#include <mapi/mapi.h>

static int fail(const char *call)
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    int number = 0;

    mapi_read_error(&number, text);
    fprintf(stderr, "%s: %d %s\n", call, number, text);
    return 1;
}

int main(int argc, char **argv)
{
    mapi_results_t *result;
    int fd, counter;

    if (argc != 2)
        return 2;
    fd = mapi_create_offline_flow(argv[1], MFF_PCAP);
    if (fd < 0)
        return fail("mapi_create_offline_flow");
    counter = mapi_apply_function(fd, "PKT_COUNTER");
    if (counter < 0)
        return fail("mapi_apply_function");
    if (mapi_connect(fd) < 0)
        return fail("mapi_connect");
    if (mapi_wait_flow(fd, 20000) < 0)
        return fail("mapi_wait_flow");
    result = mapi_read_results(fd, counter);
    if (!result)
        return fail("mapi_read_results");
    printf("%llu\n", *(unsigned long long *)result->res);
    return mapi_close_flow(fd) < 0 ? fail("mapi_close_flow") : 0;
}
