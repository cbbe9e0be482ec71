// SPDX-License-Identifier: MIT
// CONNECTION_BITS: packets -> changed flow bits of their connections, and those that pass tests.
#include <bit>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/connections/bit_steps.hpp"
#include "functions/connections/tracker.hpp"

namespace mapi::functions
{
namespace
{
using connections::BitStep;
using connections::Tracker;

class BitsChanger
{
public:
    BitsChanger(Tracker &tracker, std::vector<BitStep> steps)
        : tracker_(tracker), steps_(std::move(steps))
    {
    }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            if (take(tracker_.find(batch, unsigned(std::countr_zero(rest)))))
                passed |= rest & -rest;
        }
        return passed;
    }

private:
    // After a test that fails, the steps behind it do nothing; noalert changes nothing for them.
    bool take(const connections::Seen &seen)
    {
        bool has_alert = true;
        for (const BitStep &step : steps_) {
            const bool passes = step.run(tracker_.bits_of(seen, !step.is_test()));
            if (!passes && step.is_test())
                return false;
            has_alert = has_alert && passes;
        }
        return has_alert;
    }

    Tracker &tracker_;
    const std::vector<BitStep> steps_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    auto *const tracker = common_object<Tracker>(setup, connections::kTracker);
    if (!tracker)
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, "out of memory");
    try {
        std::vector<BitStep> steps;
        for (const connections::Word &part :
             connections::split({setup->arguments[0].text, 0}, ";")) {
            if (!part.text.empty())
                steps.push_back(connections::read_bit_step(part, tracker->names()));
        }
        if (steps.empty())
            return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "at 0: there is nothing to do");
        setup->run_in_order(setup);
        return create_object<BitsChanger>(setup, instance, *tracker, std::move(steps));
    } catch (const connections::TextError &error) {
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<BitsChanger *>(instance)->run(*batch, mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_connection_bits = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "CONNECTION_BITS",
    .description = "tests and changes flow bits of a packet's connection",
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::BitsChanger>,
    .arguments = {MAPI_ARGUMENT_STRING},
};
