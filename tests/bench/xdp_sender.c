/* SPDX-License-Identifier: MIT */
/* xdp_sender INTERFACE PACKETS BYTES: sends UDP frames as XDP frames, as fast as one core can: the
 * kernel runs a program that redirects each to the interface.  At the other end of a veth pair they
 * arrive as on a driver that supports XDP.  Prints frames sent and seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <net/if.h>

enum { BATCH = 64, ADDRESS_BYTES = 12, BYTES_MAX = 1514 };

static void fill(unsigned char *frame, size_t bytes)
{
    static const unsigned char headers[] = {0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17};

    memset(frame, 0xff, ADDRESS_BYTES);
    memset(frame + ADDRESS_BYTES, 0, bytes - ADDRESS_BYTES);
    memcpy(frame + ADDRESS_BYTES, headers, sizeof(headers));
    frame[16] = (unsigned char)((bytes - 14) >> 8);
    frame[17] = (unsigned char)(bytes - 14);
}

static int load_redirect(const char *interface)
{
    const struct bpf_insn program[] = {
        {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, (int)if_nametoindex(interface)},
        {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 0},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };

    return bpf_prog_load(BPF_PROG_TYPE_XDP, "xdp_sender", "Dual MIT/GPL", program,
                         sizeof(program) / sizeof(*program), NULL);
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
    struct xdp_md ends = {0};
    unsigned long packets, bytes;
    double begin_s;
    int program;

    if (argc != 4 || (bytes = strtoul(argv[3], NULL, 10)) < 42 || bytes > BYTES_MAX) {
        fprintf(stderr, "usage: xdp_sender INTERFACE PACKETS BYTES, from 42 to %d\n", BYTES_MAX);
        return 2;
    }
    packets = strtoul(argv[2], NULL, 10);
    fill(frame, bytes);
    ends.data_end = (unsigned)bytes;
    program = load_redirect(argv[1]);
    if (program < 0) {
        perror("xdp_sender: the program cannot be loaded");
        return 1;
    }
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = (unsigned)bytes,
                .ctx_in = &ends, .ctx_size_in = sizeof(ends), .repeat = (int)packets,
                .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
    begin_s = now_s();
    if (bpf_prog_test_run_opts(program, &options) != 0) {
        perror("xdp_sender: BPF_PROG_TEST_RUN with live frames (Linux 5.18)");
        return 1;
    }
    printf("%lu %.6f\n", packets, now_s() - begin_s);
    return 0;
}
