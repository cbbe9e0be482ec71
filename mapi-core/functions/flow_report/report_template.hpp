// SPDX-License-Identifier: MIT
// Report template: names of elements -> what records of IPv4 and of IPv6 flows hold, and what tells flows apart.
#pragma once

#include <string>
#include <vector>

#include "functions/flow_report/element.hpp"

namespace mapi::functions
{
class ReportTemplate
{
public:
    // Names with blanks or commas between them, each with or without a %.  Throws std::runtime_error that names the element.
    explicit ReportTemplate(const std::string &names);

    const std::vector<const Element *> &of(uint8_t version) const { return version == 4 ? ipv4_ : ipv6_; }
    // Of a record.
    size_t bytes(uint8_t version) const;

private:
    void add(const Element &element, uint8_t version, std::vector<const Element *> &to) const;

    std::vector<const Element *> ipv4_, ipv6_;
};

// What a flow's key has of the five, and of VLAN and interface; the rest is zeros.
class FlowKeyMask
{
public:
    // The same; empty: all five.  Throws std::runtime_error that names the element.
    explicit FlowKeyMask(const std::string &names);

    void apply(FlowKey &key, const FlowPacket &packet) const;
    // Where each record tells another interface than the packets'.
    void leave_interface_out() { mask_ &= ~unsigned(kInterface); }
    bool has_vlan() const { return mask_ & kVlan; }
    // Both directions are one flow.
    bool is_biflow() const { return is_biflow_; }
    // What of the five flows do not share, a record cannot tell; of VLAN and interface it tells the first packet's.  Throws std::runtime_error that names the element.
    void check(const ReportTemplate &records) const;

private:
    enum Part : unsigned { kSource = 1, kDestination = 2, kSourcePort = 4, kDestinationPort = 8, kProtocol = 16, kAll = 31, kVlan = 32, kInterface = 64 };
    static unsigned part_of(const Element &element);

    unsigned mask_ = 0;
    bool is_biflow_ = false;
};
} // namespace mapi::functions
