// SPDX-License-Identifier: MIT
// Report template: names of elements -> records.
#include "functions/flow_report/report_template.hpp"

#include <algorithm>
#include <stdexcept>

namespace mapi::functions
{
namespace
{
constexpr char kBiflow[] = "BIFLOW";

// is_biflow: set if BIFLOW is among the words; null: BIFLOW counts as an element.
std::vector<const Element *> parse(const std::string &names, bool *is_biflow = nullptr)
{
    constexpr char kBetween[] = " \t,";
    std::vector<const Element *> elements;
    for (size_t at = names.find_first_not_of(kBetween); at != std::string::npos;) {
        const size_t end = std::min(names.find_first_of(kBetween, at), names.size());
        const size_t begin = names[at] == '%' ? at + 1 : at;
        const std::string name = names.substr(begin, end - begin);
        at = names.find_first_not_of(kBetween, end);
        if (is_biflow && name == kBiflow) {
            *is_biflow = true;
            continue;
        }
        const Element *element = find_element(name);
        if (!element)
            throw std::runtime_error("unknown element \"" + name +
                                     "\"; available: " + element_names());
        elements.push_back(element);
    }
    return elements;
}
} // namespace

ReportTemplate::ReportTemplate(const std::string &names)
{
    for (const Element *element : parse(names)) {
        add(*element, 4, ipv4_);
        add(*element, 6, ipv6_);
    }
    if (ipv4_.empty() || ipv6_.empty())
        throw std::runtime_error(std::string("records of IPv") + (ipv4_.empty() ? "4" : "6") +
                                 " flows would be empty");
}

// An address also stands for its counterpart in the other family; each element occurs once.
void ReportTemplate::add(const Element &element, uint8_t version,
                         std::vector<const Element *> &to) const
{
    const Element *fitting = element.is_in(version) ? &element
                             : element.other_family ? find_element(element.other_family)
                                                    : nullptr;
    if (!fitting)
        return;
    if (std::find(to.begin(), to.end(), fitting) == to.end())
        to.push_back(fitting);
}

size_t ReportTemplate::bytes(uint8_t version) const
{
    size_t sum = 0;
    for (const Element *element : of(version))
        sum += element->bytes;
    return sum;
}

unsigned FlowKeyMask::part_of(const Element &element)
{
    switch (element.number) {
    case 4: return kProtocol;
    case 7: return kSourcePort;
    case 8:
    case 27: return kSource;
    case 11: return kDestinationPort;
    case 12:
    case 28: return kDestination;
    case 10: return kInterface;
    case 58: return kVlan;
    default: return 0;
    }
}

FlowKeyMask::FlowKeyMask(const std::string &names)
{
    for (const Element *element : parse(names, &is_biflow_)) {
        if (part_of(*element) == 0)
            throw std::runtime_error(
                std::string("the element \"") + element->name +
                "\" cannot be part of the key; available: IP_SRC_ADDR, IP_DST_ADDR, L4_SRC_PORT, "
                "L4_DST_PORT, PROT, VLAN_TAG, INGRESS");
        mask_ |= part_of(*element);
    }
    if (is_biflow_ && (bool(mask_ & kSource) != bool(mask_ & kDestination) ||
                       bool(mask_ & kSourcePort) != bool(mask_ & kDestinationPort)))
        throw std::runtime_error(
            "BIFLOW requires the addresses and ports of both ends in the key, or of neither");
    if (mask_ == 0)
        mask_ = kAll;
}

void FlowKeyMask::apply(FlowKey &key, const FlowPacket &packet) const
{
    if (mask_ & kVlan)
        key.vlan = packet.headers.vlan;
    if (mask_ & kInterface)
        key.interface = packet.packet.ifindex;
    if (!(mask_ & kSource))
        std::fill(std::begin(key.source), std::end(key.source), uint8_t(0));
    if (!(mask_ & kDestination))
        std::fill(std::begin(key.destination), std::end(key.destination), uint8_t(0));
    if (!(mask_ & kSourcePort))
        key.source_port = 0;
    if (!(mask_ & kDestinationPort))
        key.destination_port = 0;
    if (!(mask_ & kProtocol))
        key.protocol = 0;
}

void FlowKeyMask::check(const ReportTemplate &records) const
{
    for (const Element *element : records.of(4)) {
        if (part_of(*element) & kAll & ~mask_)
            throw std::runtime_error(
                std::string("the element \"") + element->name +
                "\" is not in the key: its value may differ between packets of a flow");
    }
}
} // namespace mapi::functions
