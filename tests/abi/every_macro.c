/* SPDX-License-Identifier: MIT */
/* Every macro once, one per line, around code that is also there without them:
   tests/abi/compiled_out.sh compares the two. */
#include <nsprobe/probe.h>
#include <stdint.h>

static uint64_t sum;

static inline uint64_t add(uint64_t a, uint64_t b)
{
    NET_SLICE_START(add);
    const uint64_t c = a + b;
    NET_SLICE_STOP(add);
    return c;
}

uint64_t work(const uint64_t *words, unsigned count);

uint64_t work(const uint64_t *words, unsigned count)
{
    NET_SLICE_CONF("output=t.nsl");
    NET_SLICE_INIT(batch, sum++, count, 64 * count);
    for (unsigned i = 0; i < count; ++i) {
        NET_SLICE_START(round);
        sum = add(sum, words[i]);
        NET_SLICE_MARK(sum, sum += 1000);
        NET_SLICE_STOP(round);
    }
    NET_SLICE_EXIT(batch);
    NET_SLICE_START_AT(NET_SLICE_CREATE("seven"));
    NET_SLICE_STOP_AT((struct nsp_slice *)&sum);
    return sum;
}
