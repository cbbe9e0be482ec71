// SPDX-License-Identifier: MIT
// Functions whose results come one by one through a ring, if their arguments ask for results at all.
#include "support/catch.hpp"

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"

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

TEST_CASE("a function that could give results one by one and made no ring has no result", "[mapi-core][engine]")
{
    const auto flow = std::make_shared<Flow>(make_device());
    const int sampler = apply_sampler(*flow, 0);
    flow->connect();
    CHECK(result_size(*flow, sampler) == 0);
    CHECK(flow->memory(sampler).result_bytes == 0);
    CHECK(error_of_read(*flow, sampler) == MAPI_SHM_ERR);
    flow->close();
}

TEST_CASE("a function that made a ring tells the size of each of its results", "[mapi-core][engine]")
{
    const auto flow = std::make_shared<Flow>(make_device());
    const int sampler = apply_sampler(*flow, 1);
    flow->connect();
    CHECK(result_size(*flow, sampler) == int(sizeof(mapi_sample_t)));
    CHECK(flow->memory(sampler).result_bytes == sizeof(mapi_sample_t));
    CHECK(flow->read_results(sampler) == nullptr); // next_results() waits for it
    flow->close();
}
