// SPDX-License-Identifier: MIT
// Message encoders: the contents of a message, its length, and when templates are sent.
#include "functions/flow_report/message_encoder.hpp"

#include <cerrno>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "functions/flow_report/exporter_clock.hpp"
#include "mapi-core/functions/flow_report/flows.hpp"
#include "support/catch.hpp"

using namespace mapi::functions;

namespace
{
struct Sent {
    std::vector<std::string> messages;
    std::vector<uint64_t> flows;
    bool arrives = true;

    SendMessage call()
    {
        return [this](const std::string &message, uint64_t count) {
            messages.push_back(message);
            flows.push_back(count);
            return arrives;
        };
    }
};

uint64_t number(const std::string &message, size_t at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i)
        value = value << 8 | uint8_t(message[at + i]);
    return value;
}

std::unique_ptr<MessageEncoder> make_uniflow_ipfix(const ReportSettings &settings,
                                                   const ReportTemplate &records,
                                                   bool repeats_templates, SendMessage send)
{
    return make_ipfix(settings, records, false, repeats_templates, std::move(send));
}

using Make = std::unique_ptr<MessageEncoder> (*)(const ReportSettings &, const ReportTemplate &,
                                                 bool, SendMessage);

// Null without libfixbuf.
std::unique_ptr<MessageEncoder> make(Make encoder, const std::string &record,
                                     bool repeats_templates, Sent &sent)
{
    try {
        return encoder({}, ReportTemplate(record), repeats_templates, sent.call());
    } catch (const std::runtime_error &error) {
        if (std::string(error.what()).find("without libfixbuf") == std::string::npos)
            throw;
        return nullptr;
    }
}

// Of sets with this identifier, in all messages.
unsigned count_sets(const Sent &sent, size_t header_bytes, unsigned id)
{
    unsigned count = 0;
    for (const std::string &message : sent.messages) {
        for (size_t at = header_bytes; at < message.size(); at += number(message, at + 2, 2))
            count += number(message, at, 2) == id;
    }
    return count;
}
} // namespace

TEST_CASE("a message of NetFlow v5 has its header and records of 48 bytes",
          "[mapi-core][functions]")
{
    Sent sent;
    const auto encoder = make_netflow5({}, sent.call());
    for (int i = 0; i < 30; ++i)
        CHECK(encoder->add(test_flows::make(4)) == 0);
    CHECK(encoder->add(test_flows::make(6)) == EAFNOSUPPORT);
    encoder->flush();
    encoder->flush();
    REQUIRE(sent.flows == std::vector<uint64_t>{28, 2});
    const std::string &second = sent.messages[1];
    CHECK(sent.messages[0].size() == 24 + 28 * 48);
    REQUIRE(second.size() == 24 + 2 * 48);
    CHECK(number(second, 0, 2) == 5);
    CHECK(number(second, 2, 2) == 2);
    CHECK(number(second, 4, 4) == 100999); // clock, ms
    CHECK(number(second, 8, 4) == 1000);
    CHECK(number(second, 12, 4) == 999000000);
    CHECK(number(second, 16, 4) == 28);
    CHECK(number(second, 24, 4) == 0xc0000001);
    CHECK(number(second, 24 + 16, 4) == 3);
    CHECK(number(second, 24 + 20, 4) == 300);
    CHECK(number(second, 24 + 24, 4) == 90000); // first and last packet, ms
    CHECK(number(second, 24 + 28, 4) == 99005);
    CHECK(number(second, 24 + 32, 2) == 0x1234);
    CHECK(number(second, 24 + 34, 2) == 53);
    CHECK(number(second, 24 + 38, 1) == 17);
}

TEST_CASE("counters of NetFlow v5 saturate at the maximum of their fields",
          "[mapi-core][functions]")
{
    Sent sent;
    const auto encoder = make_netflow5({}, sent.call());
    EndedFlow flow = test_flows::make(4);
    flow.flow.values.bytes = uint64_t(1) << 40;
    encoder->add(flow);
    encoder->flush();
    CHECK(number(sent.messages.at(0), 24 + 20, 4) == UINT32_MAX);
}

TEST_CASE("sets of NetFlow v9 are padded to four bytes, and its header counts templates and flows",
          "[mapi-core][functions]")
{
    Sent sent;
    const auto encoder = make(make_netflow9, "PROT PKTS", false, sent);
    for (const uint8_t version : {4, 4, 6})
        encoder->add(test_flows::make(version));
    encoder->flush();
    const std::string &message = sent.messages.at(0);
    CHECK(number(message, 0, 2) == 9);
    CHECK(number(message, 2, 2) == 2 + 3);
    CHECK(number(message, 4, 4) == 101000); // the clock at that second
    CHECK(number(message, 8, 4) == 1001);
    CHECK(number(message, 20, 2) == 0); // templates
    CHECK(number(message, 22, 2) == 4 + 2 * (4 + 2 * 4));
    CHECK(number(message, 48, 2) == 256);
    CHECK(number(message, 50, 2) == 4 + 2 * 9 + 2);
    CHECK(number(message, 72, 2) == 257);
    CHECK(number(message, 74, 2) == 4 + 9 + 3);
    CHECK(message.size() == 88);
}

TEST_CASE("records of biflows have the values of the other direction after those of the first",
          "[mapi-core][functions]")
{
    Sent sent;
    std::unique_ptr<MessageEncoder> encoder;
    try {
        encoder = make_ipfix({}, ReportTemplate("PROT PKTS TCP_FLAGS"), true, false, sent.call());
    } catch (const std::runtime_error &) {
        return; // without libfixbuf
    }
    EndedFlow flow = test_flows::make(4), reverse = test_flows::make(4);
    reverse.flow.packets = 77;
    reverse.flow.values.tcp_flags = 0x12;
    CHECK(encoder->add(flow) == 0);
    flow.reverse = &reverse;
    CHECK(encoder->add(flow) == 0);
    encoder->flush();
    CHECK(count_sets(sent, 16, 2) >= 1);
    CHECK(count_sets(sent, 16, 256) == 1);
    REQUIRE(count_sets(sent, 16, 258) == 1);
    const std::string &message = sent.messages.back();
    const size_t at = message.size() - (1 + 8 + 1 + 8 + 1);
    CHECK(number(message, at, 1) == 17);
    CHECK(number(message, at + 1, 8) == 3);
    CHECK(number(message, at + 10, 8) == 77);
    CHECK(number(message, at + 18, 1) == 0x12);
    // Templates: an element with the enterprise bit, and its number from RFC 5103.
    CHECK(sent.messages.front().find(std::string("\x80\x02\x00\x08\x00\x00\x72\x79", 8)) !=
          std::string::npos);
}

TEST_CASE("records of biflows with every element fit into messages, with their templates",
          "[mapi-core][functions]")
{
    Sent sent;
    std::unique_ptr<MessageEncoder> encoder;
    try {
        encoder = make_ipfix({}, ReportTemplate(element_names()), true, true, sent.call());
    } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()).find("without libfixbuf") != std::string::npos);
        return;
    }
    const EndedFlow reverse = test_flows::make(4), reverse6 = test_flows::make(6);
    for (uint64_t i = 0; i < 100; ++i) {
        EndedFlow flow = test_flows::make(i % 3 ? 4 : 6, i);
        flow.reverse = i % 3 ? &reverse : &reverse6;
        CHECK(encoder->add(flow) == 0);
    }
    encoder->flush();
    CHECK(count_sets(sent, 16, 2) > 0);
    for (const std::string &message : sent.messages)
        CHECK(message.size() <= kMessageBytesMax);
}

TEST_CASE("no flow of a message ends after the message's time", "[mapi-core][functions]")
{
    for (const auto encode : {Make(make_netflow9), Make(make_uniflow_ipfix)}) {
        Sent sent;
        const auto encoder = make(encode, "LAST_SWITCHED", false, sent);
        if (!encoder)
            continue;
        for (const uint64_t ms : {1003'200, 1005'001, 1004'999}) {
            EndedFlow flow = test_flows::make(4);
            flow.flow.last_ns = flow.ended_ns = ms * 1'000'000;
            encoder->add(flow);
        }
        encoder->flush();
        const bool is_ipfix = encode == Make(make_uniflow_ipfix);
        CHECK(number(sent.messages.back(), is_ipfix ? 4 : 8, 4) == 1006);
        if (!is_ipfix)
            CHECK(number(sent.messages.back(), 4, 4) == 106000);
    }
}

TEST_CASE("a flow ending after the last second of a format is refused, not given another time",
          "[mapi-core][functions]")
{
    Sent sent;
    EndedFlow flow = test_flows::make(4);
    flow.ended_ns = (uint64_t(UINT32_MAX) - 1) * test_flows::kSecond + 1;
    EndedFlow late = flow;
    late.ended_ns = uint64_t(UINT32_MAX) * test_flows::kSecond;
    flow.boot_ns = late.boot_ns = flow.ended_ns - test_flows::kSecond;
    std::vector<std::unique_ptr<MessageEncoder>> encoders;
    encoders.push_back(make_netflow5({}, sent.call()));
    encoders.push_back(make(make_netflow9, "PKTS", false, sent));
    encoders.push_back(make(make_uniflow_ipfix, "PKTS", false, sent));
    for (const auto &encoder : encoders) {
        if (!encoder)
            continue;
        CHECK(encoder->add(late) == EOVERFLOW);
        CHECK(encoder->add(flow) == 0);
    }
}

TEST_CASE("the exporter's clock uses at most half of its range, and starts before each flow",
          "[mapi-core][functions]")
{
    constexpr uint64_t kDay = 86400 * test_flows::kSecond;
    ExporterClock clock;
    const uint64_t begin = clock.boot_ns(100 * kDay, 100 * kDay + 1);
    CHECK(begin < 100 * kDay);
    CHECK(clock.boot_ns(110 * kDay, 111 * kDay) == begin);
    for (const uint64_t day : {150u, 151u, 400u, 20u, 0u, 19000u}) {
        const uint64_t boot = clock.boot_ns(day * kDay, day * kDay + test_flows::kSecond);
        CHECK(boot <= day * kDay);
        CHECK(day * kDay - boot < 25 * kDay);
    }
}

TEST_CASE("templates are sent first, again for late collectors, and after a loss",
          "[mapi-core][functions]")
{
    for (const auto &[encode, header_bytes, templates] :
         {std::tuple{Make(make_netflow9), size_t(20), 0u},
          {Make(make_uniflow_ipfix), size_t(16), 2u}}) {
        for (const bool repeats : {false, true}) {
            Sent sent;
            const auto encoder = make(encode, "PKTS BYTES", repeats, sent);
            if (!encoder)
                continue;
            const auto send_one = [&](uint64_t second) {
                EndedFlow flow = test_flows::make(4);
                flow.ended_ns = second * test_flows::kSecond;
                encoder->add(flow);
                encoder->flush();
            };
            send_one(1000);
            send_one(1059);
            CHECK(count_sets(sent, header_bytes, templates) == 1);
            send_one(1060);
            CHECK(count_sets(sent, header_bytes, templates) == (repeats ? 2 : 1));
            sent.messages.clear();
            for (int i = 0; i < 70; ++i)
                send_one(1061);
            CHECK(count_sets(sent, header_bytes, templates) == (repeats ? 1 : 0));
            sent.messages.clear();
            sent.arrives = false;
            send_one(1062);
            sent.arrives = true;
            send_one(1062);
            CHECK(count_sets(sent, header_bytes, templates) == 1);
        }
    }
}

TEST_CASE("records with every element fit into messages of 1400 bytes, with their templates",
          "[mapi-core][functions]")
{
    for (const auto encode : {Make(make_netflow9), Make(make_uniflow_ipfix)}) {
        Sent sent;
        const auto encoder = make(encode, element_names(), true, sent);
        if (!encoder)
            continue;
        uint64_t flows = 0;
        for (uint64_t i = 0; i < 500; ++i)
            flows += encoder->add(test_flows::make(i % 3 ? 4 : 6, i)) == 0;
        encoder->flush();
        CHECK(flows == 500);
        for (size_t i = 0; i < sent.messages.size(); ++i) {
            CHECK(sent.messages[i].size() <= kMessageBytesMax);
            flows -= sent.flows[i];
        }
        CHECK(flows == 0);
    }
}
