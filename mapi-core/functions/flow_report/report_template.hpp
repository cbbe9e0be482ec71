// SPDX-License-Identifier: MIT
// Report template: names of elements -> the contents of records of IPv4 and of IPv6 flows, and the
// flow key.
#pragma once

#include <string>
#include <vector>

#include "functions/flow_report/element.hpp"

namespace mapi::functions
{
class ReportTemplate
{
public:
    // Names separated by blanks or commas, each with or without a %.  Throws std::runtime_error
    // that names the element.
    explicit ReportTemplate(const std::string &names);

    const std::vector<const Element *> &of(uint8_t version) const
    {
        return version == 4 ? ipv4_ : ipv6_;
    }
    // Length of a record.
    size_t bytes(uint8_t version) const;

private:
    void add(const Element &element, uint8_t version, std::vector<const Element *> &to) const;

    std::vector<const Element *> ipv4_, ipv6_;
};

// The parts of the 5-tuple, the VLAN and the interface that a flow key contains; the rest is zero.
class FlowKeyMask
{
public:
    // The same syntax; empty: the whole 5-tuple.  Throws std::runtime_error that names the element.
    explicit FlowKeyMask(const std::string &names);

    void apply(FlowKey &key, const FlowPacket &packet) const;
    // For records whose interface is a setting, not that of the packets.
    void leave_interface_out() { mask_ &= ~unsigned(kInterface); }
    bool has_vlan() const { return mask_ & kVlan; }
    // Both directions form one flow.
    bool is_biflow() const { return is_biflow_; }
    // Records cannot contain a part of the 5-tuple that is missing in the key; VLAN and interface
    // are taken from the first packet.  Throws std::runtime_error that names the element.
    void check(const ReportTemplate &records) const;

private:
    enum Part : unsigned {
        kSource = 1,
        kDestination = 2,
        kSourcePort = 4,
        kDestinationPort = 8,
        kProtocol = 16,
        kAll = 31,
        kVlan = 32,
        kInterface = 64
    };
    static unsigned part_of(const Element &element);

    unsigned mask_ = 0;
    bool is_biflow_ = false;
};
} // namespace mapi::functions
