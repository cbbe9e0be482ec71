// SPDX-License-Identifier: MIT
// Every macro once, one per line, in C++: tests/abi/compiled_out.sh compares the file with and
// without them.
#include <cstdint>
#include <nsprobe/probe.h>

template <class Word> struct Sum {
    Word value{};
    void add(Word word)
    {
        NET_SLICE_SCOPE(add);
        value += word;
    }
};

uint64_t work(const uint64_t *words, unsigned count);

uint64_t work(const uint64_t *words, unsigned count)
{
    NET_SLICE_CONF("output=t.nsl");
    NET_SLICE_INIT(batch, count, count, 64 * count);
    Sum<uint64_t> sum;
    const auto add = [&](uint64_t word) {
        NET_SLICE_START(lambda);
        sum.add(word);
        NET_SLICE_MARK(sum, sum.value);
        NET_SLICE_STOP(lambda);
    };
    for (unsigned i = 0; i < count; ++i)
        add(words[i]);
    NET_SLICE_START_AT(NET_SLICE_CREATE("named"));
    NET_SLICE_EXIT(batch);
    return sum.value;
}
