// SPDX-License-Identifier: MIT
// The flows of rules on a capture of ARP packets.
#include "sids/run/rule_table.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "captures/source.hpp"
#include "common/command/output.hpp"
#include "rules.hpp"
#include "sids/run/alerts.hpp"
#include "support/temp_dir.hpp"

using namespace sids_test;
using test_support::TempDir;

namespace
{
constexpr size_t kPackets = 3;

std::string write_capture(const TempDir &dir)
{
    constexpr std::array<uint32_t, 6> kHead = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
    std::array<uint8_t, 60> frame = {};
    frame[12] = 0x08, frame[13] = 0x06;
    std::string path = (dir / "arp.pcap").string();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(kHead.data()), sizeof(kHead));
    for (uint32_t i = 0; i < kPackets; ++i) {
        const std::array<uint32_t, 4> record = {i, 0, uint32_t(frame.size()),
                                                uint32_t(frame.size())};
        file.write(reinterpret_cast<const char *>(record.data()), sizeof(record));
        file.write(reinterpret_cast<const char *>(frame.data()), frame.size());
    }
    return path;
}

captures_source::SourceOptions source_of(const TempDir &dir)
{
    captures_source::SourceOptions about;
    about.captures.push_back(write_capture(dir));
    return about;
}

// A table with the rules "copy arp; id:1; msg:"old";" and "count arp; id:2;", whose flows have seen
// the capture.
class Run
{
public:
    Run() : list_(about_.captures), source_(about_, list_), copies_((dir_ / "").string())
    {
        replace("copy arp; id:1; msg:\"old\";\ncount arp; id:2;\n", [](sids::Entry &) {});
        source_.start();
        for (const auto &entry : table_.entries())
            REQUIRE(entry->flow->wait_for_end(-1));
    }

    void replace(const std::string &rules, const sids::RuleTable::Finish &finish)
    {
        sids::RuleErrors errors;
        table_.replace(rules_of(rules), errors, finish);
        REQUIRE(errors.are_none());
    }

    sids::RuleTable &table() { return table_; }
    const TempDir &dir() const { return dir_; }

private:
    TempDir dir_;
    captures_source::SourceOptions about_ = source_of(dir_);
    captures_source::CaptureList list_;
    captures_source::Source source_;
    sids::CopyFolder copies_;
    sids::RuleTable table_{{source_.name(), true, false, 0}, copies_};
};
} // namespace

TEST_CASE("a set of rules that cannot take the place of another one changes nothing", "[sids]")
{
    setenv("MAPI_SOCKET", "none", 1);
    Run run;
    int finished = 0;
    const auto fail_at_last = [&](sids::Entry &) {
        if (++finished == 2)
            throw command::OutputError("the disk is full");
    };
    CHECK_THROWS_AS(run.replace("copy udp; id:3;\ncopy udp; id:1; msg:\"new\";\n", fail_at_last),
                    command::OutputError);
    CHECK(finished == 2);
    CHECK_FALSE(std::filesystem::exists(run.dir() / "3.pcapng"));
    CHECK_FALSE(std::filesystem::exists(run.dir() / "1-2.pcapng"));
    REQUIRE(run.table().entries().size() == 2);
    run.table().look();
    for (const auto &entry : run.table().entries()) {
        REQUIRE(entry->flow);
        CHECK_FALSE(entry->is_removed);
        CHECK(entry->counts.packets == kPackets);
    }
    CHECK(run.table().entries()[0]->rule.message == "old");
}

TEST_CASE("alerts that cannot be written are not counted", "[sids]")
{
    setenv("MAPI_SOCKET", "none", 1);
    Run run;
    sids::Alerts alerts("/dev/full", "");
    alerts.set_device(run.table().device());
    CHECK_THROWS_AS(alerts.pass(run.table().entries()), command::OutputError);
    CHECK(alerts.count() == 0);
}
