// SPDX-License-Identifier: MIT
// Templates, keys and settings of flow reports, as read from text.
#include "functions/flow_report/report_template.hpp"

#include <cstring>
#include <functional>
#include <stdexcept>

#include "mapi-core/functions/flow_report/flows.hpp"
#include "support/catch.hpp"

using namespace mapi::functions;

namespace
{
std::string names_of(const ReportTemplate &records, uint8_t version)
{
    std::string names;
    for (const Element *element : records.of(version))
        names += std::string(element->name) + " ";
    return names;
}

std::string refusal(const std::function<void()> &call)
{
    try {
        call();
        return {};
    } catch (const std::runtime_error &error) {
        return error.what();
    }
}
} // namespace

TEST_CASE("records of IPv6 flows have IPv6's elements in the place of IPv4's",
          "[mapi-core][functions]")
{
    const ReportTemplate records(
        "%IP_SRC_ADDR, %PKTS IPV6_SRC_ADDR octetDeltaCount HDRLEN_IPV4 FLOW_LABEL_IPV6 PKTS");
    CHECK(names_of(records, 4) == "IP_SRC_ADDR PKTS BYTES HDRLEN_IPV4 ");
    CHECK(names_of(records, 6) == "IPV6_SRC_ADDR PKTS BYTES FLOW_LABEL_IPV6 ");
    CHECK(records.bytes(4) == 4 + 8 + 8 + 1);
    CHECK(records.bytes(6) == 16 + 8 + 8 + 4);
}

TEST_CASE("an unknown element is named in the error", "[mapi-core][functions]")
{
    CHECK(refusal([] { ReportTemplate("PKTS %SRC_AS"); }).find("\"SRC_AS\"") != std::string::npos);
    CHECK(refusal([] { ReportTemplate("%"); }) != "");
    CHECK(refusal([] { ReportTemplate(" , "); }).find("empty") != std::string::npos);
    CHECK(refusal([] { ReportTemplate("HDRLEN_IPV4"); }).find("IPv6") != std::string::npos);
}

TEST_CASE("elements that are not in the key become zero and are not reported",
          "[mapi-core][functions]")
{
    FlowKey key = test_flows::make(4).flow.key;
    const FlowKeyMask mask("IP_SRC_ADDR PROT");
    const mapi_packet nothing{};
    const FlowPacket packet(nothing);
    mask.apply(key, packet);
    CHECK(key.source[0] == 192);
    CHECK(key.protocol == 17);
    CHECK(key.destination[0] == 0);
    CHECK(key.source_port == 0);
    CHECK(key.destination_port == 0);
    CHECK(refusal([&] {
              mask.check(ReportTemplate("PKTS L4_DST_PORT"));
          }).find("\"L4_DST_PORT\"") != std::string::npos);
    CHECK(refusal([&] { mask.check(ReportTemplate("PKTS IPV6_SRC_ADDR")); }).empty());
    CHECK(refusal([] {
              FlowKeyMask("").check(
                  ReportTemplate("IP_SRC_ADDR IP_DST_ADDR L4_SRC_PORT L4_DST_PORT PROT"));
          }).empty());
    CHECK(refusal([] { FlowKeyMask("TOS"); }).find("\"TOS\"") != std::string::npos);
}

TEST_CASE("VLAN, interface and direction distinguish flows only if the key says so",
          "[mapi-core][functions]")
{
    mapi_packet bytes{};
    bytes.ifindex = 3;
    const FlowPacket packet(bytes);
    FlowKey key = test_flows::make(4).flow.key;
    FlowKeyMask("").apply(key, packet);
    CHECK(key.interface == 0);
    FlowKeyMask mask("IP_SRC_ADDR ingressInterface VLAN_TAG");
    mask.apply(key, packet);
    CHECK(key.interface == 3);
    CHECK(mask.has_vlan());
    CHECK(refusal([&] { mask.check(ReportTemplate("IP_SRC_ADDR VLAN_TAG INGRESS")); }).empty());
    CHECK(refusal([&] {
              FlowKeyMask("").check(ReportTemplate("IP_SRC_ADDR VLAN_TAG INGRESS"));
          }).empty());
    CHECK_FALSE(mask.is_biflow());
    CHECK(FlowKeyMask("BIFLOW").is_biflow());
    CHECK(FlowKeyMask("%IP_SRC_ADDR,%IP_DST_ADDR,%BIFLOW").is_biflow());
    for (const char *half : {"BIFLOW IP_SRC_ADDR", "BIFLOW IP_DST_ADDR L4_SRC_PORT L4_DST_PORT",
                             "IP_SRC_ADDR IP_DST_ADDR L4_SRC_PORT BIFLOW"})
        CHECK(refusal([&] { FlowKeyMask{half}; }).find("both ends") != std::string::npos);
    CHECK(refusal([] { ReportTemplate("PKTS BIFLOW"); }).find("\"BIFLOW\"") != std::string::npos);
}

TEST_CASE("[ipfixflib] accepts numbers in their ranges and refuses the rest",
          "[mapi-core][functions]")
{
    const ReportSettings settings =
        read_report_settings("observationDomain=4294967295\ningressInterface=7\nidleTimeout="
                             "5\nhashSize=16\ntraceMode=9\n");
    CHECK(settings.observation_domain == UINT32_MAX);
    CHECK(settings.ingress_interface == 7u);
    CHECK(settings.idle_seconds == 5);
    CHECK(settings.active_seconds == 120);
    CHECK(settings.room == 16);
    for (const char *line : {"hashSize=15", "hashSize=4194305", "idleTimeout=", "idleTimeout=5s",
                             "minFlowPkts=-1", "domain=1"})
        CHECK(refusal([&] { read_report_settings(line); }).find(line) != std::string::npos);
}

TEST_CASE("values have the length of their element in the requested byte order",
          "[mapi-core][functions]")
{
    const EndedFlow flow = test_flows::make(4);
    std::string network, host;
    append_value(network, *find_element("L4_SRC_PORT"), flow, {}, ByteOrder::kNetwork);
    append_value(host, *find_element("L4_SRC_PORT"), flow, {}, ByteOrder::kHost);
    uint16_t port = 0;
    REQUIRE(host.size() == sizeof(port));
    memcpy(&port, host.data(), sizeof(port));
    CHECK(network == std::string("\x12\x34"));
    CHECK(port == 0x1234);
    CHECK(find_element("FLOW_DUR_MS")->value(flow, {}) == 9005);
    CHECK(find_element("FLOW_START_MS")->value(flow, {}) == 990000);
    CHECK(find_element("FLOW_START_NS")->value(flow, {}) >> 32 == 990 + 2208988800);
    CHECK(find_element("LAST_SWITCHED")->value(flow, {}) == 99005);
}
