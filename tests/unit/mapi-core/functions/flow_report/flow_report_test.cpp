// SPDX-License-Identifier: MIT
// FLOW_REPORT on a live device: a flow is reported once it has ended, without another packet.
#include "functions/catalog.hpp"

#include <string>
#include <vector>

#include <mapi/results.h>

#include "mapi-core/functions/ring_setup.hpp"
#include "support/catch.hpp"

namespace
{
constexpr uint64_t kSecond = 1000000000;

// UDP, 28 bytes.
constexpr uint8_t kPacket[] = {0x45, 0, 0,  28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0,
                               0,    1, 10, 0,  0, 2, 0, 7, 0,  9,  0, 8, 0,  0};

struct Instance {
    const mapi_function &function = mapi_fn_flow_report;
    RingSetup ring;
    void *state = nullptr;
    mapi_flow_report_t report{};

    explicit Instance(const char *config = nullptr)
    {
        const char *const texts[] = {"NETFLOW_V5", "SHMEM", "", ""};
        mapi_argument arguments[4] = {};
        for (int i = 0; i < 4; ++i)
            arguments[i].text = texts[i];
        arguments[1].number = -1;
        ring.setup.arguments = arguments;
        ring.setup.argument_count = 4;
        ring.setup.config = config;
        REQUIRE(function.create(&ring.setup, &state) == 0);
    }
    ~Instance()
    {
        function.ending->cancel(state);
        ring.memory->writer().cancel();
        function.destroy(state);
    }
    Instance(const Instance &) = delete;

    void run(uint64_t time_ns)
    {
        mapi_packet packet{};
        packet.data = kPacket;
        packet.caplen = packet.wire_len = sizeof(kPacket);
        packet.timestamp_ns = time_ns;
        packet.link_type = 101; // IP
        mapi_batch batch{};
        mapi_batch_fill(&batch, &packet, 1);
        CHECK(function.process(state, &batch, 1) == 1);
    }
    uint64_t number(size_t at, size_t bytes) const
    {
        uint64_t value = 0;
        for (size_t i = 0; i < bytes; ++i)
            value = value << 8 | report.bytes[at + i];
        return value;
    }
};
} // namespace

TEST_CASE("a live device's flow is reported after the idle timeout, without another packet",
          "[mapi-core][functions]")
{
    Instance reports;
    reports.run(1000 * kSecond);
    reports.run(1010 * kSecond);
    reports.function.tick(reports.state, 1039 * kSecond);
    reports.function.tick(reports.state, 1040 * kSecond);
    REQUIRE(reports.ring.next(reports.report));
    CHECK(reports.report.recno == 0);
    CHECK(reports.report.size == 24 + 48);
    CHECK(reports.number(8, 4) == 1040);     // of the message, s
    CHECK(reports.number(24 + 16, 4) == 2);  // of the message, s
    CHECK(reports.number(24 + 20, 4) == 56); // bytes
    const uint64_t up_ms = reports.number(4, 4);
    CHECK(up_ms - reports.number(24 + 24, 4) ==
          40999); // from the first and the last packet to the end of that second
    CHECK(up_ms - reports.number(24 + 28, 4) == 30999);
    reports.function.ending->end(reports.state);
    CHECK_FALSE(reports.ring.next(reports.report));
}

TEST_CASE("a step back in time ends flows with the clock with which they started",
          "[mapi-core][functions]")
{
    Instance reports;
    reports.run(1000 * kSecond);
    reports.run(500 * kSecond);
    reports.function.ending->end(reports.state);
    for (const uint64_t second : {1000, 500}) {
        REQUIRE(reports.ring.next(reports.report));
        CHECK(reports.report.size == 24 + 48); // each with its own clock
        CHECK(reports.number(8, 4) == second);
        CHECK(reports.number(4, 4) == reports.number(24 + 24, 4) + 999);
    }
    mapi_function_drops drops{};
    reports.function.drops(reports.state, &drops);
    CHECK(drops.time_jumps == 1);
}

TEST_CASE("flows with too few packets are not reported", "[mapi-core][functions]")
{
    Instance reports("minFlowPkts=2\n");
    reports.run(1000 * kSecond);
    reports.function.ending->end(reports.state);
    CHECK_FALSE(reports.ring.next(reports.report));
}
