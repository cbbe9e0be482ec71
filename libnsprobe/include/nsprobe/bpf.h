/* SPDX-License-Identifier: MIT */
/*
 * For the loader of a BPF program with probes (<nslice/bpf.h>).  Inline, with libbpf 1.0 or newer:
 * a program that includes it links libbpf; libnsprobe itself does not need it.
 */
#ifndef NSPROBE_BPF_H
#define NSPROBE_BPF_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/times.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <nslice/bpf_site.h>
#include <nslice/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Call after bpf_object__open() and before bpf_object__load(): a ring for each CPU of this machine,
 * of ring_bytes data bytes (a power of two from 4 KiB to 2 MiB; 0: as the program was built).
 * Returns 0 or -errno; an object without probes is not an error.
 */
static inline int nsp_bpf_prepare(struct bpf_object *object, uint64_t ring_bytes)
{
    struct bpf_map *const rings = bpf_object__find_map_by_name(object, NSLICE_BPF_RINGS);
    struct bpf_map *const mask = bpf_object__find_map_by_name(object, ".rodata.nsring");
    const int cpus = libbpf_num_possible_cpus();
    size_t bytes = 0;
    void *value;
    int err;

    if (!rings)
        return 0;
    if (cpus < 0)
        return cpus;
    err = bpf_map__set_max_entries(rings, (uint32_t)cpus);
    if (err || ring_bytes == 0)
        return err;
    value = mask ? (void *)(uintptr_t)bpf_map__initial_value(mask, &bytes) : NULL;
    if (ring_bytes < 4096 || ring_bytes > (2u << 20) || (ring_bytes & (ring_bytes - 1)) != 0 ||
        !value || bytes != sizeof(uint32_t))
        return -EINVAL;
    *(uint32_t *)value = (uint32_t)(ring_bytes / NSLICE_WORD_BYTES - 1);
    return bpf_map__set_value_size(rings, (uint32_t)(NSLICE_RING_META_BYTES + ring_bytes));
}

/* Of a loaded object: whether a recorder records it now.  As NET_SLICE_IS_ON() in the program. */
static inline int nsp_bpf_is_on(const struct bpf_object *object)
{
    const struct bpf_map *const map =
        bpf_object__find_map_by_name(object, NSLICE_BPF_SITES_SECTION);
    const uint32_t bytes = map ? bpf_map__value_size(map) : 0, only = 0;
    struct nslice_bpf_site *const sites = (struct nslice_bpf_site *)malloc(bytes);
    int is_on = 0;

    if (map && sites && bpf_map_lookup_elem(bpf_map__fd(map), &only, sites) == 0)
        for (uint32_t i = 0; i < bytes / sizeof(*sites); ++i)
            is_on |= sites[i].kind == 0 && sites[i].bits != 0;
    free(sites);
    return is_on;
}

/*
 * Waits until a recorder records the loaded object: recorders look for new programs about every
 * 50 ms.  Later records are not missed.  Returns 0, -ETIMEDOUT, or -ENOENT for an object without
 * probes.  The clock is the kernel's of 10 ms, which strict C11 has, too.
 */
static inline int nsp_bpf_wait(const struct bpf_object *object, unsigned milliseconds)
{
    struct tms ignored;
    const int64_t begin = times(&ignored), per_second = sysconf(_SC_CLK_TCK);

    if (!bpf_object__find_map_by_name(object, NSLICE_BPF_SITES_SECTION))
        return -ENOENT;
    while (!nsp_bpf_is_on(object)) {
        const int64_t whole = times(&ignored) - begin - 1; /* the first may be the rest of one */

        if (whole * 1000 >= (int64_t)milliseconds * per_second)
            return -ETIMEDOUT;
        poll(NULL, 0, 1);
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_BPF_H */
