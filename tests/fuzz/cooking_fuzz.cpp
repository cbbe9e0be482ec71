// SPDX-License-Identifier: MIT
// Fuzz target: any packets through COOKING and UNCOOK -> no byte read outside them, every byte of
// payload accounted for, and packets whose headers agree with their length. Input: a byte that
// selects the link type and the arguments, then packets, each preceded by its length (two bytes)
// and the seconds since the previous one (one byte).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <mapi/mapi.h>

#include "functions/catalog.hpp"
#include "headers/headers.hpp"
#include "support/function_memory.hpp"

namespace
{
constexpr uint16_t kLinkTypes[] = {1, 101, 0, 113};

template <class Result> struct Function {
    const mapi_function &table;
    Result result{};
    void *instance = nullptr;

    Function(const mapi_function &of, const std::vector<int64_t> &numbers) : table(of)
    {
        std::vector<mapi_argument> arguments;
        for (const int64_t number : numbers)
            arguments.push_back({nullptr, number, 'i', nullptr, nullptr});
        arguments.resize(4); // the optional ones are left out
        mapi_function_setup setup{};
        setup.struct_size = sizeof(setup);
        setup.argument_count = uint32_t(arguments.size());
        setup.arguments = arguments.data();
        setup.result = &result;
        give_memory(setup);
        if (table.create(&setup, &instance) != 0)
            abort();
    }
    ~Function() { table.destroy(instance); }
};

void check(const mapi_packet &packet)
{
    const auto found = mapi::headers::parse(packet);
    const auto *ip = found.innermost();
    if (!ip || ip->end != packet.caplen || packet.caplen != packet.wire_len ||
        !mapi::headers::payload_of(packet, *ip))
        abort();
}

// The output of COOKING is the input of UNCOOK.
void drain(Function<mapi_cooking_t> &cook, Function<mapi_uncook_t> &uncook, const uint8_t *foreign,
           size_t foreign_bytes)
{
    for (mapi_batch made; cook.table.transform->next_batch(cook.instance, &made);) {
        for (uint32_t i = 0; i < made.count; ++i) {
            if (made.packets[i].data < foreign || made.packets[i].data > foreign + foreign_bytes)
                check(made.packets[i]);
        }
        uncook.table.process(uncook.instance, &made, made.all);
        for (mapi_batch cut; uncook.table.transform->next_batch(uncook.instance, &cut);) {
        }
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const uint8_t choice = *data++;
    --size;
    Function<mapi_cooking_t> cook(mapi_fn_cooking, {choice & 4 ? 0 : 37, choice & 8 ? 0 : 3,
                                                    choice & 16 ? 1 : 0, 1 + (choice >> 5) % 3});
    Function<mapi_uncook_t> uncook(mapi_fn_uncook, {11});
    uint64_t now = 0;
    while (size > 3) {
        const size_t bytes = std::min<size_t>(size_t(data[0]) << 8 | data[1], size - 3);
        now += data[2] * uint64_t(1000000000);
        const std::vector<uint8_t> copy(data + 3,
                                        data + 3 + bytes); // to detect access beyond its end
        const mapi_packet packet = {
            copy.data(), uint32_t(bytes), uint32_t(bytes), now, kLinkTypes[choice & 3], 0, 0};
        mapi_batch batch;
        mapi_batch_fill(&batch, &packet, 1);
        cook.table.process(cook.instance, &batch, batch.all);
        drain(cook, uncook, copy.data(), bytes);
        data += 3 + bytes;
        size -= 3 + bytes;
    }
    cook.table.transform->flush(cook.instance);
    drain(cook, uncook, nullptr, 0);
    const mapi_cooking_t &counts = cook.result;
    if (counts.bytes != counts.cooked_bytes + counts.other_bytes + counts.repeated_bytes)
        abort();
    return 0;
}
