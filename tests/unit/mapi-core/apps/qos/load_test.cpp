// SPDX-License-Identifier: MIT
#include "qos/analyse/load.hpp"

#include "qos/store/sqlite_store.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace
{
using namespace qos;

struct Seen {
    uint64_t digest;
    int64_t time_ns;
    uint32_t run;
};

// The digests that stay, in order.
std::vector<uint64_t> merged(const std::vector<Seen> &list)
{
    std::vector<Sighting> sightings;
    std::vector<uint32_t> runs;
    for (const Seen &seen : list) {
        sightings.push_back({seen.time_ns, seen.digest, 0, 64});
        runs.push_back(seen.run);
    }
    const uint64_t removed = merge_runs(sightings, runs);
    CHECK(removed + sightings.size() == list.size());
    std::vector<uint64_t> digests;
    for (const Sighting &sighting : sightings)
        digests.push_back(sighting.digest);
    return digests;
}

Run run_of(int64_t id, const std::string &point)
{
    Run run;
    run.id = id;
    run.point = point;
    run.below = int64_t(1) << 32;
    run.payload_bytes = 64;
    run.first_ns = 1;
    run.last_ns = 2;
    run.started_ns = id;
    return run;
}

std::string why_not(Store &store, const std::string &from, const std::string &to, int64_t below = 0)
{
    try {
        load(store, from, to, {below, 0});
    } catch (const StoreError &error) {
        return error.what();
    }
    return "";
}
} // namespace

TEST_CASE("a packet that two runs have seen counts once", "[mapi-core][qos]")
{
    CHECK(merged({{5, 100, 0}, {5, 100, 1}, {6, 200, 1}}) == std::vector<uint64_t>{5, 6});
}

TEST_CASE("copies that one run has seen stay", "[mapi-core][qos]")
{
    CHECK(merged({{5, 100, 0}, {5, 300, 0}}).size() == 2);
    CHECK(merged({{5, 100, 0}, {5, 300, 0}, {5, 101, 1}, {5, 301, 1}}).size() == 2);
    CHECK(merged({{5, 100, 0}, {5, 100, 1}, {5, 300, 1}}).size() == 2); // run 0 missed one
}

TEST_CASE("the same digest much later is another packet", "[mapi-core][qos]")
{
    CHECK(merged({{5, 100, 0}, {5, 5000000000, 1}}).size() == 2);
}

TEST_CASE("points that do not fit together are refused with what is different", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const auto store = open_sqlite(dir.path() / "qos.db", Access::kWrite);
    CHECK(why_not(*store, "a", "b").find("no points") != std::string::npos);
    Run other_key = run_of(3, "c"), half = run_of(4, "d");
    other_key.key = 1;
    half.below = int64_t(1) << 31;
    for (const Run &run : {run_of(1, "a"), run_of(2, "b"), other_key, half})
        store->write(run, {});
    CHECK(why_not(*store, "a", "b").empty());
    CHECK(why_not(*store, "a", "x").find("available: a, b, c, d") != std::string::npos);
    CHECK(why_not(*store, "a", "c").find("--key 0 and 1") != std::string::npos);
    CHECK(load(*store, "a", "d", {}).rate() == 0.5);
    CHECK(load(*store, "a", "b", {half.below / 2, 0}).rate() == 0.25);
    CHECK(why_not(*store, "a", "d", int64_t(1) << 32).find("only 50 %") != std::string::npos);
}

TEST_CASE("only the last part of a point is read, and covered", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const auto store = open_sqlite(dir.path() / "qos.db", Access::kWrite);
    for (const auto &[id, name] : {std::pair(1, "a"), std::pair(2, "b")}) {
        Run run = run_of(id, name);
        run.first_ns = 100;
        run.last_ns = 200;
        Batch batch;
        batch.flows.push_back({0, {}});
        for (int64_t time_ns = 100; time_ns <= 200; ++time_ns)
            batch.packets.push_back({{time_ns, uint64_t(time_ns), 0, 60, 64, {}}, 0});
        store->write(run, batch);
    }
    const auto found = load(*store, "a", "b", {0, 30});
    CHECK(found.from.sightings.size() == 31);
    REQUIRE(found.to.covered.size() == 1);
    CHECK(found.to.covered[0].first_ns == 170);
    CHECK(found.from.is_cut);
    CHECK_FALSE(load(*store, "a", "b", {0, 100}).from.is_cut);
    CHECK_FALSE(load(*store, "a", "b", {}).from.is_cut);
}

TEST_CASE("older runs with another key or rate do not matter to the last part", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const auto store = open_sqlite(dir.path() / "qos.db", Access::kWrite);
    Run old = run_of(1, "a");
    old.key = 7;
    old.below = int64_t(1) << 31;
    Run recent = run_of(2, "a"), other = run_of(3, "b");
    recent.first_ns = other.first_ns = 100;
    recent.last_ns = other.last_ns = 200;
    for (const Run &run : {old, recent, other})
        store->write(run, {});
    CHECK(why_not(*store, "a", "b").find("--key 7 and 0") != std::string::npos);
    const auto found = load(*store, "a", "b", {0, 150});
    CHECK(found.from.runs == 1);
    CHECK(found.rate() == 1);
}
