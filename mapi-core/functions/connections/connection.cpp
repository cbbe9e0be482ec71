// SPDX-License-Identifier: MIT
// CONNECTION: packets -> those whose connection is in a state, in a direction, with flow bits.
#include <bit>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/connections/connection_rule.hpp"

namespace mapi::functions
{
namespace
{
using connections::ConnectionRule;
using connections::Seen;
using connections::Tracker;

class ConnectionFilter
{
public:
    ConnectionFilter(Tracker &tracker, ConnectionRule rule, mapi_connections_t *result)
        : tracker_(tracker), rule_(std::move(rule)), result_(*result)
    {
    }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const auto i = unsigned(std::countr_zero(rest));
            const Seen seen = tracker_.find(batch, i);
            if (accepts(seen) &&
                (rule_.fact_tests.empty() || rule_.accepts(tracker_.facts_of(batch, i, seen))))
                passed |= rest & -rest;
        }
        const connections::Counts &counts = tracker_.counts();
        result_ = {counts.packets, counts.untracked, counts.connections, tracker_.evicted(),
                   counts.wrong_checksums};
        return passed;
    }

private:
    bool accepts(const Seen &seen)
    {
        if (!rule_.accepts(seen))
            return false;
        for (const connections::BitStep &test : rule_.tests) {
            if (!test.run(tracker_.bits_of(seen, false)))
                return false;
        }
        return true;
    }

    Tracker &tracker_;
    const ConnectionRule rule_;
    mapi_connections_t &result_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    auto *const tracker = common_object<Tracker>(setup, connections::kTracker);
    if (!tracker)
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, "out of memory");
    try {
        ConnectionRule rule =
            connections::read_connection_rule(setup->arguments[0].text, tracker->names());
        if (!rule.tests.empty())
            setup->run_in_order(setup);
        if (!rule.fact_tests.empty())
            tracker->keep_facts();
        return create_object<ConnectionFilter>(setup, instance, *tracker, std::move(rule),
                                               static_cast<mapi_connections_t *>(setup->result));
    } catch (const connections::TextError &error) {
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<ConnectionFilter *>(instance)->run(*batch, mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_connection = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "CONNECTION",
    .description = "passes packets by the state of their connection, direction and flow bits",
    .flags = MAPI_FUNCTION_PURE,
    .result_bytes = sizeof(mapi_connections_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::ConnectionFilter>,
    .arguments = {MAPI_ARGUMENT_STRING},
};
