// SPDX-License-Identifier: MIT
// Fuzz target: a function with any arguments of the right kinds -> it refuses them, or processes
// packets; no byte read outside a packet, no mask gains bits. Input: which function, then an
// argument for each letter (a text up to a zero byte, or eight bytes of a number), then packets.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "functions_harness.hpp"

namespace
{
using namespace fuzz;

// Takes host names, whose look-up is slow if there are none.
bool asks_for_names(const mapi_function &function)
{
    const auto &kinds = function.arguments;
    return std::find(std::begin(kinds), std::end(kinds), uint16_t(MAPI_ARGUMENT_OUTPUT)) !=
           std::end(kinds);
}

int64_t take_number(const uint8_t *&data, size_t &size)
{
    int64_t number = 0;
    const size_t bytes = std::min(size, sizeof(number));
    memcpy(&number, data, bytes);
    data += bytes;
    size -= bytes;
    return number;
}

std::string take_text(const uint8_t *&data, size_t &size)
{
    const size_t bytes = strnlen(reinterpret_cast<const char *>(data), size);
    std::string text(reinterpret_cast<const char *>(data), bytes);
    data += std::min(bytes + 1, size);
    size -= std::min(bytes + 1, size);
    return text;
}
} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    leave_network();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const auto functions = mapi::functions::catalog();
    const mapi_function &function = *functions[*data++ % functions.size()];
    --size;
    if (asks_for_names(function))
        return 0;
    std::vector<std::string> texts;
    Case chosen{&function, {}, {}};
    texts.reserve(MAPI_ARGUMENTS_MAX);
    for (const uint16_t *listed = function.arguments; *listed; ++listed) {
        const char letter = char(MAPI_ARGUMENT_KIND(*listed));
        if (strchr("swS", letter)) {
            texts.push_back(take_text(data, size));
            chosen.texts.push_back(texts.back().c_str());
        }
        if (letter == MAPI_ARGUMENT_INT || letter == MAPI_ARGUMENT_INT64)
            chosen.numbers.push_back(take_number(data, size));
        else if (strchr("rfwSF", letter))
            chosen.numbers.push_back(1);
        if (letter == MAPI_ARGUMENT_FLOWS)
            chosen.texts.push_back("1");
    }
    Instance instance(chosen, true);
    const Packets packets(data, size);
    if (!instance.is_there() || packets.views.empty())
        return 0;
    mapi_batch batch;
    mapi_batch_fill(&batch, packets.views.data(), uint32_t(packets.views.size()));
    instance.run(batch);
    return 0;
}
