// SPDX-License-Identifier: MIT
// Flows for tests of reports.
#pragma once

#include "functions/flow_report/report_flow.hpp"

namespace test_flows
{
constexpr uint64_t kSecond = 1000000000;

// Ended 1000 s after 1970; the exporter's clock started 100 s before.
inline mapi::functions::EndedFlow make(uint8_t version, uint64_t number = 1)
{
    mapi::functions::EndedFlow ended{};
    ended.flow.key.version = version;
    ended.flow.key.protocol = 17;
    ended.flow.key.source[0] = 192;
    ended.flow.key.source[3] = 1;
    ended.flow.key.destination[0] = 198;
    ended.flow.key.source_port = 0x1234;
    ended.flow.key.destination_port = 53;
    ended.flow.number = number;
    ended.flow.first_ns = 990 * kSecond;
    ended.flow.last_ns = 999 * kSecond + 5000000;
    ended.flow.packets = 3;
    ended.flow.values.bytes = 300;
    ended.ended_ns = 1000 * kSecond + 250000000;
    ended.boot_ns = 900 * kSecond;
    ended.reason = mapi::functions::FlowEnd::kIdle;
    return ended;
}
} // namespace test_flows
