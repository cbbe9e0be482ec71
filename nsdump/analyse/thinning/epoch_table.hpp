// SPDX-License-Identifier: MIT
// analyse: the epochs of a trace -> which names were off at a time, in which process.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "decode/file_reader.hpp"

namespace nsdump
{
// Which epochs of a trace are those of BPF programs.
inline bool belongs_to_kernel(const Epoch &epoch)
{
    return epoch.pid == NSLICE_EPOCH_OF_KERNEL;
}

// Sets of names that were off are numbered; 0 is the empty set.
class EpochTable
{
public:
    static constexpr uint32_t kNone = ~uint32_t{0};
    static constexpr size_t kMaxSets = 4096; // random thinning draws far fewer different ones

    struct Span {
        uint64_t begin_ticks;
        uint64_t end_ticks;
        uint32_t set;
        uint32_t source; // place in TraceFile::epochs()

        bool holds(uint64_t ticks) const { return begin_ticks <= ticks && ticks <= end_ticks; }
        double ticks() const { return double(end_ticks - begin_ticks); }
    };

    // Of processes, or of BPF programs.
    EpochTable(const TraceFile &trace, bool is_kernel);

    bool is_of_kernel() const { return is_kernel_; }
    size_t size() const { return spans_.size(); }
    const Span &operator[](uint32_t epoch) const { return spans_[epoch]; }
    // Why nothing can be estimated from these epochs; empty if they are good.
    const std::string &refusal() const { return refusal_; }
    // Whether epochs were lost: at any time, others than those in the table may have been.
    bool has_missing() const { return has_missing_; }
    // Whether it is the first one of its process.
    bool is_first(uint32_t epoch) const
    {
        return epoch == 0 ||
               epochs_[spans_[epoch - 1].source].pid != epochs_[spans_[epoch].source].pid;
    }
    // Whether any id was off, also one without a name.
    bool has_off(uint32_t epoch) const { return !epochs_[spans_[epoch].source].off.empty(); }
    // Whether it only says that everything is on from then on.
    bool is_end(uint32_t epoch) const
    {
        return spans_[epoch].begin_ticks == spans_[epoch].end_ticks && !has_off(epoch);
    }
    // The epoch, of the process that the id belongs to, that holds this time; kNone if it lies
    // between epochs.  `hint`: the probable result.
    uint32_t find(uint16_t slice_id, uint64_t ticks, uint32_t hint) const;
    // Epochs of the process that the id belongs to, as a range of numbers.
    struct Range {
        uint32_t begin = 0;
        uint32_t end = 0;
    };
    Range range_of(uint16_t slice_id) const
    {
        return slice_id < range_by_id_.size() ? ranges_[range_by_id_[slice_id]] : Range{};
    }
    // All of them: those of BPF programs are one range.
    Range range() const { return {0, uint32_t(spans_.size())}; }
    size_t sets() const { return sets_.size(); }
    // Ascending.
    std::span<const NameId> names_of(uint32_t set) const { return sets_[set]; }
    bool is_name_off(uint32_t epoch, NameId name) const;
    bool is_id_off(uint32_t epoch, uint16_t slice_id) const;

private:
    void sort_spans();
    void number_sets(const TraceFile &trace);
    void find_ranges(const TraceFile &trace);
    uint32_t range_number(const NameTable &names, uint16_t id,
                          const std::map<uint32_t, uint32_t> &places) const;

    const std::vector<Epoch> &epochs_;
    const bool is_kernel_;
    std::vector<Span> spans_; // by process, then by time
    std::vector<std::vector<NameId>> sets_;
    std::vector<Range> ranges_;         // by process; the first is empty
    std::vector<uint32_t> range_by_id_; // place in ranges_
    std::string refusal_;
    bool has_missing_ = false;
};
} // namespace nsdump
