// SPDX-License-Identifier: MIT
// Maps of a program -> records of its probes.
#include "support/xdp_recorder.hpp"

#include <iterator>
#include <stdexcept>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <nslice/record.h>
#include <sys/mman.h>

#include "support/rings_owner.hpp"

namespace test_support
{
namespace
{
struct Found {
    mapi::ipc::Descriptor map;
    bpf_map_info info = {};
};

// Not open if the program has no such map.
Found find(int program, const std::string &name)
{
    uint32_t ids[64] = {};
    bpf_prog_info info = {};
    info.map_ids = reinterpret_cast<uintptr_t>(ids);
    info.nr_map_ids = std::size(ids);
    uint32_t bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(program, &info, &bytes) != 0)
        throw std::runtime_error("facts of the program");
    for (uint32_t i = 0; i < info.nr_map_ids; ++i) {
        Found found = {mapi::ipc::Descriptor(bpf_map_get_fd_by_id(ids[i]))};
        bytes = sizeof(found.info);
        if (found.map.is_open() &&
            bpf_obj_get_info_by_fd(found.map.number(), &found.info, &bytes) == 0 &&
            found.info.name == name)
            return found;
    }
    return {};
}

uint64_t words_of(uint8_t kind)
{
    return kind == NSLICE_KIND_INIT ? NSLICE_INIT_WORDS : 0;
}
} // namespace

ProbeRecorder::Mapped::Mapped(int program, const char *name)
{
    const Found found = find(program, name);
    if (!found.map.is_open())
        throw std::runtime_error(std::string("the program has no map ") + name);
    value_bytes = found.info.value_size;
    values = found.info.max_entries;
    void *const mapped = mmap(nullptr, size_t{value_bytes} * values, PROT_READ | PROT_WRITE,
                              MAP_SHARED, found.map.number(), 0);
    if (mapped == MAP_FAILED)
        throw std::runtime_error(std::string("mmap of the map ") + name);
    memory = static_cast<char *>(mapped);
}

ProbeRecorder::Mapped::~Mapped()
{
    munmap(memory, size_t{value_bytes} * values);
}

bool ProbeRecorder::has_probes(int program)
{
    return find(program, NSLICE_BPF_SITES).map.is_open() ||
           find(program, NSLICE_BPF_RINGS).map.is_open();
}

void ProbeRecorder::switch_on(const std::string &prefix) const
{
    // Else a recorder of all programs, which another test may have started, takes this one.
    const __u64 own = rings_owner();
    __u64 owner = 0;
    if (!__atomic_compare_exchange_n(&ring(0).owner, &owner, own, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        owner != own)
        throw std::runtime_error("another recorder has the program");
    for (size_t i = 0; i < sites(); ++i) {
        const uint8_t kind = site(i).kind;
        if (std::string(site(i).name).starts_with(prefix))
            site(i).bits = (i + 1) << NSLICE_HEAD_SLICE_SHIFT |
                           uint64_t{kind} << NSLICE_HEAD_KIND_SHIFT |
                           words_of(kind) << NSLICE_HEAD_COUNT_SHIFT;
    }
}

void ProbeRecorder::switch_off() const
{
    for (size_t i = 0; i < sites(); ++i)
        site(i).bits = 0;
}

uint64_t ProbeRecorder::lost(nslice_lost cause) const
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < rings(); ++cpu)
        sum += ring(cpu).lost[cause];
    return sum;
}

std::vector<ProbeRecord> ProbeRecorder::drain(uint32_t cpu) const
{
    nslice_ring_meta &its = ring(cpu);
    std::vector<ProbeRecord> records;
    while (uint32_t(its.tail) != uint32_t(its.head)) {
        const uint64_t second = word(cpu, its.tail + 1);
        if (NSLICE_RECORD_KIND(second) == 0)
            throw std::runtime_error("a record is not complete");
        const size_t number = second >> NSLICE_HEAD_SLICE_SHIFT & 0xffff;
        if (number == 0 || number > sites())
            throw std::runtime_error("another recorder has switched the sites on");
        const nslice_bpf_site &from = site(number - 1);
        ProbeRecord record = {from.name,
                              uint8_t(NSLICE_RECORD_KIND(second)),
                              word(cpu, its.tail),
                              uint32_t(second),
                              {}};
        const uint32_t words = NSLICE_RECORD_WORDS(second);
        for (uint32_t i = 0; i < words; ++i) {
            uint64_t &value = word(cpu, its.tail + i);
            if (i >= NSLICE_HEAD_WORDS)
                record.words.push_back(value);
            value = 0;
        }
        its.tail += NSLICE_POSITION_STEP(words);
        records.push_back(std::move(record));
    }
    if (its.tail != its.head)
        throw std::runtime_error("the ring's head has counted another number of records");
    return records;
}

uint64_t &ProbeRecorder::word(uint32_t cpu, uint64_t position) const
{
    auto *const words =
        reinterpret_cast<uint64_t *>(reinterpret_cast<char *>(&ring(cpu)) + NSLICE_RING_META_BYTES);
    return words[uint32_t(position) & (data_bytes() / NSLICE_WORD_BYTES - 1)];
}
} // namespace test_support
