// SPDX-License-Identifier: MIT
#include "qos/store/sqlite_store.hpp"

#include <sqlite3.h>

#include <fstream>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace
{
using namespace qos;

constexpr int64_t kAll = int64_t(1) << 32;

Run run_of(const std::string &point)
{
    Run run;
    run.id = 7;
    run.point = point;
    run.source = "eth0";
    run.below = kAll;
    run.is_complete = true;
    return run;
}

Batch batch_of(int64_t first_number, int count)
{
    Batch batch;
    FlowKey key;
    key.version = 6;
    key.source[15] = 1;
    key.destination[0] = 0x20;
    key.protocol = 6;
    key.source_port = 65535;
    batch.flows.push_back({3, key});
    batch.first_number = first_number;
    for (int i = 0; i < count; ++i)
        batch.packets.push_back(
            {{1000 + first_number + i, UINT64_MAX, UINT32_MAX, 60, 255, key}, 3});
    return batch;
}

std::vector<SelectedPacket> read_all(Store &store, uint64_t *malformed = nullptr,
                                     int64_t from_ns = INT64_MIN)
{
    std::vector<SelectedPacket> packets;
    for (const Run &run : store.runs()) {
        const uint64_t count = store.read(
            run, from_ns, kAll, [&](const SelectedPacket &packet) { packets.push_back(packet); });
        if (malformed)
            *malformed = count;
    }
    return packets;
}

void execute(const std::string &path, const char *sql)
{
    sqlite3 *database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    REQUIRE(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
}
} // namespace

TEST_CASE("a store returns what was written, with the largest values", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const auto store = open_sqlite(dir.path() / "qos.db", Access::kWrite);
    const Batch batch = batch_of(0, 2);
    store->write(run_of("a"), batch);
    const auto packets = read_all(*store);
    REQUIRE(packets.size() == 2);
    CHECK(packets[0].digest == UINT64_MAX);
    CHECK(packets[0].hash == UINT32_MAX);
    CHECK(packets[0].hop_limit == 255);
    CHECK(packets[0].flow == batch.flows[0].key);
    CHECK(store->runs()[0].point == "a");
    CHECK(store->runs()[0].is_complete);
}

TEST_CASE("a batch that is written again is stored once", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const auto store = open_sqlite(dir.path() / "qos.db", Access::kWrite);
    store->write(run_of("a"), batch_of(0, 10));
    store->write(run_of("a"), batch_of(0, 10));
    store->write(run_of("a"), batch_of(10, 5));
    CHECK(read_all(*store).size() == 15);
    CHECK(read_all(*store, nullptr, 1010).size() == 5);
    CHECK(store->runs().size() == 1);
}

TEST_CASE("a malformed row is left out, not the whole store", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const std::string path = dir.path() / "qos.db";
    open_sqlite(path, Access::kWrite)->write(run_of("a"), batch_of(0, 10));
    execute(path, "UPDATE qos_packets SET hash = 'x' WHERE number = 1;"
                  "UPDATE qos_packets SET time_ns = -5 WHERE number = 2;"
                  "UPDATE qos_packets SET flow = 99 WHERE number = 3;"
                  "UPDATE qos_packets SET bytes = 99999999999 WHERE number = 4;"
                  "INSERT INTO qos_flows VALUES (7, 4, 4, 17, 'nowhere', 1, '10.0.0.1', 1);"
                  "UPDATE qos_packets SET flow = 4 WHERE number = 5;"
                  "UPDATE qos_packets SET time_ns = 9000000000000000000 WHERE number = 6;");
    const auto store = open_sqlite(path, Access::kRead);
    uint64_t malformed = 0;
    CHECK(read_all(*store, &malformed).size() == 4);
    CHECK(malformed == 6);
}

TEST_CASE("other files and versions are refused", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const std::string path = dir.path() / "other";
    CHECK_THROWS_AS(open_sqlite(path, Access::kRead), StoreAway); // it does not exist
    std::ofstream(path) << "this is a text, and longer than the header of a database has to be, "
                           "which is one hundred bytes of several fields";
    CHECK_THROWS_AS(open_sqlite(path, Access::kWrite), StoreError);
    const std::string empty = dir.path() / "empty.db";
    execute(empty, "CREATE TABLE t (x)");
    CHECK_THROWS_AS(open_sqlite(empty, Access::kRead), StoreError);
    const std::string newer = dir.path() / "newer.db";
    open_sqlite(newer, Access::kWrite);
    execute(newer, "INSERT INTO qos_schema VALUES (99)");
    CHECK_THROWS_AS(open_sqlite(newer, Access::kWrite), StoreError);
}

TEST_CASE("another program's transaction makes the store away, not wrong", "[mapi-core][qos]")
{
    const test_support::TempDir dir;
    const std::string path = dir.path() / "qos.db";
    const auto store = open_sqlite(path, Access::kWrite);
    sqlite3 *other = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) == SQLITE_OK);
    CHECK_THROWS_AS(store->write(run_of("a"), batch_of(0, 1)), StoreAway);
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
    sqlite3_close(other);
    store->write(run_of("a"), batch_of(0, 1));
    CHECK(read_all(*store).size() == 1);
}
