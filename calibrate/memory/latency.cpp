// SPDX-License-Identifier: MIT
// latency: in each pass a new cycle through the memory of each size, and batches of loads along it.
#include "memory/latency.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>

#include <unistd.h>

#include <fmt/format.h>

#include "cases/cases.hpp"
#include "common/command/numbers.hpp"
#include "common/command/signals.h"
#include "memory/chase.hpp"
#include "surroundings/core_watch.hpp"

namespace calibrate
{
namespace
{
constexpr uint64_t kLeastBytes = 4096, kMostBytes = uint64_t(1) << 30;
constexpr uint64_t kWithoutCaches = uint64_t(256) << 20;
constexpr uint64_t kMostPages = 16384, kLeastPages = 16;
constexpr size_t kWarmLoads = size_t(1) << 20; // more than all caches but the largest have lines
constexpr double kBatchSeconds = 100e-6;       // shorter than what other programs take at a time
constexpr uint32_t kLeastLoads = 1024;
constexpr double kEnoughHuge = 0.9;
constexpr double kWatchSeconds = 1e-3; // before each point

uint64_t page_bytes()
{
    return uint64_t(sysconf(_SC_PAGESIZE));
}

// Follows the cycle once, as far as a cache may need it -> loads for a batch.
uint32_t warmed(Place *&at, size_t count, uint32_t most)
{
    const auto loads = uint32_t(std::clamp(count, size_t(kLeastLoads), kWarmLoads));
    const Instant begin = now();
    chased_ticks(at, loads);
    const double seconds = now().seconds - begin.seconds;
    const double fitting = seconds > 0 ? kBatchSeconds / seconds * loads : most;
    return uint32_t(std::clamp(fitting, double(kLeastLoads), double(most)));
}

void measure_point(const LatencyPlan &plan, const Places &places, uint64_t seed,
                   LatencyPoint &point)
{
    link_cycle(places, seed);
    std::mt19937_64 random(seed);
    Place *at = places[0];
    const uint32_t loads = warmed(at, places.count, plan.most_loads_per_batch);
    Chains chains;
    for (Place *&chain : chains)
        chain = places[size_t(random() % places.count)];
    auto &alone = point.alone.emplace_back();
    auto &overlapped = point.overlapped.emplace_back();
    for (unsigned batch = 0; batch < plan.batches_per_pass; ++batch) {
        alone.push_back(chased_ticks(at, loads));
        overlapped.push_back(overlapped_ticks(chains, loads));
    }
}

struct Job {
    LatencyPoint *point;
    Places places;
};

void add_jobs(LatencySeries &series, const Region &region, std::vector<Job> &jobs)
{
    for (LatencyPoint &point : series.points)
        jobs.push_back(
            {&point, {region.data(), size_t(point.bytes / kLineBytes), size_t(series.step_bytes)}});
}

LatencySeries series_of(const std::vector<uint64_t> &sizes, Pages pages, uint64_t step_bytes)
{
    LatencySeries series = {pages, step_bytes, {}};
    for (const uint64_t bytes : sizes)
        series.points.push_back({bytes, {}, {}});
    return series;
}

std::string setting_of_kernel()
{
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string line;
    std::getline(file, line);
    return huge_page_setting(line);
}

std::unique_ptr<Region> huge_region(size_t bytes, LatencyRun &run)
{
    auto region = std::make_unique<Region>(bytes, Pages::huge);
    run.huge_share = double(region->huge_bytes()) / double(region->bytes());
    if (run.huge_share >= kEnoughHuge)
        return region;
    run.why_not_huge = fmt::format("the kernel put {:.0f} % of the memory on huge pages "
                                   "(/sys/kernel/mm/transparent_hugepage/enabled: {})",
                                   run.huge_share * 100, setting_of_kernel());
    return nullptr;
}

void note_core(const Surroundings &around, RunFacts &facts)
{
    facts.shared_share = around.shared_share();
    facts.frequency_range = around.core.frequency_range;
    facts.gap_share = around.gap_share();
    facts.core_hz = around.core_hz();
    facts.steal_seconds = around.steal_seconds;
    facts.preemptions = around.preemptions;
}

bool run_passes(const LatencyPlan &plan, std::vector<Job> &jobs, CoreWatch &core,
                command::StatusLine &progress)
{
    std::mt19937_64 random(1);
    for (unsigned pass = 0; pass < plan.passes; ++pass) {
        std::shuffle(jobs.begin(), jobs.end(), random);
        size_t done = 0;
        for (const Job &job : jobs) {
            if (command_was_interrupted())
                return false;
            progress.show(fmt::format("pass {} of {}: {} of {} sizes", pass + 1, plan.passes,
                                      ++done, jobs.size()));
            core.watch(kWatchSeconds);
            measure_point(plan, job.places, random(), *job.point);
        }
    }
    return true;
}
} // namespace

LatencyPlan plan_latency(const std::vector<Cache> &caches, std::optional<uint64_t> available,
                         uint64_t largest)
{
    uint64_t most = caches.empty() ? kWithoutCaches : 8 * caches.back().bytes;
    most = std::min(most, kMostBytes);
    if (available)
        most = std::min(most, *available / 4);
    if (largest)
        most = std::min(most, largest);
    LatencyPlan plan;
    const uint64_t fine = caches.empty() ? most : 2 * caches.back().bytes;
    for (uint64_t bytes = kLeastBytes; bytes <= most; bytes *= 2) {
        plan.sizes.push_back(bytes);
        if (const uint64_t between = bytes / 2 * 3; bytes < fine && between <= most)
            plan.sizes.push_back(between);
    }
    for (const Cache &cache : caches)
        if (const uint64_t bytes = size_for(caches, cache); bytes <= most)
            plan.sizes.push_back(bytes);
    std::sort(plan.sizes.begin(), plan.sizes.end());
    plan.sizes.erase(std::unique(plan.sizes.begin(), plan.sizes.end()), plan.sizes.end());
    for (uint64_t pages = kLeastPages; pages <= kMostPages && pages * page_bytes() <= most;
         pages *= 2)
        plan.pages.push_back(pages);
    return plan;
}

LatencyRun run_latency(const LatencyPlan &plan, unsigned cpu, command::StatusLine &progress)
{
    if (plan.sizes.empty())
        throw CannotMeasure(fmt::format("there is less memory available than {} (free some)",
                                        command::short_size(4 * kLeastBytes)));
    LatencyRun run;
    run.page_bytes = page_bytes();
    progress.show("filling the memory");
    const Instant begin = now();
    const auto most = size_t(plan.sizes.back());
    // A page's place is moved on by lines within the page, so this is the whole extent.
    const Region small(most, Pages::small);
    const std::unique_ptr<Region> huge = huge_region(most, run);
    run.small = series_of(plan.sizes, Pages::small, kLineBytes);
    std::vector<Job> jobs;
    add_jobs(run.small, small, jobs);
    if (huge) {
        run.huge = series_of(plan.sizes, Pages::huge, kLineBytes);
        add_jobs(run.huge, *huge, jobs);
    }
    std::vector<uint64_t> lines;
    for (const uint64_t pages : plan.pages)
        lines.push_back(pages * kLineBytes);
    run.by_page = series_of(lines, Pages::small, page_bytes());
    add_jobs(run.by_page, small, jobs);
    CoreWatch core(cpu);
    run.was_interrupted = !run_passes(plan, jobs, core, progress);
    const Instant end = now();
    note_core(core.take(), run.facts);
    run.facts.seconds = end.seconds - begin.seconds;
    run.facts.hz = (end.ticks - begin.ticks) / run.facts.seconds;
    return run;
}
} // namespace calibrate
