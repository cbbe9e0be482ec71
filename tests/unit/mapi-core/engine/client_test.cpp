// SPDX-License-Identifier: MIT
// What the flows of one client share: memory that is counted, objects that are created once.
#include "engine/client.hpp"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "support/catch.hpp"

using mapi::engine::Arguments;
using mapi::engine::Client;
using mapi::engine::DeviceTotals;
using mapi::engine::Flow;
using mapi::engine::HeapArena;
using mapi::engine::Quota;
using mapi::engine::QuotaUse;
using test_support::make_device;

namespace
{
constexpr uint64_t kMiB = 1 << 20;

std::shared_ptr<Client> make_client(uint64_t bytes)
{
    return std::make_shared<Client>(std::make_shared<HeapArena>(),
                                    std::make_shared<Quota>(bytes, "--limit"));
}

uint64_t used(const std::shared_ptr<Client> &client)
{
    return client->quota()->used();
}

Arguments top_of_ports()
{
    Arguments arguments;
    for (const int number : {10, int(TOPX_UDP), int(TOPX_UDP_DSTPORT), int(SORT_BY_PACKETS), 0})
        arguments.push_back({'i', number, "", {}});
    return arguments;
}

Arguments text(const char *argument)
{
    return {{'s', 0, argument, {}}};
}
} // namespace

TEST_CASE("a quota gives no more than there is, and what is returned is available again",
          "[mapi-core][engine]")
{
    const auto quota = std::make_shared<Quota>(100);
    {
        QuotaUse one(quota), other(quota);
        CHECK(one.add(60));
        CHECK_FALSE(other.add(41));
        CHECK_FALSE(other.add(UINT64_MAX));
        CHECK(other.add(40));
        const QuotaUse moved = std::move(one);
        CHECK(moved.amount() == 60);
        CHECK(quota->used() == 100);
    }
    CHECK(quota->used() == 0);
}

TEST_CASE("a function that may need more than its client has left is refused, and others continue",
          "[mapi-core][engine]")
{
    const auto client = make_client(150 * kMiB), other = make_client(150 * kMiB);
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device, client),
               of_other = std::make_shared<Flow>(device, other);
    CHECK(flow->apply(mapi_fn_top, top_of_ports()) == 1);
    const uint64_t held = used(client);
    CHECK(held > 50 * kMiB);
    CHECK(flow->function_bytes() == held);
    try {
        flow->apply(mapi_fn_top, top_of_ports());
        FAIL("a second one has room");
    } catch (const mapi::Error &error) {
        CHECK(error.number() == MAPI_LIMIT_REACHED);
        CHECK_THAT(error.what(), Catch::Matchers::StartsWith("TOP: could need ") &&
                                     Catch::Matchers::Contains("of its 150 MiB (--limit)"));
    }
    CHECK(used(client) == held);
    CHECK(flow->apply(mapi_fn_pkt_counter, {}) == 2);
    CHECK(of_other->apply(mapi_fn_top, top_of_ports()) == 1);
}

TEST_CASE("memory reserved for a flow's functions is free again when it closes",
          "[mapi-core][engine]")
{
    const auto client = make_client(150 * kMiB);
    const auto device = make_device();
    for (int i = 0; i < 3; ++i) {
        const auto flow = std::make_shared<Flow>(device, client);
        REQUIRE(flow->apply(mapi_fn_top, top_of_ports()) == 1);
        flow->connect();
        flow->close();
    }
    CHECK(used(client) == 0);
}

TEST_CASE("each client that shares a function is charged for it until it releases it",
          "[mapi-core][engine]")
{
    const auto client = make_client(kMiB), other = make_client(kMiB);
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device, client);
    flow->apply(mapi_fn_bpf_filter, text("udp"));
    flow->connect();
    const uint64_t alone = used(client);
    CHECK(alone > 0);
    {
        const auto same = std::make_shared<Flow>(device, other);
        same->apply(mapi_fn_bpf_filter, text("udp"));
        same->connect();
        CHECK(used(other) == alone);
        flow->close();
        same->close();
    }
    CHECK(used(other) == 0);
    CHECK(used(client) == alone); // the flow is still there
}

TEST_CASE("long arguments are charged", "[mapi-core][engine]")
{
    const auto client = make_client(kMiB);
    const auto flow = std::make_shared<Flow>(make_device(), client);
    const std::string many = "udp port 1" + std::string(65000, ' ');
    CHECK_THROWS_WITH(flow->apply(mapi_fn_bpf_filter, text(many.c_str())),
                      Catch::Matchers::Contains("(--limit)"));
    CHECK(used(client) == 0);
}

TEST_CASE("objects shared by functions of a client are created and charged once, per client",
          "[mapi-core][engine]")
{
    const auto client = make_client(1024 * kMiB), other = make_client(1024 * kMiB),
               poor = make_client(kMiB);
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device, client);
    const Arguments rule = text("IP,SRC_IP,MAP");
    flow->apply(mapi_fn_anonymize, rule);
    const uint64_t one = used(client);
    flow->apply(mapi_fn_anonymize, rule);
    CHECK(used(client) - one < one / 2);
    CHECK(used(other) == 0);
    CHECK_THROWS_WITH(Flow(device, poor).apply(mapi_fn_anonymize, rule),
                      Catch::Matchers::Contains("(--limit)"));
    CHECK(used(poor) == 0);

    static const mapi_common_object kKind = {
        sizeof(mapi_common_object), []() -> void * { return new int(5); },
        [](void *object) { delete static_cast<int *>(object); }, 100, nullptr};
    const auto object = client->common_object(kKind);
    CHECK(client->common_object(kKind) == object);
    CHECK(other->common_object(kKind) != object);
    CHECK(used(other) == 100);
}

TEST_CASE("20000 filters of rates fit the default limit of a client", "[mapi-core][engine]")
{
    const auto client = make_client(4096 * kMiB);
    const auto flow = std::make_shared<Flow>(make_device(), client);
    const Arguments rule = text("threshold; type limit; track by_src; count 1; seconds 60");
    flow->apply(mapi_fn_rate_filter, rule);
    const uint64_t one = used(client);
    CHECK(one < 64 * kMiB);
    flow->apply(mapi_fn_rate_filter, rule);
    CHECK((used(client) - one) * 20000 < 1024 * kMiB);
}

TEST_CASE("an object of a device is there for each that asks, while its last holder releases it",
          "[mapi-core][engine]")
{
    static const mapi_common_object kKind = {
        sizeof(mapi_common_object), []() -> void * { return new int(5); },
        [](void *object) { delete static_cast<int *>(object); }, 100, nullptr};
    const auto client = make_client(1024 * kMiB);
    // Known objects that the client looks at before and after this one.
    std::vector<std::pair<std::shared_ptr<DeviceTotals>, std::shared_ptr<void>>> others;
    const auto device = std::make_shared<DeviceTotals>();
    for (int i = 0; i < 1000; ++i) {
        auto totals = std::make_shared<DeviceTotals>();
        auto object = client->watching_object(kKind, totals);
        others.emplace_back(std::move(totals), std::move(object));
    }
    std::atomic<int> missing = 0;
    const auto ask_often = [&] {
        for (int i = 0; i < 3000; ++i)
            missing += client->watching_object(kKind, device) ? 0 : 1;
    };
    std::thread asking(ask_often);
    ask_often();
    asking.join();
    CHECK(missing == 0);
    CHECK(used(client) == others.size() * 100);
}
