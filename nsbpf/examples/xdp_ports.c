/* SPDX-License-Identifier: MIT */
/*
 * Loads xdp_ports.bpf.o, attaches it to an interface, and detaches it at SIGINT or SIGTERM:
 *
 *	NETSLICE=output=ports.nsl ./xdp_ports [-r BYTES] eth0 53 5353
 *	nsdump record -k programs -w ports.nsl -- ./xdp_ports [-w] [-r BYTES] eth0 53 5353
 *	nsdump stats ports.nsl
 *
 * The first records both its own probes and those of the program in a session of its own, for which
 * it is linked with nsprobe-bpf.  -w: waits for a recorder before it attaches.  -r: data bytes of
 * each CPU's ring.
 */
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <nsprobe/bpf.h>
#include <nsprobe/bpf_session.h>
#include <nsprobe/probe.h>

#define RECORDER_MS 10000

struct options {
    int waits;
    uint64_t ring_bytes;
    const char *interface;
    char **ports;
    int ports_count;
};

static int fail(const char *what, int err)
{
    fprintf(stderr, "xdp_ports: %s: %s\n", what, strerror(err < 0 ? -err : err));
    return 1;
}

static int parse(int argc, char **argv, struct options *options)
{
    int letter;

    while ((letter = getopt(argc, argv, "wr:")) != -1) {
        if (letter == 'w')
            options->waits = 1;
        else if (letter == 'r')
            options->ring_bytes = strtoull(optarg, NULL, 0);
        else
            return -1;
    }
    if (optind >= argc)
        return -1;
    options->interface = argv[optind];
    options->ports = argv + optind + 1;
    options->ports_count = argc - optind - 1;
    return 0;
}

/* The object is next to this program. */
static struct bpf_object *open_object(void)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 7);

    if (length < 0)
        return NULL;
    strcpy(path + length, ".bpf.o");
    return bpf_object__open(path);
}

static int block(struct bpf_object *object, const struct options *options)
{
    const int map = bpf_object__find_map_fd_by_name(object, "blocked");

    for (int i = 0; i < options->ports_count; ++i) {
        const uint16_t port = (uint16_t)atoi(options->ports[i]);
        const uint64_t none = 0;

        if (bpf_map_update_elem(map, &port, &none, BPF_ANY) != 0)
            return -errno;
    }
    return 0;
}

static int run(struct bpf_object *object, const struct options *options, const sigset_t *ends)
{
    struct bpf_program *const program = bpf_object__find_program_by_name(object, "xdp_ports");
    struct bpf_link *link;
    int number, err;

    err = nsp_bpf_prepare(object, options->ring_bytes);
    if (err)
        return fail("rings", err);
    err = bpf_object__load(object);
    if (err)
        return fail("load", err);
    err = block(object, options);
    if (err)
        return fail("table of ports", err);
    NET_SLICE_BPF_RECORD(); /* before the first packet */
    if (options->waits && (err = nsp_bpf_wait(object, RECORDER_MS)) != 0)
        return fail("no recorder", err);
    NET_SLICE_START(attach);
    link = bpf_program__attach_xdp(program, (int)if_nametoindex(options->interface));
    NET_SLICE_STOP(attach);
    if (!link)
        return fail(options->interface, errno);
    puts("ready");
    fflush(stdout);
    sigwait(ends, &number);
    bpf_link__destroy(link);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct bpf_object *object;
    sigset_t ends;
    int result;

    if (parse(argc, argv, &options) != 0) {
        fprintf(stderr, "usage: xdp_ports [-w] [-r BYTES] INTERFACE PORT...\n");
        return 2;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    object = open_object();
    if (!object)
        return fail("xdp_ports.bpf.o", errno);
    result = run(object, &options, &ends);
    bpf_object__close(object);
    return result;
}
