// SPDX-License-Identifier: MIT
// BPF_FILTER: packet -> passes when the expression matches.  One program for each link type that
// occurs.
#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <linux/if_packet.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"
#include "links/link_type.hpp"
#include "match/bpf/bpf_live.hpp"
#include "match/bpf/bpf_program.hpp"
#include "match/bpf/index/bpf_index.hpp"
#include "match/bpf/index/verdict_cache.hpp"
#include "match/errors.hpp"

namespace mapi::functions
{
namespace
{
constexpr size_t kProgramsMax = 8;       // captures with more link types are not common
constexpr uint64_t kProgramBytes = 8192; // its machine code occupies pages of its own

class BpfFilter
{
public:
    BpfFilter(const mapi_function_setup *setup, const char *expression)
        : expression_(expression),
          has_packet_types_((setup->device_flags & MAPI_DEVICE_PACKET_TYPES) != 0),
          interface_index_(setup->interface_index)
    {
        programs_.reserve(kProgramsMax);
    }

    // Throws FilterError.  An expression that does not compile for files may compile for an
    // interface.
    void prepare(uint16_t link_type)
    {
        try {
            programs_.push_back({link_type, match::BpfProgram::compile(expression_, link_type, 0)});
        } catch (const match::FilterError &) {
            Entry entry{link_type};
            entry.kernel_code = has_packet_types_ ? match::compile_live(expression_, link_type)
                                                  : std::vector<bpf_insn>();
            if (entry.kernel_code.empty())
                throw;
            entry.program = answered(entry, PACKET_HOST);
            entry.outgoing = answered(entry, PACKET_OUTGOING);
            programs_.push_back(std::move(entry));
        }
    }

    // Keeps the code for the link type given to create(), which other threads may request as well.
    void keep_code()
    {
        static constexpr bpf_insn kPass[] = {{BPF_RET | BPF_K, 0, 0, 1}};
        const Entry &first = programs_.front();
        first_link_type_ = first.link_type;
        first_program_ = first.program && !first.outgoing ? &*first.program : nullptr;
        first_code_ = first.outgoing ? std::span(first.kernel_code) : first.program->instructions();
        indexed_code_ = first.outgoing ? std::span<const bpf_insn>(kPass) : first_code_;
    }

    uint32_t code(uint16_t link_type, const mapi_filter_code **code) const
    {
        static_assert(sizeof(bpf_insn) == sizeof(mapi_filter_code));
        *code = reinterpret_cast<const mapi_filter_code *>(first_code_.data());
        return link_type == first_link_type_ ? uint32_t(first_code_.size()) : 0;
    }

    // Any thread.  False if the result depends on more than the packet's bytes.
    bool describe(uint16_t link_type, mapi_offload_step &step) const
    {
        if (link_type != first_link_type_ || !first_program_)
            return false;
        step.kind = MAPI_OFFLOAD_FILTER;
        step.code_count = code(link_type, &step.code);
        return true;
    }

    uint64_t process(const mapi_batch &batch, uint64_t mask)
    {
        if (batch.link_type != MAPI_LINK_MIXED) [[likely]]
            return filter(batch.packets, mask, batch.link_type);
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0;) {
            const uint16_t link_type = batch.packets[std::countr_zero(rest)].link_type;
            uint64_t same = 0;
            for (uint64_t m = rest; m != 0; m &= m - 1) {
                if (batch.packets[std::countr_zero(m)].link_type == link_type)
                    same |= m & -m;
            }
            passed |= filter(batch.packets, same, link_type);
            rest &= ~same;
        }
        return passed;
    }

    // Any thread: this program never changes after create().
    bool prefilter(const mapi_batch &batch, uint64_t &passed) const
    {
        if (batch.link_type != first_link_type_ || !first_program_)
            return false;
        passed = first_program_->filter(batch.packets, batch.all);
        return true;
    }

    // Any thread.
    uint16_t first_link_type() const { return first_link_type_; }
    // Whether the indexed code is the filter itself.
    bool is_indexed() const { return first_program_ != nullptr; }
    // For an index over many filters: a superset of what this filter accepts.
    std::span<const bpf_insn> indexed_code() const { return indexed_code_; }

    uint64_t unjudged() const { return unjudged_.load(std::memory_order_relaxed); }

private:
    struct Entry {
        uint16_t link_type = 0;
        std::optional<match::BpfProgram> program =
            {}; // empty: the expression cannot be used with this link type
        std::optional<match::BpfProgram> outgoing =
            {}; // if the direction matters: for packets sent by this machine
        std::vector<bpf_insn> kernel_code =
            {}; // likewise: the program in the form the kernel accepts
    };

    // An expression can only test whether a packet is outgoing.
    match::BpfProgram answered(const Entry &entry, uint8_t packet_type) const
    {
        return match::BpfProgram::from_instructions(
            match::answer_live(entry.kernel_code, packet_type, interface_index_));
    }

    uint64_t filter(const mapi_packet *packets, uint64_t mask, uint16_t link_type)
    {
        const Entry *entry = &programs_.front();
        if (entry->link_type != link_type) [[unlikely]]
            entry = &find(link_type);
        if (entry->outgoing) [[unlikely]]
            return filter_by_direction(*entry, packets, mask);
        if (entry->program) [[likely]]
            return entry->program->filter(packets, mask);
        unjudged_.fetch_add(uint64_t(std::popcount(mask)), std::memory_order_relaxed);
        return 0;
    }

    static uint64_t filter_by_direction(const Entry &entry, const mapi_packet *packets,
                                        uint64_t mask)
    {
        uint64_t outgoing = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
            outgoing |=
                packets[std::countr_zero(rest)].packet_type == PACKET_OUTGOING ? rest & -rest : 0;
        return entry.program->filter(packets, mask & ~outgoing) |
               entry.outgoing->filter(packets, outgoing);
    }

    // The cold path: a capture with several link types compiles once for each, at its first packet.
    const Entry &find(uint16_t link_type)
    {
        static const Entry kNone = {};
        for (const Entry &entry : programs_) {
            if (entry.link_type == link_type)
                return entry;
        }
        if (programs_.size() == kProgramsMax)
            return kNone;
        try {
            prepare(link_type);
        } catch (const std::exception &) {
            programs_.push_back({link_type, std::nullopt});
        }
        return programs_.back();
    }

    const std::string expression_;
    const bool has_packet_types_;
    const uint32_t interface_index_;
    std::vector<Entry>
        programs_; // never reallocated; after create() used only by the device's thread
    const match::BpfProgram *first_program_ =
        nullptr; // null: the result depends on more than the packet's bytes
    uint16_t first_link_type_ = 0;
    std::span<const bpf_insn> first_code_, indexed_code_;
    std::atomic<uint64_t> unjudged_ = 0;
};

// Filters with the same input: an index over their fields selects the few filters that may accept a
// packet, which then decide themselves.  If many filters are beyond an index (ranges of ports,
// negations), verdicts on earlier packets are remembered.
class BpfGroup
{
public:
    // Returns null if no index is possible.
    static std::unique_ptr<BpfGroup> make(std::span<void *const> instances)
    {
        auto group = std::make_unique<BpfGroup>();
        std::vector<std::span<const bpf_insn>> programs;
        for (void *instance : instances) {
            group->filters_.push_back(static_cast<BpfFilter *>(instance));
            programs.push_back(group->filters_.back()->indexed_code());
            if (group->filters_.back()->first_link_type() !=
                group->filters_.front()->first_link_type())
                return nullptr;
        }
        group->index_ = match::BpfIndex::make(programs);
        if (!group->index_ || group->index_->unindexed() >= kFewestUnindexed)
            group->make_cache(programs);
        return group->index_ || group->cache_ ? std::move(group) : nullptr;
    }

    uint32_t process(const mapi_batch &batch, uint64_t mask, mapi_group_passed *passed)
    {
        if (batch.link_type != filters_.front()->first_link_type()) [[unlikely]] {
            judge_all(batch, mask);
            return give(accepted_, passed);
        }
        if (!cache_) {
            judge_indexed(batch, mask);
            return give(accepted_, passed);
        }
        if (const uint64_t unknown = cache_->recall(batch.packets, mask)) {
            index_ ? judge_indexed(batch, unknown) : judge_all(batch, unknown);
            cache_->learn(unknown, accepted_);
        }
        return give(cache_->verdicts(), passed);
    }

    // Any thread: the index is only read.
    bool prefilter(const mapi_batch &batch, uint64_t &possible) const
    {
        if (!index_ || batch.link_type != filters_.front()->first_link_type())
            return false;
        possible = index_->may_accept(batch.packets, batch.all);
        return true;
    }

private:
    // So many filters that are candidates for each packet cost more than a look into the cache.
    static constexpr size_t kFewestUnindexed = 8;

    // None if a verdict depends on more than the packet's bytes.
    void make_cache(const std::vector<std::span<const bpf_insn>> &programs)
    {
        const bool are_all_known = std::all_of(filters_.begin(), filters_.end(),
                                               [](const auto *one) { return one->is_indexed(); });
        cache_ = are_all_known ? match::VerdictCache::make(programs) : nullptr;
    }

    void judge(const mapi_batch &batch, uint32_t filter, uint64_t candidates)
    {
        if (const uint64_t matching = filters_[filter]->process(batch, candidates))
            accepted_.push_back({matching, filter});
    }
    void judge_indexed(const mapi_batch &batch, uint64_t mask)
    {
        accepted_.clear();
        for (const match::BpfCandidates &candidates : index_->find(batch.packets, mask))
            judge(batch, candidates.program, candidates.mask);
    }
    void judge_all(const mapi_batch &batch, uint64_t mask)
    {
        accepted_.clear();
        for (uint32_t filter = 0; filter < filters_.size(); ++filter)
            judge(batch, filter, mask);
    }

    static uint32_t give(std::span<const match::BpfCandidates> accepted, mapi_group_passed *passed)
    {
        uint32_t count = 0;
        for (const match::BpfCandidates &one : accepted)
            passed[count++] = {one.mask, one.program};
        return count;
    }

    std::vector<BpfFilter *> filters_;
    std::unique_ptr<match::BpfIndex> index_;     // or null
    std::unique_ptr<match::VerdictCache> cache_; // likewise
    std::vector<match::BpfCandidates> accepted_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const char *expression = setup->arguments[0].text;
    if (!expression || !*expression)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the filter expression is empty");
    if (const int refused = reserve_memory(setup, kProgramsMax * kProgramBytes))
        return refused;
    try {
        auto filter = std::make_unique<BpfFilter>(setup, expression);
        filter->prepare(setup->link_type == MAPI_LINK_UNKNOWN ? uint16_t(links::kEthernet)
                                                              : setup->link_type);
        filter->keep_code();
        *instance = filter.release();
        return 0;
    } catch (const match::FilterError &error) {
        const std::string why = error.what();
        return refuse(setup, PCAP_BPF_ERR,
                      std::string("filter \"") + expression + "\": " + why +
                          (why.starts_with("can't parse") ? " (see pcap-filter(7))" : ""));
    } catch (const std::exception &error) {
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<BpfFilter *>(instance)->process(*batch, mask);
}

int prefilter(const void *instance, const mapi_batch *batch, uint64_t *passed)
{
    return static_cast<const BpfFilter *>(instance)->prefilter(*batch, *passed);
}

uint32_t classic_bpf(const void *instance, uint16_t link_type, const mapi_filter_code **code)
{
    return static_cast<const BpfFilter *>(instance)->code(link_type, code);
}

int describe(const void *instance, uint16_t link_type, mapi_offload_step *step)
{
    return static_cast<const BpfFilter *>(instance)->describe(link_type, *step);
}

int group_create(void *const *instances, uint32_t count, void **group)
{
    try {
        *group = BpfGroup::make({instances, count}).release();
        return *group ? 0 : MFUNCT_COULD_NOT_APPLY_FUNCT;
    } catch (const std::exception &) {
        return MFUNCT_COULD_NOT_APPLY_FUNCT;
    }
}

uint32_t group_process(void *group, const mapi_batch *batch, uint64_t mask,
                       mapi_group_passed *passed)
{
    return static_cast<BpfGroup *>(group)->process(*batch, mask, passed);
}

int group_prefilter(const void *group, const mapi_batch *batch, uint64_t *possible)
{
    return static_cast<const BpfGroup *>(group)->prefilter(*batch, *possible);
}

void drops(const void *instance, mapi_function_drops *drops)
{
    drops->link_type = static_cast<const BpfFilter *>(instance)->unjudged();
}

constexpr mapi_function_filter kFilter = {
    .struct_size = sizeof(mapi_function_filter),
    .classic_bpf = classic_bpf,
    .prefilter = prefilter,
};

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
    .add = nullptr,
};

constexpr mapi_function_group kGroup = {
    .struct_size = sizeof(mapi_function_group),
    .create = group_create,
    .process = group_process,
    .destroy = destroy<BpfGroup>,
    .prefilter = group_prefilter,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_bpf_filter = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "BPF_FILTER",
    .description = "passes packets that match a libpcap filter expression",
    .flags = MAPI_FUNCTION_PURE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::BpfFilter>,
    .arguments = {MAPI_ARGUMENT_STRING},
    .drops = mapi::functions::drops,
    .text_bytes_max = 2048, // takes one second; libpcap's time grows with the cube
    .filter = &mapi::functions::kFilter,
    .group = &mapi::functions::kGroup,
    .offload = &mapi::functions::kOffload,
};
