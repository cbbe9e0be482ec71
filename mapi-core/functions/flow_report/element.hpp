// SPDX-License-Identifier: MIT
// Element: one item of information in a flow record, with its name and its number in IPFIX and
// NetFlow v9.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "functions/flow_report/report_flow.hpp"
#include "functions/flow_report/report_settings.hpp"

namespace mapi::functions
{
struct Element {
    enum Family : uint8_t { kAny, kIpv4, kIpv6 }; // the flows whose records contain it

    const char *name;       // in MAPI
    const char *ipfix_name; // at IANA
    uint16_t number;
    uint16_t bytes;
    Family family;
    // Exactly one is set; `value` returns a number of `bytes` bytes, `field` that many raw bytes.
    uint64_t (*value)(const EndedFlow &, const ReportSettings &);
    const uint8_t *(*field)(const EndedFlow &);
    const char *other_family = nullptr; // name of its counterpart in records of the other family

    // Whether a biflow has one for each direction (RFC 5103 6): not for what both share, nor for
    // facts about the exporter.
    bool is_reversible() const;
    bool is_in(uint8_t version) const
    {
        return family == kAny || (family == kIpv4) == (version == 4);
    }
};

// By either name; null if there is none.
const Element *find_element(std::string_view name);
// All names, for an error message.
std::string element_names();

enum class ByteOrder { kNetwork, kHost };
void append_value(std::string &to, const Element &element, const EndedFlow &flow,
                  const ReportSettings &settings, ByteOrder order);
void append_number(std::string &to, uint64_t number, unsigned bytes,
                   ByteOrder order = ByteOrder::kNetwork);

// On the exporter's clock.
uint32_t uptime_ms(uint64_t boot_ns, uint64_t time_ns);

constexpr uint16_t template_id(uint8_t version, bool is_biflow = false)
{
    return uint16_t((version == 4 ? 256 : 257) + (is_biflow ? 2 : 0));
}
} // namespace mapi::functions
