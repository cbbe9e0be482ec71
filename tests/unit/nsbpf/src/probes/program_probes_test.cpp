// SPDX-License-Identifier: MIT
// Numbers of sites of BPF programs; whether the recorder of a program still runs.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <nslice/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded.hpp"
#include "map_rig.hpp"
#include "src/probes/owner.hpp"
#include "src/probes/program_probes.hpp"
#include "support/catch.hpp"

using namespace nsbpf_test;

namespace
{
// Sites of a file of its own each: no number is shared.
std::vector<nslice_bpf_site> many_sites(size_t count, char file)
{
    std::vector<nslice_bpf_site> sites;
    for (uint32_t line = 1; line <= count; ++line) {
        sites.push_back(site_of(NSLICE_KIND_START, line, "work"));
        sites.back().file[0] = file;
    }
    return sites;
}

size_t number_on(const ProgramRig &program)
{
    const std::vector<uint64_t> bits = program.bits();
    return bits.size() - size_t(std::ranges::count(bits, 0));
}

// Numbers of other pid namespaces say nothing here.
bool is_initial_pid_namespace()
{
    struct stat found = {};
    return stat("/proc/self/ns/pid", &found) == 0 && found.st_ino == 0xeffffffc;
}
} // namespace

TEST_CASE("a site keeps its number when its program is loaded again", "[nsbpf][program_probes]")
{
    nsbpf::SiteNumbers numbers(0xf100);
    std::string chunk;
    uint32_t room = 2;
    const uint16_t first = numbers.of(site_of(NSLICE_KIND_START, 7, "parse"), chunk, room);
    const size_t once = chunk.size();
    CHECK(first == 0xf100);
    CHECK(numbers.of(site_of(NSLICE_KIND_STOP, 8, "parse"), chunk, room) == 0xf101);
    CHECK(room == 0);
    CHECK(numbers.of(site_of(NSLICE_KIND_START, 7, "parse"), chunk, room) == first);
    CHECK(chunk.size() == 2 * once);

    nslice_file_site row;
    memcpy(&row, chunk.data(), sizeof(row));
    CHECK(row.slice_id == first);
    CHECK(row.line == 7);
    CHECK(row.flags == NSLICE_SITE_IN_PROGRAM);
    CHECK(std::string(&chunk[sizeof(row)]) == "parse");
    CHECK(std::string(&chunk[sizeof(row) + row.name_bytes]) == "program.bpf.c");
}

TEST_CASE("sites beyond the last number are counted and have none", "[nsbpf][program_probes]")
{
    nsbpf::SiteNumbers numbers(0xf7ff);
    std::string chunk;
    uint32_t room = 10;
    CHECK(numbers.share() == 1);
    CHECK(numbers.of(site_of(NSLICE_KIND_START, 1, "a"), chunk, room) == 0xf7ff);
    CHECK(numbers.share() == 0);
    CHECK(numbers.of(site_of(NSLICE_KIND_START, 2, "a"), chunk, room) == 0);
    CHECK(numbers.unnamed() == 1);
}

TEST_CASE("a program with very many probes gets a quarter of the numbers, and others get theirs",
          "[nsbpf][program_probes]")
{
    constexpr size_t kAll = nsbpf::SiteNumbers::kLast - nsbpf::SiteNumbers::kFirst + 1, kOthers = 9;
    const ProgramRig greedy(many_sites(kAll, 'a')), more(many_sites(kAll, 'b')),
        other(many_sites(kOthers, 'c'));
    if (!greedy.is_permitted() || !more.is_permitted() || !other.is_permitted())
        return;
    nsbpf::SiteNumbers numbers;
    std::string chunk;
    const uint64_t owner = nsbpf::own_owner();
    nsbpf::ProgramRings first(greedy.found(), 1, owner, numbers.share());
    CHECK(first.add_sites(greedy.sites(), numbers, chunk) == kAll - kAll / 4);
    CHECK(first.add_sites(more.sites(), numbers, chunk) == kAll); // another map of the same program
    nsbpf::ProgramRings second(other.found(), 1, owner, numbers.share());
    CHECK(second.add_sites(other.sites(), numbers, chunk) == 0);
    CHECK(numbers.unnamed() == 2 * kAll - kAll / 4);
    for (nsbpf::ProgramRings *rings : {&first, &second})
        rings->select("", {});
    CHECK(number_on(greedy) == kAll / 4);
    CHECK(number_on(more) == 0);
    CHECK(number_on(other) == kOthers);
}

TEST_CASE("a program's records with the number of another program's site are lost and counted",
          "[nsbpf][program_probes]")
{
    ProgramRig hostile(many_sites(1, 'a')), other(many_sites(2, 'b'));
    if (!hostile.is_permitted() || !other.is_permitted())
        return;
    nsbpf::SiteNumbers numbers;
    std::string chunk;
    nsbpf::ProgramRings first(hostile.found(), 1, nsbpf::own_owner(), numbers.share()),
        second(other.found(), 1, nsbpf::own_owner(), numbers.share());
    first.add_sites(hostile.sites(), numbers, chunk);
    second.add_sites(other.sites(), numbers, chunk);
    first.select("", {});
    second.select("", {});
    for (const auto *rig : {&other, &hostile})
        for (const uint64_t bits : rig->bits()) {
            REQUIRE(bits != 0);
            hostile.write(bits | 77);
        }
    other.write(other.bits()[1]);

    nsbpf::ClockLine line;
    for (uint64_t i = 0; i < 4; ++i)
        line.add({2 * i * 1000, i * 1000, 1});
    const auto taken = [&line](nsbpf::MappedRing &ring) {
        nsbpf::Piece piece;
        ring.watch();
        CHECK(ring.take(line, piece));
        return piece.words.size() < 2 ? 0 : piece.words[1] & ~uint64_t{UINT32_MAX};
    };
    nsbpf::MappedRing &own = *first.rings()[0], &others = *second.rings()[0];
    CHECK(taken(own) == hostile.bits()[0]);
    CHECK(own.foreign() == 2);
    CHECK(own.row().issued == 3);
    CHECK(own.row().drained == 1);
    CHECK(own.row().lost[NSLICE_LOST_TORN] == 2);
    CHECK(taken(others) == other.bits()[1]);
    CHECK(others.foreign() == 0);
}

TEST_CASE("a name without a terminator, or with control characters, becomes text",
          "[nsbpf][program_probes]")
{
    nslice_bpf_site site = site_of(NSLICE_KIND_MARK, 1, "");
    memset(site.name, 'x', sizeof(site.name));
    CHECK(nsbpf::name_of(site) == std::string(sizeof(site.name), 'x'));
    CHECK(nsbpf::name_of(site_of(NSLICE_KIND_MARK, 1, "a\tb\n")) == "a?b?");
}

TEST_CASE("sites in a map with another size are read as far as they are whole",
          "[nsbpf][program_maps]")
{
    constexpr uint32_t kBytes = sizeof(nslice_bpf_site) + 120, kOnly = 0;
    const int map =
        bpf_map_create(BPF_MAP_TYPE_ARRAY, "nslice_sites", sizeof(kOnly), kBytes, 1, nullptr);
    if (map < 0) // not permitted
        return;
    std::vector<uint8_t> value(kBytes, 0xff);
    const nslice_bpf_site written = site_of(NSLICE_KIND_START, 7, "parse");
    memcpy(value.data(), &written, sizeof(written));
    REQUIRE(bpf_map_update_elem(map, &kOnly, value.data(), BPF_ANY) == 0);
    const nsbpf::ProgramMap found = {1, nsbpf::Descriptor(map), kBytes, 1};
    for (int i = 0; i < 100;
         ++i) { // what is written behind the memory shows when more is allocated
        const std::vector<nslice_bpf_site> sites = nsbpf::read_sites(found);
        REQUIRE(sites.size() == 1);
        REQUIRE(nsbpf::name_of(sites[0]) == "parse");
    }
}

TEST_CASE("only a recorder that has ended is not running", "[nsbpf][owner]")
{
    const uint64_t own = nsbpf::own_owner();
    CHECK(nsbpf::is_running(own));
    if (!is_initial_pid_namespace())
        return;
    CHECK_FALSE(nsbpf::is_running(own ^ uint64_t{1} << 40)); // its number is another process's now
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, nullptr, 0);
    CHECK_FALSE(nsbpf::is_running(NSLICE_BPF_OWNER(child, 1)));
}

// Epochs of random thinning in which rules or sites changed are not listed.
TEST_CASE("a program that another recorder has changes nothing, however often it is tried",
          "[nsbpf][program_probes]")
{
    const nsbpf_test::Loaded program;
    if (!program.is_loaded())
        return;
    void *const memory = mmap(nullptr, NSLICE_RING_META_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                              program.rings(), 0);
    REQUIRE(memory != MAP_FAILED);
    auto *const ring = static_cast<nslice_ring_meta *>(memory);
    const pid_t child = fork(); // only its programs are looked for
    if (child == 0) {
        __atomic_store_n(&ring->owner, nsbpf::own_owner(), __ATOMIC_RELEASE);
        pause();
        _exit(0);
    }
    while (__atomic_load_n(&ring->owner, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
    std::string warnings, chunk;
    int added = 0;
    {
        nsbpf::ProgramProbes probes(1, "", nsbpf::Whose::kStarted,
                                    [&](const std::string &line) { warnings += line; });
        const uint64_t before = probes.generation();
        for (int i = 0; i < 3; ++i)
            probes.look(chunk, [&](nsbpf::ProgramRings &) { ++added; });
        CHECK(warnings.find("one recorder at a time") != std::string::npos);
        CHECK(probes.generation() == before);
        CHECK(added == 0);
        ring->owner = 0;
        probes.look(chunk, [&](nsbpf::ProgramRings &) { ++added; });
        CHECK(probes.generation() == before + 1);
        CHECK(added == 1);
    }
    munmap(memory, NSLICE_RING_META_BYTES);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}
