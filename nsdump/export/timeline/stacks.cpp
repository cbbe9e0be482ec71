// SPDX-License-Identifier: MIT
// export: threads and CPUs of a trace -> the tracks of a timeline.
#include "export/timeline/stacks.hpp"

namespace nsdump
{
namespace
{
// No process or thread of Linux has a number this high (its limit is 2^22).
constexpr uint32_t kNoThread = 1u << 30;

bool is_thread_number(uint32_t number)
{
    return number > 0 && number < kNoThread;
}
} // namespace

// Two rounds of the finaliser of MurmurHash3.
uint64_t mixed(uint64_t a, uint64_t b)
{
    const auto mix = [](uint64_t x) {
        x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
        x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
        return x ^ (x >> 33);
    };
    return mix(mix(a + 0x9e3779b97f4a7c15) ^ b) | 1; // never 0, which means none
}

void Stacks::forget()
{
    stacks_.clear();
    parents_.clear();
    tracks_ = 0;
}

Stack *Stacks::find(Side side, uint32_t number)
{
    const auto found = stacks_.find(key_of(side, number));
    return found != stacks_.end() ? found->second.get() : nullptr;
}

Stack *Stacks::find_thread(uint32_t thread_id)
{
    return find(Side::program, thread_id);
}

Stack &Stacks::add(Side side, uint32_t number, const Track &track)
{
    declare(track);
    auto &stack = stacks_[key_of(side, number)];
    stack = std::make_unique<Stack>();
    stack->track = track;
    return *stack;
}

void Stacks::declare(const Track &track)
{
    ++tracks_;
    writer_.track(track, out_);
}

Track Stacks::group(Side side)
{
    static constexpr const char *kNames[] = {"programs", "kernel", "CPUs"};
    Track group;
    group.id = mixed(uint64_t(Track::Kind::group), uint64_t(side));
    group.pid = kNoThread + uint32_t(side);
    group.tid = group.pid;
    group.name = kNames[size_t(side)];
    if (parents_.insert(group.id).second)
        declare(group);
    return group;
}

Track Stacks::process(uint32_t pid)
{
    Track process;
    process.kind = Track::Kind::process;
    process.id = mixed(uint64_t(process.kind), pid);
    process.pid = pid;
    process.tid = pid;
    process.name = "process " + std::to_string(pid);
    if (parents_.insert(process.id).second)
        declare(process);
    return process;
}

Track Stacks::child(const Track &parent, Track::Kind kind, uint64_t number, const std::string &name)
{
    Track track;
    track.kind = kind;
    track.id = mixed(parent.id + uint64_t(kind), number);
    track.parent_id = parent.id;
    track.pid = parent.pid;
    track.tid = kNoThread | (track.id & (kNoThread - 1));
    track.name = name;
    return track;
}

Stack &Stacks::thread(uint32_t thread_id, uint32_t pid)
{
    if (Stack *known = find(Side::program, thread_id))
        return *known;
    const std::string name = "thread " + std::to_string(thread_id);
    if (!is_thread_number(pid) || !is_thread_number(thread_id))
        return add(Side::program, thread_id,
                   child(group(Side::program), Track::Kind::lane, thread_id, name));
    Track track = child(process(pid), Track::Kind::thread, thread_id, name);
    track.tid = thread_id;
    return add(Side::program, thread_id, track);
}

Stack &Stacks::kernel_thread(uint32_t thread_id, const std::string &name)
{
    if (Stack *known = find(Side::kernel, thread_id))
        return *known;
    return add(Side::kernel, thread_id,
               child(group(Side::kernel), Track::Kind::lane, thread_id, name));
}

Stack &Stacks::cpu(uint32_t cpu)
{
    if (Stack *known = find(Side::cpu, cpu))
        return *known;
    return add(Side::cpu, cpu,
               child(group(Side::cpu), Track::Kind::lane, cpu, "CPU " + std::to_string(cpu)));
}

const Track &Stacks::lane(Stack &stack, size_t lane)
{
    if (lane == 0)
        return stack.track;
    while (stack.lanes.size() < lane) {
        const size_t number = stack.lanes.size() + 1;
        stack.lanes.push_back(child(stack.track, Track::Kind::lane, number,
                                    stack.track.name + ", lane " + std::to_string(number + 1)));
        declare(stack.lanes.back());
    }
    return stack.lanes[lane - 1];
}

const Track &Stacks::counter(Stack &stack, uint64_t number, const std::string &name)
{
    const auto [at, is_new] = stack.counters.try_emplace(number);
    if (is_new) {
        at->second =
            child(stack.track, Track::Kind::counter, number,
                  name + ", " + stack.track.name); // some viewers do not show where it belongs
        declare(at->second);
    }
    return at->second;
}
} // namespace nsdump
