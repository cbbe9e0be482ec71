// SPDX-License-Identifier: MIT
// A simulated program whose probes are thinned: known work -> a trace with epochs, and the truth.
#include "thinning/program.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nsdump_support.hpp"

namespace simulation
{
namespace
{
constexpr double kGap = 30; // ticks between epochs, in which probes are switched
constexpr double kInterrupt = 20'000;
constexpr int kOtherSessions = 3; // whose slices give the expected work

// Work of each slice, by its name.
enum Name { kOuter, kMiddle, kLeaf, kNames };
using Work = std::array<std::vector<double>, kNames>;

struct Span {
    double begin, end, load;
    std::vector<uint16_t> off;
};

double trimmed_mean(std::vector<double> &values)
{
    const auto cut = ptrdiff_t(nsdump::kTrimmedShare * double(values.size()));
    const auto low = values.begin() + cut, high = values.end() - cut;
    std::nth_element(values.begin(), low, values.end());
    std::nth_element(low, high - 1, values.end());
    return std::accumulate(low, high, 0.0) / double(high - low);
}

struct Sites {
    uint16_t outer, middle, leaf, mark;
};

std::vector<uint16_t> draw_off(const Sites &sites, Random &random)
{
    const double arm = random.uniform();
    std::vector<uint16_t> off;
    if (arm < 0.25) { // a cut: level 0, 1 or 2 and deeper
        const int level = int(random.uniform(0, 3));
        off = {sites.leaf};
        if (level < 2)
            off.insert(off.end(), {sites.middle, sites.mark});
        if (level < 1)
            off.push_back(sites.outer);
    } else if (arm < 0.5) {
        const int one = int(random.uniform(0, 3));
        off = {one == 0 ? sites.leaf : one == 1 ? sites.middle : sites.mark};
    }
    std::sort(off.begin(), off.end());
    return off;
}

std::vector<Span> draw_epochs(const ThinnedModel &model, const Sites &sites, Random &random)
{
    std::vector<Span> out;
    double at = 100'000, load = random.normal();
    const double alike = model.load_epochs > 0 ? std::exp(-1 / model.load_epochs) : 0;
    for (int i = 0; i < model.epochs; ++i) {
        const double length =
            model.shortest * std::pow(model.longest / model.shortest, random.uniform());
        load = alike * load + std::sqrt(1 - alike * alike) * random.normal();
        const double grown = 1 + model.drift * i / model.epochs;
        out.push_back({std::ceil(at), std::floor(at + length),
                       grown * std::exp(model.load_sd * load), draw_off(sites, random)});
        at = out.back().end + kGap;
    }
    return out;
}

// One thread on a CPU of its own.
class Thread
{
public:
    Thread(const ThinnedModel &model, const Sites &sites, const std::vector<Span> &spans,
           uint32_t cpu, test_support::TraceBuilder *trace, Random &random)
        : model_(model), sites_(sites), spans_(spans), cpu_(cpu), trace_(trace), random_(random),
          now_(spans.front().begin + random.uniform(0, 1000))
    {
    }

    void run(Work &work)
    {
        while (now_ < spans_.back().end) {
            now_ += random_.uniform(50, 400);
            work[kOuter].push_back(model_.leaves > 0 ? around_leaves(work) : outer(work));
        }
    }

private:
    const Span &span()
    {
        while (at_ + 1 < spans_.size() && now_ >= spans_[at_ + 1].begin - kGap / 2)
            ++at_;
        return spans_[at_];
    }
    bool is_on(uint16_t site)
    {
        const auto &off = span().off;
        return !std::binary_search(off.begin(), off.end(), site);
    }
    void probe(uint16_t site, unsigned kind, double before, double after)
    {
        if (!is_on(site))
            return;
        now_ += before + 0.5 * model_.probe_sd * random_.normal();
        const auto read = uint64_t(std::floor(now_ / model_.step) * model_.step);
        const uint64_t value = 1;
        if (trace_)
            trace_->record(cpu_, 1 + cpu_, kind, site, read, &value, kind == NSLICE_KIND_MARK);
        now_ += after + 0.5 * model_.probe_sd * random_.normal();
    }
    void start(uint16_t site)
    {
        probe(site, NSLICE_KIND_START, 0.5 * (model_.outer - model_.inner), 0.5 * model_.inner);
    }
    void stop(uint16_t site)
    {
        probe(site, NSLICE_KIND_STOP, 0.5 * model_.inner - model_.overtaken,
              0.5 * (model_.outer - model_.inner) + model_.overtaken);
    }
    // Returns the work, which is done at the load of the time.
    double do_work(double ticks)
    {
        ticks *= span().load;
        now_ += ticks;
        return ticks;
    }
    double leaf(Work &work, double size)
    {
        start(sites_.leaf);
        const double ticks = do_work(40 + 20 * size);
        stop(sites_.leaf);
        work[kLeaf].push_back(ticks);
        return ticks;
    }
    double middle(Work &work, double size)
    {
        start(sites_.middle);
        double ticks = do_work(60 + 60 * size);
        for (int i = 0; i < 1 + int(size); ++i)
            ticks += leaf(work, size);
        ticks += do_work(30);
        stop(sites_.middle);
        work[kMiddle].push_back(ticks);
        return ticks;
    }
    double outer(Work &work)
    {
        const double size = std::exp(model_.sigma * random_.normal());
        start(sites_.outer);
        double ticks = do_work(100 * size);
        probe(sites_.mark, NSLICE_KIND_MARK, 0.5 * model_.mark, 0.5 * model_.mark);
        for (int i = 0; i < 1 + int(random_.uniform() < 0.5 * size); ++i)
            ticks += middle(work, size);
        if (random_.uniform() < model_.interrupts) {
            now_ += kInterrupt;
            ticks += kInterrupt;
        }
        ticks += do_work(50);
        stop(sites_.outer);
        return ticks;
    }

    double around_leaves(Work &work)
    {
        start(sites_.outer);
        double ticks = 0;
        for (int i = 0; i < model_.leaves; ++i)
            ticks += do_work(20) + leaf(work, std::exp(model_.sigma * random_.normal()));
        stop(sites_.outer);
        return ticks;
    }

    const ThinnedModel &model_;
    const Sites &sites_;
    const std::vector<Span> &spans_;
    uint32_t cpu_;
    test_support::TraceBuilder *trace_;
    Random &random_;
    double now_;
    size_t at_ = 0;
};

void calibrate(const ThinnedModel &model, unsigned phase, uint64_t ticks,
               test_support::TraceBuilder &trace, Random &random)
{
    const auto measured = [&](double value) { return value + model.ci95 / 1.96 * random.normal(); };
    std::vector<nslice_calibration_entry> entries = {
        test_support::entry(NSLICE_KIND_START, 0, measured(model.calibrated_inner),
                            measured(model.calibrated_outer), model.ci95),
        test_support::entry(NSLICE_KIND_MARK, 0, 0, measured(model.calibrated_mark), model.ci95)};
    for (size_t i = 0; i < 2 && model.hidden > 0; ++i) {
        nslice_calibration_entry alone = entries[i];
        alone.kind |= NSLICE_ENTRY_ALONE;
        alone.inner += i == 0 ? model.hidden : 0;
        alone.outer += i == 0 ? model.hidden : 0.5 * model.hidden;
        entries.push_back(alone);
    }
    if (model.most_overtaken > 0) {
        nslice_calibration_entry overtaking = entries[0];
        overtaking.kind |= NSLICE_ENTRY_OVERTAKING;
        overtaking.inner -= model.most_overtaken;
        entries.push_back(overtaking);
    }
    trace.calibration(phase, ticks, ticks, entries, model.step);
}
} // namespace

ThinnedRun run_thinned(const ThinnedModel &model, Random &random)
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info());
    calibrate(model, NSLICE_CALIBRATION_START, 1, trace, random);
    const Sites sites = {trace.site("outer"), trace.site("middle"), trace.site("leaf"),
                         trace.site("mark", NSLICE_KIND_MARK)};
    const std::vector<Span> spans = draw_epochs(model, sites, random);
    Work work;
    for (uint32_t cpu = 0; cpu < uint32_t(model.threads); ++cpu)
        Thread(model, sites, spans, cpu, &trace, random).run(work);
    for (const Span &span : spans)
        trace.epoch(uint64_t(span.begin), uint64_t(span.end), span.off);
    const auto end = uint64_t(spans.back().end) + 1'000'000;
    calibrate(model, NSLICE_CALIBRATION_END, end, trace, random);
    trace.footer(NSLICE_END_CLOSED, end + 1000, end + 1000);
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    ThinnedRun out{nsdump::analyse_trace(file), {}};
    ThinnedModel independent = model; // gives the same expectation with less noise
    independent.load_epochs = 0;
    Work other;
    for (int session = 0; session < kOtherSessions; ++session) {
        const std::vector<Span> others = draw_epochs(independent, sites, random);
        Thread(independent, sites, others, 0, nullptr, random).run(other);
    }
    for (const Name name : {kOuter, kMiddle, kLeaf})
        out.truth[name == kOuter    ? "outer"
                  : name == kMiddle ? "middle"
                                    : "leaf"] = other[name].empty() ? 0 : trimmed_mean(other[name]);
    return out;
}
} // namespace simulation
