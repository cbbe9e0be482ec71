// SPDX-License-Identifier: MIT
// trace_sums: the trace of one pass -> sums over blocks of consecutive units.
//
// The means of nsdump's report are not suitable here: on a shared machine, an interrupt costs a
// slice more than all packets of its batch, and trimming over all batches would favour cheap
// packets over expensive ones.  Blocks that contain the same packets can be compared with each
// other.
#include "trace_sums.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analyse/analyse.hpp"
#include "analyse/correct/subtract.hpp"
#include "analyse/pair/pair.hpp"
#include "decode/error.hpp"
#include "decode/merge.hpp"

namespace mapi_cost
{
namespace
{
using nsdump::Slice;

class BlockSink
{
public:
    BlockSink(const nsdump::NameTable &names, const nsdump::Correction &correction,
              const SumRequest &request, TraceSums &sums)
        : names_(names), correction_(correction), request_(request), sums_(sums)
    {
    }

    void unit(const nsdump::Unit &unit)
    {
        finish_unit();
        unit_ = {};
        unit_.number = unit.number;
        unit_.packets = unit.packets;
        packets_seen_ += unit.packets;
        is_open_ = true;
    }

    void slice(const Slice &slice)
    {
        if (!is_open_ || !slice.unit || slice.unit->number != unit_.number)
            return;
        const size_t part = part_of(slice.name);
        const bool is_ticks = request_.field == Field::kTicks;
        const bool has_value = is_ticks || slice.counters;
        // Clocks and caches belong to a CPU; a count belongs to the thread, wherever it runs.
        if ((is_ticks && slice.is_migrated) || slice.spans_loss || slice.is_crossed || !has_value) {
            is_broken_ |= sums_.is_counted[part];
            return;
        }
        const auto &constants = correction_.of(slice.cpu_index, size_t(request_.field));
        if (!constants.is_known)
            throw nsdump::TraceError("the trace has no calibration for its correction");
        const double raw = double(is_ticks ? slice.raw_ticks : slice.counters[0]);
        const Subtracted subtracted = subtracted_of(slice, constants);
        const double net = raw - subtracted.value;
        double self = net;
        if (slice.children > 0) {
            nsdump::ChildSums children;
            const auto child_raw = is_ticks               ? slice.child_ticks
                                   : slice.child_counters ? slice.child_counters[0]
                                                          : 0;
            children.add(double(child_raw), slice.children, slice.in_children);
            self -= nsdump::children_net(children, constants);
        }
        unit_.part_net.resize(sums_.parts.size());
        unit_.part_net[part] += self;
        if (!is_root(slice.name))
            return;
        ++counted_;
        unit_.raw += raw;
        unit_.net += net;
        unit_.subtracted_ci95 += subtracted.widths.ci95;
        unit_.subtracted_bound += subtracted.widths.bound;
        unit_.own_bound += constants.inner_bound;
    }

    void finish_unit()
    {
        if (!is_open_)
            return;
        const bool is_whole = counted_ == request_.counted_slices.size() && !is_broken_;
        // With single-stepping, most units have no counters; they are not lost, only not selected.
        const bool was_wanted = unit_.number >= request_.first_unit &&
                                packets_seen_ <= request_.packets &&
                                (request_.field == Field::kTicks || counted_ > 0);
        if (was_wanted && is_whole)
            add_to_block();
        else
            sums_.units_left_out += was_wanted;
        is_open_ = is_broken_ = false;
        counted_ = 0;
    }

private:
    struct Subtracted {
        double value;
        nsdump::SubtractedWidths widths;
    };

    // Own reads by calibration, and what is inside by thinning if it is known.  The error of the
    // latter is the same in all passes, like a bound.
    Subtracted subtracted_of(const Slice &slice, const nsdump::FieldConstants &constants) const
    {
        const auto factor = request_.inside.find(names_[slice.name].text);
        const double inside = nsdump::outer_sum(slice.inside, constants.outer);
        if (factor == request_.inside.end())
            return {constants.inner + inside, nsdump::subtracted_widths(slice.inside, constants)};
        Subtracted out{constants.inner + factor->second.value * inside,
                       nsdump::subtracted_widths({}, constants)};
        out.widths.bound += factor->second.ci95 * inside;
        return out;
    }

    bool is_root(nsdump::NameId name) const
    {
        const auto &roots = request_.counted_slices;
        return std::find(roots.begin(), roots.end(), names_[name].text) != roots.end();
    }

    size_t part_of(nsdump::NameId name)
    {
        if (name >= part_by_name_.size())
            part_by_name_.resize(name + 1, -1);
        if (part_by_name_[name] < 0) {
            const std::string &text = names_[name].text;
            part_by_name_[name] = int(sums_.parts.size());
            sums_.parts.push_back(text);
            sums_.is_counted.push_back(text !=
                                       "driver_read"); // happens before the engine gets the packets
        }
        return size_t(part_by_name_[name]);
    }

    void add_to_block()
    {
        const uint64_t index = (unit_.number - request_.first_unit) / request_.units_per_block;
        if (sums_.blocks.empty() || index != block_index_) {
            sums_.blocks.emplace_back();
            sums_.blocks.back().number = unit_.number;
            sums_.blocks.back().index = index;
            block_index_ = index;
        }
        sums_.blocks.back().add(unit_);
    }

    const nsdump::NameTable &names_;
    const nsdump::Correction &correction_;
    const SumRequest &request_;
    TraceSums &sums_;
    std::vector<int> part_by_name_;
    Block unit_;
    bool is_open_ = false;
    bool is_broken_ = false;
    size_t counted_ = 0;
    uint64_t block_index_ = 0;
    uint64_t packets_seen_ = 0;
};

// Gives each pass its own sink.
class PassSink
{
public:
    PassSink(const nsdump::NameTable &names, const nsdump::Correction &correction,
             const std::vector<SumRequest> &requests)
        : sums_(requests.size())
    {
        for (size_t i = 0; i < requests.size(); ++i)
            sinks_.emplace_back(names, correction, requests[i], sums_[i]);
    }

    void unit(const nsdump::Unit &unit)
    {
        if (unit.number <= last_number_ && pass_ + 1 < sinks_.size()) {
            sinks_[pass_].finish_unit();
            ++pass_;
        }
        last_number_ = unit.number;
        sinks_[pass_].unit(unit);
    }
    void slice(const Slice &slice) { sinks_[pass_].slice(slice); }
    void mark(nsdump::NameId, uint64_t) {}
    // A pass whose first units were lost cannot be distinguished from the one before it.
    std::vector<TraceSums> finish()
    {
        sinks_[pass_].finish_unit();
        if (pass_ + 1 != sinks_.size())
            throw nsdump::TraceError(
                fmt::format("the trace has units of {} of {} passes; the others were lost",
                            pass_ + 1, sinks_.size()));
        return std::move(sums_);
    }

private:
    std::vector<TraceSums> sums_;
    std::vector<BlockSink> sinks_;
    size_t pass_ = 0;
    uint64_t last_number_ = 0;
};
} // namespace

void Block::add(const Block &other)
{
    packets += other.packets;
    raw += other.raw;
    net += other.net;
    subtracted_ci95 += other.subtracted_ci95;
    subtracted_bound += other.subtracted_bound;
    own_bound += other.own_bound;
    part_net.resize(std::max(part_net.size(), other.part_net.size()));
    for (size_t i = 0; i < other.part_net.size(); ++i)
        part_net[i] += other.part_net[i];
}

uint64_t TraceSums::packets() const
{
    uint64_t sum = 0;
    for (const Block &block : blocks)
        sum += block.packets;
    return sum;
}

TraceSums sum_trace(const std::string &path, const SumRequest &request)
{
    return std::move(sum_passes(path, {request}).front());
}

std::vector<TraceSums> sum_passes(const std::string &path, const std::vector<SumRequest> &requests)
{
    nsdump::TraceFile trace(path);
    const nsdump::Correction correction(trace);
    PassSink sink(trace.names(), correction, requests);
    nsdump::Pairer pairer(trace.names(), {trace.counter_names().size(), trace.cpus().size()}, sink);
    nsdump::Merger merger(trace);
    nsdump::Run run;
    while (merger.next(run))
        pairer.consume(run);
    pairer.finish();
    std::vector<TraceSums> passes = sink.finish();
    for (size_t i = 0; i < passes.size(); ++i) {
        passes[i].blocks_per_round = requests[i].blocks_per_round;
        for (Block &block : passes[i].blocks)
            block.part_net.resize(passes[i].parts.size());
    }
    passes.front().report = nsdump::analyse_trace(path);
    return passes;
}

void pool_blocks(TraceSums &sums, uint64_t count)
{
    const double share = double(sums.packets()) / double(count);
    std::vector<Block> pooled;
    for (const Block &block : sums.blocks) {
        if (!pooled.empty() && double(pooled.back().packets) < share)
            pooled.back().add(block);
        else
            pooled.push_back(block);
        pooled.back().index = pooled.size() - 1;
    }
    if (pooled.size() > 1 && double(pooled.back().packets) < share) {
        const Block rest = std::move(pooled.back());
        pooled.pop_back();
        pooled.back().add(rest);
    }
    sums.blocks = std::move(pooled);
    sums.blocks_per_round = 1;
}
} // namespace mapi_cost
