// SPDX-License-Identifier: MIT
#include "qos/collect/storing.hpp"

#include <thread>

#include "support/catch.hpp"

namespace
{
using namespace qos;

// What the stores of a test have in common: a database that may be away.
struct Database {
    bool is_away = false;
    bool fails_after_commit = false; // once: the answer is lost
    int opened = 0;
    std::vector<SelectedPacket> packets;
    std::vector<int64_t> numbers, flows;
};

class FakeStore : public Store
{
public:
    explicit FakeStore(Database &database) : database_(database)
    {
        if (database.is_away)
            throw StoreAway("no connection");
        ++database.opened;
    }
    void write(const Run &, const Batch &batch) override
    {
        if (database_.is_away)
            throw StoreAway("connection lost");
        for (size_t i = 0; i < batch.packets.size(); ++i) {
            database_.packets.push_back(batch.packets[i].packet);
            database_.numbers.push_back(batch.first_number + int64_t(i));
        }
        for (const auto &flow : batch.flows)
            database_.flows.push_back(flow.number);
        if (std::exchange(database_.fails_after_commit, false))
            throw StoreAway("connection lost");
    }
    std::vector<Run> runs() override { return {}; }
    uint64_t read(const Run &, int64_t, int64_t,
                  const std::function<void(const SelectedPacket &)> &) override
    {
        return 0;
    }

private:
    Database &database_;
};

struct Case {
    Database database;
    std::vector<std::string> notes;
    Storing storing{[this] { return std::make_unique<FakeStore>(database); }, Run{},
                    [this](const std::string &text) { notes.push_back(text); }};

    // Attempts pause; the limit is far beyond the pauses.
    bool write_soon()
    {
        const auto end = Storing::Clock::now() + std::chrono::seconds(60);
        while (!storing.write())
            if (Storing::Clock::now() > end)
                return false;
            else
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return true;
    }
};
} // namespace

TEST_CASE("packets wait while the store is away, and are stored when it is back",
          "[mapi-core][qos]")
{
    Case test;
    test.database.is_away = true;
    test.storing.add(std::vector<SelectedPacket>(3));
    CHECK_FALSE(test.storing.write());
    CHECK(test.storing.why_away() == "connection lost");
    CHECK_FALSE(test.storing.write()); // without an attempt, unless the pause is over already
    CHECK(test.storing.is_away());
    CHECK(test.storing.waiting_packets() == 3);
    CHECK(test.notes.size() == 1);

    test.database.is_away = false;
    REQUIRE(test.write_soon());
    CHECK_FALSE(test.storing.is_away());
    CHECK(test.database.packets.size() == 3);
    CHECK(test.database.opened == 2); // a new connection
    CHECK(test.notes.size() == 2);
}

TEST_CASE("a batch whose fate is unknown is written again with the same numbers",
          "[mapi-core][qos]")
{
    Case test;
    test.database.fails_after_commit = true;
    test.storing.add(std::vector<SelectedPacket>(2));
    CHECK_FALSE(test.storing.write());
    REQUIRE(test.write_soon());
    CHECK(test.database.numbers == std::vector<int64_t>{0, 1, 0, 1});
    test.storing.add(std::vector<SelectedPacket>(1));
    REQUIRE(test.write_soon());
    CHECK(test.database.numbers.back() == 2);
}

TEST_CASE("a flow is stored once for a run", "[mapi-core][qos]")
{
    Case test;
    for (const uint16_t port : {1, 2, 1, 2, 3}) {
        SelectedPacket packet;
        packet.flow.source_port = port;
        test.storing.add({packet});
        REQUIRE(test.write_soon());
    }
    CHECK(test.database.flows == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE("a store that is away at the start is an error", "[mapi-core][qos]")
{
    Database database;
    database.is_away = true;
    CHECK_THROWS_AS(
        Storing([&] { return std::make_unique<FakeStore>(database); }, Run{}, [](const auto &) {}),
        StoreAway);
}
