// SPDX-License-Identifier: MIT
// PERF_START and PERF_STOP: the cost of the functions between them, and nothing else.
#include "support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"

using mapi::engine::Argument;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;

namespace
{
// WORK n: takes as long as n dependent multiplications on each call. Every packet passes, or none.
uint64_t work(void *instance, const mapi_batch *, uint64_t mask)
{
    const int64_t rounds = *static_cast<int64_t *>(instance);
    uint64_t product = 3;
    for (int64_t i = 0; i < std::abs(rounds); ++i) {
        product *= 0x9e3779b97f4a7c15;
        __asm__ volatile("" : "+r"(product));
    }
    return rounds < 0 ? 0 : mask;
}

mapi_function make_work()
{
    mapi_function table = test_support::function_table("WORK", "i");
    table.flags = MAPI_FUNCTION_PURE;
    table.create = [](const mapi_function_setup *setup, void **instance) {
        *instance = new int64_t(setup->arguments[0].number);
        return 0;
    };
    table.process = work;
    table.destroy = [](void *instance) { delete static_cast<int64_t *>(instance); };
    return table;
}

const mapi_function kWork = make_work();
constexpr int64_t kRounds = 20000;

Argument number(int64_t n)
{
    return {'i', n, "", {}};
}

mapi_perf_t perf(Flow &flow, int stop)
{
    return *static_cast<mapi_perf_t *>(flow.read_results(stop)->res);
}

// Net ticks of one batch, as measured at `stop`.
double batch_ticks(Flow &flow, int stop, uint64_t before)
{
    return double(perf(flow, stop).ticks - before);
}

struct Measured {
    double least_ticks; // at the second one, of all batches
    double ratio;       // of the first one's to these, in the same batch; median
};

// Within a batch, the load of the machine is the same for both.
Measured measure(Flow &flow, int first, int second)
{
    std::vector<double> ticks, ratios;
    for (int i = 0; i < 101; ++i) {
        const uint64_t of_first = perf(flow, first).ticks, of_second = perf(flow, second).ticks;
        FakeSource::instance().give(8);
        ticks.push_back(batch_ticks(flow, second, of_second));
        ratios.push_back(batch_ticks(flow, first, of_first) / ticks.back());
    }
    std::ranges::nth_element(ratios, ratios.begin() + 50);
    return {std::ranges::min(ticks), ratios[50]};
}
} // namespace

TEST_CASE("functions between PERF_START and PERF_STOP are measured, and those around them are not",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    flow->apply(kWork, {number(10 * kRounds)});
    flow->apply(mapi_fn_perf_start, {});
    flow->apply(kWork, {number(kRounds)});
    flow->apply(kWork, {number(kRounds + 1)});
    const int two = flow->apply(mapi_fn_perf_stop, {});
    flow->apply(mapi_fn_perf_start, {});
    flow->apply(kWork, {number(kRounds)});
    const int one = flow->apply(mapi_fn_perf_stop, {});
    flow->apply(kWork, {number(10 * kRounds)});
    flow->connect();
    FakeSource::instance().give(5);
    CHECK(perf(*flow, two).calls == 2);
    CHECK(perf(*flow, one).calls == 1);
    CHECK(perf(*flow, one).packets == 5);
    const Measured measured = measure(*flow, two, one);
    CHECK(measured.least_ticks > kRounds); // each multiplication depends on the previous one
    CHECK(measured.ratio > 1.7);
    CHECK(measured.ratio < 2.3);
    CHECK(perf(*flow, one).ticks_ci95 < perf(*flow, one).ticks / 10);
    flow->close();
}

TEST_CASE("a function is measured wherever it runs, and once if it is shared with an older flow",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto old = std::make_shared<Flow>(device), young = std::make_shared<Flow>(device);
    old->apply(kWork, {number(kRounds)});
    old->connect();
    FakeSource::instance().give(5);
    young->apply(mapi_fn_perf_start, {});
    young->apply(kWork, {number(kRounds)});
    const int stop = young->apply(mapi_fn_perf_stop, {});
    young->connect();
    FakeSource::instance().give(5);
    FakeSource::instance().give(6);
    CHECK(perf(*young, stop).calls == 2);
    CHECK(perf(*young, stop).packets == 11);
    CHECK(perf(*young, stop).ticks > 2 * kRounds);
    old->close();
    young->close();
}

TEST_CASE("a function that does not run costs nothing, and its earlier cost stays",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    flow->apply(mapi_fn_perf_start, {});
    flow->apply(kWork, {number(-kRounds)}); // nothing passes
    flow->apply(kWork, {number(10 * kRounds)});
    const int stop = flow->apply(mapi_fn_perf_stop, {});
    flow->connect();
    FakeSource::instance().give(5);
    CHECK(perf(*flow, stop).calls == 1);
    CHECK(perf(*flow, stop).ticks > kRounds);
    FakeSource::instance().finish();
    CHECK(flow->wait_for_end(10000));
    CHECK(perf(*flow, stop).calls == 1);
    flow->close();
}

TEST_CASE("pairs of PERF_START and PERF_STOP nest, and each can be reset by itself",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    flow->apply(mapi_fn_perf_start, {});
    flow->apply(kWork, {number(kRounds)});
    flow->apply(mapi_fn_perf_start, {});
    flow->apply(kWork, {number(kRounds)});
    const int inner = flow->apply(mapi_fn_perf_stop, {}),
              outer = flow->apply(mapi_fn_perf_stop, {});
    flow->connect();
    FakeSource::instance().give(5);
    flow->reset(inner);
    FakeSource::instance().give(4);
    CHECK(perf(*flow, outer).calls == 4);
    CHECK(perf(*flow, outer).packets == 9);
    CHECK(perf(*flow, inner).calls == 1);
    CHECK(perf(*flow, inner).packets == 4);
    flow->close();
}

TEST_CASE("PERF_STOP requires its PERF_START, which cannot be removed before it",
          "[mapi-core][engine]")
{
    const auto error_of = [](auto call) {
        try {
            call();
            return 0;
        } catch (const mapi::Error &error) {
            return error.number();
        }
    };
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    CHECK(error_of([&] { flow->apply(mapi_fn_perf_stop, {}); }) == MFUNCT_COULD_NOT_APPLY_FUNCT);
    const int start = flow->apply(mapi_fn_perf_start, {}),
              stop = flow->apply(mapi_fn_perf_stop, {});
    CHECK(error_of([&] { flow->apply(mapi_fn_perf_stop, {}); }) == MFUNCT_COULD_NOT_APPLY_FUNCT);
    CHECK(error_of([&] { flow->remove(start); }) == MAPI_FUNCTION_IN_USE);
    flow->remove(stop);
    flow->remove(start);
}

TEST_CASE("filters that many flows have are measured one by one", "[mapi-core][engine]")
{
    const auto device = make_device();
    std::vector<std::shared_ptr<Flow>> flows;
    int stop = 0;
    for (int i = 0; i < 20; ++i) {
        flows.push_back(std::make_shared<Flow>(device));
        if (i == 7)
            flows.back()->apply(mapi_fn_perf_start, {});
        flows.back()->apply(mapi_fn_bpf_filter, {{'s', 0, "port " + std::to_string(1000 + i), {}}});
        if (i == 7)
            stop = flows.back()->apply(mapi_fn_perf_stop, {});
        flows.back()->connect();
    }
    for (int i = 0; i < 3; ++i)
        FakeSource::instance().give(9);
    CHECK(perf(*flows[7], stop).calls == 3);
    CHECK(perf(*flows[7], stop).packets == 27);
    for (const auto &flow : flows)
        flow->close();
}
