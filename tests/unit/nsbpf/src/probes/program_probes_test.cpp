// SPDX-License-Identifier: MIT
// Numbers of sites of BPF programs; whether the recorder of a program still runs.
#include <cstring>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <nslice/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/probes/owner.hpp"
#include "src/probes/program_probes.hpp"
#include "support/catch.hpp"

namespace
{
nslice_bpf_site site_of(uint8_t kind, uint32_t line, const char *name)
{
    nslice_bpf_site site = {};
    site.kind = kind;
    site.line = line;
    strncpy(site.name, name, sizeof(site.name));
    strncpy(site.file, "program.bpf.c", sizeof(site.file));
    return site;
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
    const uint16_t first = numbers.of(site_of(NSLICE_KIND_START, 7, "parse"), chunk);
    const size_t once = chunk.size();
    CHECK(first == 0xf100);
    CHECK(numbers.of(site_of(NSLICE_KIND_STOP, 8, "parse"), chunk) == 0xf101);
    CHECK(numbers.of(site_of(NSLICE_KIND_START, 7, "parse"), chunk) == first);
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
    CHECK(numbers.of(site_of(NSLICE_KIND_START, 1, "a"), chunk) == 0xf7ff);
    CHECK(numbers.of(site_of(NSLICE_KIND_START, 2, "a"), chunk) == 0);
    CHECK(numbers.unnamed() == 1);
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
