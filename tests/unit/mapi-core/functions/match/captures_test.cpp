// SPDX-License-Identifier: MIT
// Real captures: packet counts of 54 filters and 48 strings on which tcpdump and a simple search
// agree, and libpcap's own filters over their captures, complete and truncated.
#include "captures.hpp"

#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <random>

#include <nlohmann/json.hpp>

#include "guarded_packets.hpp"
#include "match/bpf/bpf_program.hpp"
#include "match/bpf/index/bpf_index.hpp"
#include "match/errors.hpp"
#include "match/text/regular_expression.hpp"
#include "match/text/string_matcher.hpp"
#include "match/text/string_matcher_set.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"

namespace
{
using mapi::match::BpfProgram;
using mapi::match::RegularExpression;
using mapi::match::StringMatcher;
using mapi::match::StringMatcherSet;
using match_test::Capture;
using match_test::GuardedPackets;

nlohmann::json read_json(const std::filesystem::path &path)
{
    std::ifstream file(path);
    return file ? nlohmann::json::parse(file) : nlohmann::json();
}

struct Counts {
    uint64_t packets = 0;
    uint64_t wire_bytes = 0;
    uint64_t captured_bytes = 0;

    bool operator==(const Counts &) const = default;
};

template <typename Matcher> Counts count(const Capture &capture, Matcher &&matcher)
{
    Counts counts;
    for (size_t start = 0; start < capture.packets.size(); start += MAPI_BATCH_MAX) {
        const size_t size = std::min<size_t>(MAPI_BATCH_MAX, capture.packets.size() - start);
        const uint64_t all = size == MAPI_BATCH_MAX ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
        for (uint64_t rest = matcher.filter(&capture.packets[start], all); rest != 0;
             rest &= rest - 1) {
            const mapi_packet &packet = capture.packets[start + size_t(__builtin_ctzll(rest))];
            ++counts.packets;
            counts.wire_bytes += packet.wire_len;
            counts.captured_bytes += packet.caplen;
        }
    }
    return counts;
}

// Every packet once complete and once truncated at random, each directly before unreadable memory.
bool agrees_with_interpreter(const BpfProgram &program, const Capture &capture,
                             std::mt19937 &random)
{
    static GuardedPackets packets;
    for (size_t at = 0; at < std::min<size_t>(capture.packets.size(), 64);) {
        packets.clear();
        for (; at < capture.packets.size() && packets.count() + 2 <= MAPI_BATCH_MAX; ++at) {
            const mapi_packet &packet = capture.packets[at];
            const std::span<const uint8_t> bytes(
                packet.data, std::min<size_t>(packet.caplen, packets.largest_bytes()));
            packets.add(bytes, packet.wire_len);
            packets.add(bytes.first(random() % (bytes.size() + 1)), packet.wire_len);
        }
        uint64_t expected = 0;
        for (size_t index = 0; index < packets.count(); ++index)
            if (bpf_filter(program.instructions().data(), packets[index].data,
                           packets[index].wire_len, packets[index].caplen) != 0)
                expected |= uint64_t{1} << index;
        if (program.filter(packets.views(), packets.all()) != expected)
            return false;
    }
    return true;
}

std::vector<Capture> libpcap_captures(const std::filesystem::path &folder)
{
    std::vector<Capture> captures;
    if (std::filesystem::exists(folder))
        for (const auto &entry : std::filesystem::directory_iterator(folder))
            captures.push_back(Capture::read(entry.path()));
    return captures;
}
} // namespace

TEST_CASE("54 filters count the same packets of 315 captures as tcpdump", "[mapi-core][match][bpf]")
{
    const auto data = test_support::shared_data();
    const nlohmann::json expected = read_json(data / "EXPECTED_COUNTS.json");
    if (data.empty() || expected.is_null())
        return test_support::skip("no captures");
    std::mt19937 random(1);
    size_t captures = 0;
    for (const auto &[name, numbers] : expected["captures"].items()) {
        if (!std::filesystem::exists(data / name))
            continue; // some captures may not be passed on
        const Capture capture = Capture::read(data / name);
        CHECK(capture.packets.size() == numbers["packets"]);
        for (size_t at = 0; at < expected["filters"].size(); ++at) {
            const std::string expression = expected["filters"][at];
            const nlohmann::json &wanted = numbers["filters"][at];
            INFO(name << ": " << expression);
            if (!wanted.is_array()) {
                CHECK_THROWS_AS(
                    BpfProgram::compile(expression, capture.link_type, capture.snaplen_bytes),
                    mapi::match::FilterError);
                continue;
            }
            const BpfProgram program =
                BpfProgram::compile(expression, capture.link_type, capture.snaplen_bytes);
            CHECK((count(capture, program) == Counts{wanted[0], wanted[1], wanted[2]}));
            CHECK(agrees_with_interpreter(program, capture, random));
        }
        ++captures;
    }
    CHECK(captures > 300);
}

TEST_CASE("an index over filters misses no packet of 315 captures, complete or truncated",
          "[mapi-core][match][bpf]")
{
    const auto data = test_support::shared_data();
    const nlohmann::json expected = read_json(data / "EXPECTED_COUNTS.json");
    if (data.empty() || expected.is_null())
        return test_support::skip("no captures");
    std::vector<std::string> expressions = expected["filters"];
    for (const int port :
         {20,  21,  22,  23,  25,  53,  67,  68,   69,   80,   110,  123,  137, 138,
          139, 143, 161, 443, 445, 514, 520, 1194, 1900, 3306, 5060, 5353, 8080})
        for (const char *text : {"port ", "tcp dst port ", "udp src port ", "ip6 and port "})
            expressions.push_back(text + std::to_string(port));
    std::map<int, std::vector<BpfProgram>> programs_of_link;
    std::mt19937 random(3);
    GuardedPackets packets;
    size_t accepted = 0, candidates = 0, asked = 0;
    for (const auto &[name, numbers] : expected["captures"].items()) {
        if (!std::filesystem::exists(data / name))
            continue;
        const Capture capture = Capture::read(data / name);
        std::vector<BpfProgram> &programs = programs_of_link[capture.link_type];
        const bool is_new_link = programs.empty();
        for (size_t at = 0; is_new_link && at < expressions.size(); ++at) {
            try {
                programs.push_back(BpfProgram::compile(expressions[at], capture.link_type, 0));
            } catch (const mapi::match::FilterError &) { // none for this link type
            }
        }
        std::vector<mapi::match::BpfSteps> steps;
        for (const BpfProgram &program : programs)
            steps.push_back(program.instructions());
        const auto index = mapi::match::BpfIndex::make(steps);
        if (!index)
            continue;
        for (size_t at = 0; at < std::min<size_t>(capture.packets.size(), 128);) {
            packets.clear();
            for (; at < capture.packets.size() && packets.count() + 2 <= MAPI_BATCH_MAX; ++at) {
                const mapi_packet &packet = capture.packets[at];
                const std::span<const uint8_t> bytes(
                    packet.data, std::min<size_t>(packet.caplen, packets.largest_bytes()));
                packets.add(bytes, packet.wire_len);
                packets.add(bytes.first(random() % (bytes.size() + 1)), packet.wire_len);
            }
            std::vector<uint64_t> found(programs.size());
            for (const auto &entry : index->find(packets.views(), packets.all()))
                found[entry.program] = entry.mask;
            for (size_t i = 0; i < programs.size(); ++i) {
                const uint64_t matching = programs[i].filter(packets.views(), packets.all());
                INFO(name << ": filter " << i);
                REQUIRE((matching & ~found[i]) == 0);
                accepted += size_t(__builtin_popcountll(matching));
                candidates += size_t(__builtin_popcountll(found[i]));
                asked += packets.count();
            }
        }
    }
    CHECK(accepted > 100000);
    CHECK(candidates < asked / 2);
}

TEST_CASE("strings are counted in 315 captures as a simple search counts them",
          "[mapi-core][match][strings]")
{
    const auto data = test_support::shared_data();
    const nlohmann::json expected = read_json(data / "EXPECTED_COUNTS.json");
    if (data.empty() || expected.is_null())
        return test_support::skip("no captures");
    size_t compared = 0;
    for (const auto &[name, numbers] : expected["captures"].items()) {
        if (!std::filesystem::exists(data / name))
            continue; // some captures may not be passed on
        const Capture capture = Capture::read(data / name);
        for (size_t at = 0; at < expected["strings"].size(); ++at) {
            const nlohmann::json &string = expected["strings"][at];
            if (string["nocase"]) // STR_SEARCH has no such option
                continue;
            const StringMatcher matcher("|" + string["hex"].get<std::string>() + "|",
                                        string["offset"], string["depth"]);
            INFO(name << ": " << string.dump());
            CHECK(count(capture, matcher).packets == numbers["strings"][at].get<uint64_t>());
            ++compared;
        }
    }
    CHECK(compared > 10000);
}

// Vectorscan 5.4.9 finds one byte less often in a set than by itself.
TEST_CASE("strings found in one pass over 315 captures are those found by separate searches",
          "[mapi-core][match][strings]")
{
    const auto data = test_support::shared_data();
    const nlohmann::json expected = read_json(data / "EXPECTED_COUNTS.json");
    if (data.empty() || expected.is_null())
        return test_support::skip("no captures");
    std::deque<StringMatcher> matchers;
    for (const char *pattern :
         {"a",      "e",    "x",   "E",    "|ff|", "|0a|",       "a||Host", "GET",    "HTTP",
          "www",    "Host", "com", "http", "POST", "User-Agent", "Mozilla", "google", "Content",
          "Server", "SSH",  "ab",  "www.", "1.1",  "200 OK",     "|0d 0a|"})
        matchers.emplace_back(pattern, 0, 0);
    matchers.emplace_back("e", 54, 0);
    matchers.emplace_back("|00|", 20, 40);
    std::vector<const StringMatcher *> pointers;
    for (const StringMatcher &matcher : matchers)
        pointers.push_back(&matcher);
    const auto set = StringMatcherSet::make(pointers);
    if (!set)
        return test_support::skip("no Vectorscan");
    for (const auto &[name, numbers] : expected["captures"].items()) {
        const Capture capture =
            std::filesystem::exists(data / name) ? Capture::read(data / name) : Capture();
        for (size_t start = 0;
             start + MAPI_BATCH_MAX <= std::min<size_t>(capture.packets.size(), 3000);
             start += MAPI_BATCH_MAX) {
            std::vector<uint64_t> found(matchers.size());
            for (const auto &matches : set->find(&capture.packets[start], ~uint64_t{0}))
                found[matches.matcher] = matches.mask;
            for (size_t i = 0; i < matchers.size(); ++i) {
                INFO(name << ": " << matchers[i].alternatives()[0] << ", packets from " << start);
                REQUIRE(found[i] == matchers[i].filter(&capture.packets[start], ~uint64_t{0}));
            }
        }
    }
}

TEST_CASE("expressions and alternatives find in 315 captures what a simple search finds",
          "[mapi-core][match][strings]")
{
    const auto data = test_support::shared_data();
    const nlohmann::json expected = read_json(data / "EXPECTED_COUNTS.json");
    if (data.empty() || expected.is_null())
        return test_support::skip("no captures");
    struct Same {
        const char *expression;
        const char *pattern;
        std::vector<std::string> strings;
    };
    const Same all[] = {
        {"a", "a", {"a"}},
        {"e", "e", {"e"}},
        {"\\xff", "|ff|", {"\xff"}},
        {"(?i)g", "g||G", {"g", "G"}},
        {"aa*", "aa||a", {"a"}},
        {"[xyz]", "x||y||z", {"x", "y", "z"}},
        {"a|Host", "a||Host", {"a", "Host"}},
        {"GET|POST|HTTP|E|www", "GET||POST||HTTP||E||www", {"GET", "POST", "HTTP", "E", "www"}},
        {"User-Agent|x|ab|200 OK|k|SSH",
         "User-Agent||x||ab||200 OK||k||SSH",
         {"User-Agent", "x", "ab", "200 OK", "k", "SSH"}}};
    for (const auto &[name, numbers] : expected["captures"].items()) {
        const Capture capture =
            std::filesystem::exists(data / name) ? Capture::read(data / name) : Capture();
        for (const Same &one : all) {
            INFO(name << ": " << one.expression);
            const auto packets = uint64_t(std::count_if(
                capture.packets.begin(), capture.packets.end(), [&](const mapi_packet &packet) {
                    const std::string_view bytes(reinterpret_cast<const char *>(packet.data),
                                                 packet.caplen);
                    return std::any_of(one.strings.begin(), one.strings.end(),
                                       [&](const std::string &text) {
                                           return bytes.find(text) != std::string_view::npos;
                                       });
                }));
            CHECK(count(capture, *RegularExpression::compile(one.expression)).packets == packets);
            CHECK(count(capture, StringMatcher(one.pattern, 0, 0)).packets == packets);
        }
    }
}

TEST_CASE("libpcap's own filters give its answer over complete and truncated packets",
          "[mapi-core][match][bpf]")
{
    const auto data = test_support::shared_data() / "the-tcpdump-group+libpcap";
    const nlohmann::json filters = read_json(data / "filter_accept.json");
    if (filters.is_null())
        return test_support::skip("no filter list");
    const std::vector<Capture> captures = libpcap_captures(data / "tests/filter");
    std::mt19937 random(2);
    size_t compiled = 0;
    for (const nlohmann::json &filter : filters) {
        const int link_type = pcap_datalink_name_to_val(filter["DLT"].get<std::string>().c_str());
        for (const std::string expression : filter["aliases"]) {
            if (expression.find("libpcap.test") != std::string::npos ||
                expression.find("LIBPCAP.TEST") != std::string::npos)
                continue; // host names: would query name servers
            std::optional<BpfProgram> program;
            try {
                program = BpfProgram::compile(expression, link_type, filter.value("snaplen", 0));
            } catch (const mapi::match::FilterError &) {
                continue; // requires a netmask, a live device or a newer libpcap
            }
            ++compiled;
            INFO(filter["DLT"] << ": " << expression);
            // Any bytes will do, so every capture serves every link type, but its own more often.
            for (const Capture &capture : captures)
                if (capture.link_type == link_type || random() % 4 == 0)
                    CHECK(agrees_with_interpreter(*program, capture, random));
        }
    }
    CHECK(compiled > 600);
}

TEST_CASE("libpcap's own filters accept the packets that its test suite lists",
          "[mapi-core][match][bpf]")
{
    const auto data = test_support::shared_data() / "the-tcpdump-group+libpcap";
    const nlohmann::json filters = read_json(data / "filter_apply.json");
    if (filters.is_null())
        return test_support::skip("no filter list");
    for (const nlohmann::json &filter : filters) {
        if (filter["same_on_libpcap_1.10.3"] != true || // the list is libpcap's newest
            filter.contains("netmask"))
            continue;
        const Capture capture =
            Capture::read(data / "tests/filter" / filter["savefile"].get<std::string>());
        INFO(filter["name"]);
        REQUIRE(capture.packets.size() == filter["results"].size());
        const BpfProgram program =
            BpfProgram::compile(filter["expr"], capture.link_type, capture.snaplen_bytes);
        for (size_t at = 0; at < capture.packets.size(); ++at) {
            const mapi_packet &packet = capture.packets[at];
            CHECK(program.matches(packet.data, packet.caplen, packet.wire_len) ==
                  (filter["results"][at] != 0));
        }
    }
}

TEST_CASE("expressions that libpcap refuses are refused", "[mapi-core][match][bpf]")
{
    const auto data = test_support::shared_data() / "the-tcpdump-group+libpcap";
    const nlohmann::json filters = read_json(data / "filter_reject.json");
    if (filters.is_null())
        return test_support::skip("no filter list");
    size_t listed = 0;
    size_t refused = 0;
    size_t same_words = 0;
    for (const nlohmann::json &filter : filters) {
        if (!filter.contains("expr"))
            continue; // a damaged file, not a filter
        ++listed;
        const int link_type = pcap_datalink_name_to_val(filter["DLT"].get<std::string>().c_str());
        try {
            BpfProgram::compile(filter["expr"], link_type, 0);
        } catch (const mapi::match::FilterError &error) {
            ++refused;
            same_words += error.what() == filter["errstr"];
        }
    }
    // The list is from the newest libpcap: older ones accept some of these and word others
    // differently.
    CHECK(refused > listed / 2);
    CHECK(same_words > listed / 3);
}
