// SPDX-License-Identifier: MIT
// export: threads and CPUs of a trace -> the tracks of a timeline, declared when they are first
// used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "export/timeline/nested_slices.hpp"
#include "export/timeline/writer.hpp"

namespace nsdump
{
// What slices nest in: a thread, the kernel in a thread, or the interrupts of a CPU.
struct Stack {
    Track track;
    std::vector<Track> lanes; // for slices that do not nest; the first is lane 1
    NestedSlices slices;
    std::unordered_map<uint64_t, Track> counters; // by what the caller numbers them with
};

class Stacks
{
public:
    // A real trace has fewer tracks; a hostile one must not take all memory.
    static constexpr size_t kMaxTracks = 1 << 17;

    Stacks(TimelineWriter &writer, std::string &out) : writer_(writer), out_(out) {}

    // True if forget() is to be called, after all slices have been written.
    bool are_many() const { return tracks_ > kMaxTracks; }
    void forget();

    // `pid`: 0 if unknown.
    Stack &thread(uint32_t thread_id, uint32_t pid);
    Stack &kernel_thread(uint32_t thread_id, const std::string &name);
    Stack &cpu(uint32_t cpu);
    const Track &lane(Stack &stack, size_t lane);
    const Track &counter(Stack &stack, uint64_t number, const std::string &name);
    // The stack of a thread if it has been used; null otherwise.
    Stack *find_thread(uint32_t thread_id);

    template <class Each> void each(Each each)
    {
        for (auto &[key, stack] : stacks_)
            each(*stack);
    }

private:
    enum class Side : uint8_t { program, kernel, cpu };

    static uint64_t key_of(Side side, uint32_t number) { return uint64_t(side) << 32 | number; }
    Stack *find(Side side, uint32_t number);
    Stack &add(Side side, uint32_t number, const Track &track);
    Track group(Side side);
    Track process(uint32_t pid);
    Track child(const Track &parent, Track::Kind kind, uint64_t number, const std::string &name);
    void declare(const Track &track);

    TimelineWriter &writer_;
    std::string &out_;
    std::unordered_map<uint64_t, std::unique_ptr<Stack>> stacks_;
    std::unordered_set<uint64_t> parents_; // groups and processes that are declared
    size_t tracks_ = 0;
};

// The number of a track or a flow in a file: the same for the same arguments.
uint64_t mixed(uint64_t a, uint64_t b);
} // namespace nsdump
