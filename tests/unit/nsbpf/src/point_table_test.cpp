// SPDX-License-Identifier: MIT
// The shared list of points -> rows, numbers, and a program for each.
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include <bpf/libbpf.h>
#include <nslice/file.h>
#include <nslice/record.h>

#include "nsbpf/recorder.hpp"
#include "recorder.skel.h"
#include "src/point_table.hpp"
#include "support/catch.hpp"

using nsbpf::kPoints;

TEST_CASE("each point has a program, which is named by its group and tracepoint",
          "[nsbpf][point_table]")
{
    const std::unique_ptr<nsbpf_recorder, decltype(&nsbpf_recorder__destroy)> programs(
        nsbpf_recorder__open(), nsbpf_recorder__destroy);
    REQUIRE(programs);
    for (const nsbpf::Point &point : kPoints) {
        const std::string name = std::string(point.group) + "_" + point.tracepoint;
        INFO(name);
        CHECK(bpf_object__find_program_by_name(programs->obj, name.c_str()));
    }
}

TEST_CASE("rows are in the order of the enum", "[nsbpf][point_table]")
{
    CHECK(std::string(kPoints[NET_RX_BYTES].slice) == "rx_bytes");
    CHECK(std::string(kPoints[IRQ_START].tracepoint) == "irq_handler_entry");
    CHECK(std::string(kPoints[SCHED_SWITCH].group) == "sched");
    CHECK(std::string(kPoints[TCP_SEND_INIT].group) == "tcp_send");
    CHECK(std::string(kPoints[TCP_RECV_CALL_STOP].tracepoint) == "sys_exit");
    CHECK(kPoints[SCHED_SWITCH].flags == NSLICE_SITE_SWITCH);
    CHECK(kPoints[TCP_SEND_EXIT].kind == NSLICE_KIND_EXIT);
}

TEST_CASE("the second word of a record has its point, kind and number of words",
          "[nsbpf][point_table]")
{
    std::set<uint64_t> ids;
    for (uint32_t i = 0; i < kPoints.size(); ++i) {
        const uint64_t bits = nsbpf::bits_of(i);
        CHECK(NSLICE_RECORD_KIND(bits) == kPoints[i].kind);
        CHECK(uint32_t(bits) == 0);
        ids.insert(bits >> NSLICE_HEAD_SLICE_SHIFT & 0xffff);
    }
    CHECK(ids.size() == kPoints.size());
    CHECK(NSLICE_RECORD_WORDS(nsbpf::bits_of(NET_RX_BYTES)) == NSLICE_HEAD_WORDS + 1);
    CHECK(NSLICE_RECORD_WORDS(nsbpf::bits_of(TCP_RECV_INIT)) == NSLICE_HEAD_WORDS + 3);
    CHECK(NSLICE_RECORD_WORDS(nsbpf::bits_of(IRQ_STOP)) == NSLICE_HEAD_WORDS);
}

TEST_CASE("a record behind another one that is on has a site of its own, with the flag",
          "[nsbpf][point_table]")
{
    std::vector<bool> is_on(kPoints.size(), true);
    CHECK(nsbpf::is_in_program(IRQ_START, is_on));
    CHECK(nsbpf::is_in_program(TCP_SEND_CALL_STOP, is_on));
    CHECK(nsbpf::is_in_program(TCP_SEND_EXIT, is_on));
    CHECK_FALSE(nsbpf::is_in_program(TCP_SEND_CALL_START, is_on));
    CHECK_FALSE(nsbpf::is_in_program(IRQ_STOP, is_on));
    is_on[IRQ_NUMBER] = is_on[TCP_SEND_QUEUE_STOP] = false;
    CHECK_FALSE(nsbpf::is_in_program(IRQ_START, is_on));
    CHECK_FALSE(nsbpf::is_in_program(TCP_SEND_DRIVER_START, is_on));
    CHECK(nsbpf::is_in_program(TCP_SEND_WIRE, is_on)); // DRIVER_START is left

    const auto id_of = [](uint64_t bits) { return bits >> NSLICE_HEAD_SLICE_SHIFT & 0xffff; };
    const uint64_t first = nsbpf::bits_of(IRQ_START), behind = nsbpf::bits_of(IRQ_START, true);
    CHECK(id_of(first) != id_of(behind));
    CHECK(NSLICE_RECORD_KIND(behind) == NSLICE_KIND_START);
    std::set<uint64_t> with_flag;
    const std::string chunk = nsbpf::site_chunk(nsbpf::parse_groups("irq"));
    for (size_t at = 0; at < chunk.size();) {
        nslice_file_site site;
        memcpy(&site, chunk.data() + at, sizeof(site));
        if (site.flags & NSLICE_SITE_IN_PROGRAM)
            with_flag.insert(site.slice_id);
        at += (sizeof(site) + site.name_bytes + site.file_bytes + 7) / 8 * 8;
    }
    CHECK(with_flag == std::set<uint64_t>{id_of(behind)});
}

TEST_CASE("groups are found by name, and an unknown one is named", "[nsbpf][point_table]")
{
    const uint32_t both = nsbpf::parse_groups("irq,tcp_send");
    CHECK((both & nsbpf::group_bit(kPoints[IRQ_STOP])) != 0);
    CHECK((both & nsbpf::group_bit(kPoints[TCP_SEND_INIT])) != 0);
    CHECK((both & nsbpf::group_bit(kPoints[NAPI_WORK])) == 0);
    CHECK(nsbpf::keeps_context(both));
    CHECK_FALSE(nsbpf::keeps_context(nsbpf::parse_groups("irq,sched")));
    try {
        nsbpf::parse_groups("irq,nothing");
        FAIL("no refusal");
    } catch (const nsbpf::Refusal &refusal) {
        CHECK(refusal.number() == EINVAL);
        CHECK(std::string(refusal.what()).find("\"nothing\"") != std::string::npos);
    }
}

TEST_CASE("the chunk of sites has the points of the groups only", "[nsbpf][point_table]")
{
    const std::string chunk = nsbpf::site_chunk(nsbpf::parse_groups("sched"));
    nslice_file_site site;
    REQUIRE(chunk.size() >= sizeof(site));
    memcpy(&site, chunk.data(), sizeof(site));
    CHECK(site.kind == NSLICE_KIND_MARK);
    CHECK(site.flags == NSLICE_SITE_SWITCH);
    CHECK(std::string(chunk.data() + sizeof(site)) == "sched_switch");
    CHECK(chunk.size() % 8 == 0);
    CHECK(chunk.size() < sizeof(site) + 40);
}
