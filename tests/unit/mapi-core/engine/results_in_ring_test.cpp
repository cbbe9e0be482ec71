// SPDX-License-Identifier: MIT
// Functions whose results are read one by one from a ring, if their arguments request results at
// all.
#include "support/catch.hpp"

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"

#include <mapi/mapi.h>

using mapi::engine::Flow;
using test_support::make_device;

namespace
{
int apply_sampler(Flow &flow, int64_t keeps)
{
    return flow.apply(mapi_fn_hashsamp, {{'i', 1024, "", {}}, {'i', keeps, "", {}}});
}

int result_size(Flow &flow, int fid)
{
    mapi_function_info_t info = {};
    flow.describe(fid, &info);
    return info.result_size;
}

int instances = 0;

// Of a function that creates a ring.
mapi_function make_ring_table(uint32_t flags)
{
    mapi_function table = test_support::function_table("RINGS");
    table.flags = flags;
    table.create = [](const mapi_function_setup *setup, void **instance) {
        const mapi_ring_options options = {0, 0, 4096, 0, 0};
        *instance = setup->ring->make(setup, &options);
        ++instances;
        return 0;
    };
    table.process = [](void *, const mapi_batch *, uint64_t mask) { return mask; };
    table.destroy = [](void *) { --instances; };
    return table;
}

int error_of_read(Flow &flow, int fid)
{
    try {
        flow.read_results(fid);
        return 0;
    } catch (const mapi::Error &error) {
        return error.number();
    }
}
} // namespace

TEST_CASE("a function that could return results one by one but made no ring has no result",
          "[mapi-core][engine]")
{
    const auto flow = std::make_shared<Flow>(make_device());
    const int sampler = apply_sampler(*flow, 0);
    flow->connect();
    CHECK(result_size(*flow, sampler) == 0);
    CHECK(flow->memory(sampler).result_bytes == 0);
    CHECK(error_of_read(*flow, sampler) == MAPI_SHM_ERR);
    flow->close();
}

TEST_CASE("a ring that the function's table does not declare is refused, the instance destroyed",
          "[mapi-core][engine]")
{
    const mapi_function lost = make_ring_table(0),
                        packets = make_ring_table(MAPI_FUNCTION_PACKETS_IN_RING);
    mapi_function results = make_ring_table(MAPI_FUNCTION_RESULTS_IN_RING),
                  composed = make_ring_table(MAPI_FUNCTION_RESULT_IN_PLACE);
    results.result_bytes = sizeof(uint64_t);
    static mapi_function_result result = {};
    result.struct_size = sizeof(result);
    composed.result = &result;
    result.compose = [](mapi_reading *, void *) {};
    instances = 0;
    {
        const auto flow = std::make_shared<Flow>(make_device());
        try {
            flow->apply(lost, {});
            FAIL("it is applied");
        } catch (const mapi::Error &error) {
            CHECK(error.number() == MAPI_INTERNAL_ERROR);
            CHECK_THAT(
                error.what(),
                Catch::StartsWith("RINGS: makes a ring, but its table has neither "
                                  "MAPI_FUNCTION_RESULTS_IN_RING nor "
                                  "MAPI_FUNCTION_PACKETS_IN_RING nor a compose() of its result"));
        }
        CHECK(instances == 0);
        for (const mapi_function *table :
             std::initializer_list<const mapi_function *>{&results, &packets, &composed})
            flow->apply(*table, {});
        CHECK(instances == 3);
        flow->close();
    }
    CHECK(instances == 0);
}

TEST_CASE("a function that made a ring reports the size of each of its results",
          "[mapi-core][engine]")
{
    const auto flow = std::make_shared<Flow>(make_device());
    const int sampler = apply_sampler(*flow, 1);
    flow->connect();
    CHECK(result_size(*flow, sampler) == int(sizeof(mapi_sample_t)));
    CHECK(flow->memory(sampler).result_bytes == sizeof(mapi_sample_t));
    CHECK(flow->read_results(sampler) == nullptr); // next_results() waits for it
    flow->close();
}
