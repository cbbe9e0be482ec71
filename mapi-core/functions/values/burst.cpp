// SPDX-License-Identifier: MIT
// BURST: packets that follow each other at line rate -> bursts, and the gaps between them, by size.
#include <algorithm>
#include <bit>
#include <string>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint64_t kMaxCategories = 1u << 16;

// The arguments.  Category 0 is below `min`; the last one starts at `max` or slightly below it.
struct BurstLine {
    uint64_t min_bytes, max_bytes, step_bytes;
    uint64_t apart_ns; // from the end of a packet to the start of the next at line rate
    uint64_t late_ns, early_ns;
    uint64_t mbit_per_s;

    uint64_t ns_of(uint64_t bytes) const { return bytes * 8000 / mbit_per_s; }
    uint64_t bytes_in(uint64_t ns) const
    {
        const long double bytes =
            static_cast<long double>(ns) * static_cast<long double>(mbit_per_s) / 8000;
        return bytes < 0x1p63L ? uint64_t(bytes)
                               : uint64_t(1) << 63; // more than any gap that can be requested
    }
    uint64_t categories() const { return (max_bytes - min_bytes) / step_bytes + 2; }
    uint64_t category_of(uint64_t bytes) const
    {
        return bytes < min_bytes ? 0
                                 : std::min((bytes - min_bytes) / step_bytes + 1, categories() - 1);
    }
};

void add(uint64_t &word, uint64_t value)
{
    mapi_result_set(&word, word + value);
}

class Bursts
{
public:
    Bursts(const mapi_function_setup *setup, const BurstLine &line)
        : line_(line), categories_(allocate_result<mapi_burst_category_t>(
                           setup, line.categories() * sizeof(mapi_burst_category_t)))
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
            take(batch.packets[std::countr_zero(rest)]);
    }

    void end_burst()
    {
        if (packets_ == 0)
            return;
        mapi_burst_category_t &category = categories_[line_.category_of(bytes_)];
        add(category.bytes, bytes_);
        add(category.packets, packets_);
        add(category.bursts, 1);
        bytes_ = packets_ = 0;
    }

    void reset()
    {
        auto *const words = reinterpret_cast<uint64_t *>(categories_);
        for (uint64_t i = 0; i < line_.categories() * sizeof(*categories_) / sizeof(*words); ++i)
            mapi_result_set(words + i, 0);
        bytes_ = packets_ = 0;
    }

private:
    void take(const mapi_packet &packet)
    {
        const uint64_t time_ns = packet.timestamp_ns;
        if (packets_ &&
            (time_ns + line_.early_ns < expected_ns_ || time_ns > expected_ns_ + line_.late_ns)) {
            end_burst();
            note_gap(time_ns > expected_ns_ ? line_.bytes_in(time_ns - expected_ns_) : 0);
        }
        bytes_ += packet.wire_len;
        ++packets_;
        expected_ns_ = time_ns + line_.ns_of(packet.wire_len) + line_.apart_ns;
    }

    void note_gap(uint64_t bytes)
    {
        mapi_burst_category_t &category = categories_[line_.category_of(bytes)];
        add(category.gap_bytes, bytes);
        add(category.gaps, 1);
    }

    const BurstLine line_;
    mapi_burst_category_t *const categories_;
    uint64_t expected_ns_ = 0; // when the next packet arrives if the line stays busy
    uint64_t bytes_ = 0;
    uint64_t packets_ = 0;
};

int check(const mapi_function_setup *setup, const int64_t *given)
{
    static constexpr int kNumbers[] = {MFUNCT_INVALID_ARGUMENT_1, MFUNCT_INVALID_ARGUMENT_2,
                                       MFUNCT_INVALID_ARGUMENT_3, MFUNCT_INVALID_ARGUMENT_4,
                                       MFUNCT_INVALID_ARGUMENT_5, MFUNCT_INVALID_ARGUMENT_6,
                                       MFUNCT_INVALID_ARGUMENT};
    for (size_t i = 0; i < std::size(kNumbers); ++i) {
        if (given[i] < 0)
            return refuse(setup, kNumbers[i], "argument " + std::to_string(i + 1) + " is negative");
    }
    if (given[1] <= given[0])
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_2,
                      "the maximum size is not above the minimum");
    if (given[2] == 0 || uint64_t(given[1] - given[0]) / uint64_t(given[2]) + 2 > kMaxCategories)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3,
                      "the step is 0 or gives more than " + std::to_string(kMaxCategories) +
                          " categories");
    if (given[6] == 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT, "argument 7: the line speed is not above 0");
    return 0;
}

int create(const mapi_function_setup *setup, void **instance)
{
    int64_t given[7];
    for (size_t i = 0; i < std::size(given); ++i)
        given[i] = setup->arguments[i].number;
    if (const int refused = check(setup, given))
        return refused;
    const BurstLine line = {uint64_t(given[0]), uint64_t(given[1]), uint64_t(given[2]),
                            uint64_t(given[3]), uint64_t(given[4]), uint64_t(given[5]),
                            uint64_t(given[6])};
    return create_object<Bursts>(setup, instance, setup, line);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Bursts *>(instance)->run(*batch, mask);
    return mask;
}

// The last burst ends after the last packet.
void end(void *instance)
{
    static_cast<Bursts *>(instance)->end_burst();
}

constexpr mapi_function_ending kEnding = {
    .struct_size = sizeof(mapi_function_ending),
    .end = end,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_burst = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "BURST",
    .description = "histograms of bursts at line rate and of the gaps between them, by size",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Bursts>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT,
                  MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT},
    .reset = mapi::functions::reset<mapi::functions::Bursts>,
    .ending = &mapi::functions::kEnding,
};
