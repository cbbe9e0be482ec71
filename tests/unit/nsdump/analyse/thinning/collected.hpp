// SPDX-License-Identifier: MIT
// A trace with epochs -> what the collector of random thinning has seen.
#pragma once

#include <string>

#include "analyse/thinning/collector.hpp"
#include "nsdump_support.hpp"

namespace test_support
{
class Collected
{
public:
    explicit Collected(TraceBuilder &trace, double close_ticks = 0, bool is_kernel = false)
        : file_(source_of(trace.bytes())), epochs_(file_, is_kernel),
          slices_(file_, epochs_, clock(), close_ticks)
    {
        nsdump::Merger merger(file_, is_kernel ? nsdump::Order::kTime : nsdump::Order::kThread);
        nsdump::Run run;
        while (merger.next(run))
            slices_.consume(run);
        for (nsdump::NameId id = 0; id < file_.names().size(); ++id)
            slices_.finish(id);
    }

    nsdump::NameId name(const std::string &text) const
    {
        for (nsdump::NameId id = 0; id < file_.names().size(); ++id)
            if (file_.names()[id].text == text)
                return id;
        throw std::runtime_error("no name " + text);
    }
    const nsdump::NameCells &of(const std::string &text) const
    {
        return *slices_.cells_of(name(text));
    }
    const nsdump::Starts &starts_of(const std::string &text) const
    {
        return slices_.starts_of(name(text));
    }
    uint64_t left_out(const std::string &text, nsdump::LeftOut why) const
    {
        return of(text).left_out[size_t(why)];
    }
    // Whether the slices of this thread are of probes that are switched.
    bool is_trusted(uint32_t thread) const
    {
        nsdump::Slice slice = {};
        slice.thread_id = thread;
        return slices_.view_of(slice).is_trusted;
    }
    const nsdump::ThinningCollector &slices() const { return slices_; }
    const nsdump::EpochTable &epochs() const { return epochs_; }

private:
    static nsdump::Clock clock()
    {
        nsdump::Clock out;
        out.hz = 1e9;
        return out;
    }

    nsdump::TraceFile file_;
    nsdump::EpochTable epochs_;
    nsdump::ThinningCollector slices_;
};
} // namespace test_support
