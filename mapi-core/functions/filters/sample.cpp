// SPDX-License-Identifier: MIT
// SAMPLE: packet -> passes every n-th (PERIODIC), or n percent of them (PROBABILISTIC).
// SAMPLE_PACKETS: the same for MAPI 1, with strings or numbers.
//
// Never shared between flows: the samples of two flows must be independent, and each flow's period
// starts at its own first packet.
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <mapi/mapi.h>
#include <mapi/sample.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/random_seed.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/sampler.hpp"

namespace mapi::functions
{
namespace
{
using Sampler = std::variant<PeriodicSampler, ProbabilisticSampler>;

int refuse_mode(const mapi_function_setup *setup, const std::string &mode)
{
    return refuse(setup, MFUNCT_INVALID_ARGUMENT_2,
                  "mode " + mode + " is neither 2 (PERIODIC) nor 3 (PROBABILISTIC)");
}

int create_sampler(const mapi_function_setup *setup, int64_t value, int64_t mode, void **instance)
{
    if (mode != PERIODIC && mode != PROBABILISTIC)
        return refuse_mode(setup, std::to_string(mode));
    if (value < 1)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the value is less than 1");
    if (mode == PROBABILISTIC && value > 100)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the value is more than 100 percent");
    try {
        if (mode == PERIODIC) {
            *instance = new Sampler(PeriodicSampler(uint64_t(value)));
        } else {
            *instance = new Sampler(ProbabilisticSampler(double(value) / 100.0, random_seed()));
        }
        return 0;
    } catch (const std::exception &error) {
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, error.what());
    }
}

int create(const mapi_function_setup *setup, void **instance)
{
    return create_sampler(setup, setup->arguments[0].number, setup->arguments[1].number, instance);
}

std::optional<int64_t> read_number(std::string_view text)
{
    int64_t number = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc() && stop == text.data() + text.size() ? std::optional(number)
                                                                      : std::nullopt;
}

int create_from_text(const mapi_function_setup *setup, void **instance)
{
    const char *value_text = setup->arguments[0].text;
    const char *mode_text = setup->arguments[1].text;
    if (!value_text || !mode_text)
        return refuse(setup, value_text ? MFUNCT_INVALID_ARGUMENT_2 : MFUNCT_INVALID_ARGUMENT_1,
                      value_text ? "the mode is missing" : "the value is missing");
    const auto value = read_number(value_text);
    if (!value)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1,
                      std::string("\"") + value_text + "\" is not a number");
    const std::string_view mode = mode_text;
    if (mode == "PERIODIC" || mode == "DET")
        return create_sampler(setup, *value, PERIODIC, instance);
    if (mode == "PROBABILISTIC" || mode == "PROB")
        return create_sampler(setup, *value, PROBABILISTIC, instance);
    const auto number = read_number(mode);
    if (!number)
        return refuse_mode(setup, std::string("\"") + mode_text + "\"");
    return create_sampler(setup, *value, *number, instance);
}

uint64_t process(void *instance, const mapi_batch *, uint64_t mask)
{
    return std::visit([mask](auto &sampler) { return sampler.sample(mask); },
                      *static_cast<Sampler *>(instance));
}

// Restarts the period; random sampling has no state to reset.
void begin_anew(void *instance)
{
    if (auto *sampler = std::get_if<PeriodicSampler>(static_cast<Sampler *>(instance)))
        sampler->reset();
}

int describe(const void *instance, uint16_t, mapi_offload_step *step)
{
    const auto *sampler = static_cast<const Sampler *>(instance);
    step->kind = MAPI_OFFLOAD_SAMPLE;
    if (const auto *periodic = std::get_if<PeriodicSampler>(sampler))
        step->period = periodic->period();
    else
        step->threshold = std::get<ProbabilisticSampler>(*sampler).threshold_of_32_bits();
    return 1;
}

// So that the period continues if the engine is the next to run the function.
void follow(void *instance, const mapi_offload_state *state)
{
    if (auto *sampler = std::get_if<PeriodicSampler>(static_cast<Sampler *>(instance)))
        sampler->continue_after(state->received);
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
    .follow = follow,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_sample = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "SAMPLE",
    .description = "passes every n-th packet, or n percent of them at random",
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Sampler>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT},
    .reset = mapi::functions::begin_anew,
    .offload = &mapi::functions::kOffload,
};

extern "C" const mapi_function mapi_fn_sample_packets = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "SAMPLE_PACKETS",
    .description = "SAMPLE as in MAPI 1, with strings or numbers",
    .create = mapi::functions::create_from_text,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Sampler>,
    .arguments = {MAPI_ARGUMENT_STRING_OR_NUMBER, MAPI_ARGUMENT_STRING_OR_NUMBER},
    .reset = mapi::functions::begin_anew,
    .offload = &mapi::functions::kOffload,
};
