// SPDX-License-Identifier: MIT
// Read-ahead policy: which way of reading it chooses, and the cost of choosing.
#include "support/catch.hpp"

#include <cstdint>
#include <utility>

#include "drivers/bytes/read_ahead_policy.hpp"

using mapi::drivers::ReadAheadPolicy;

namespace
{
// The cost of pieces read without and with help.
class Reader
{
public:
    void read(uint32_t pieces, uint64_t alone_ns, uint64_t helped_ns)
    {
        for (uint32_t i = 0; i < pieces; ++i) {
            helped_ += policy_.is_helped();
            spent_ns_ += policy_.is_helped() ? helped_ns : alone_ns;
            if (policy_.is_turn())
                policy_.turn(spent_ns_);
        }
    }
    // Since the last call.
    uint32_t take_helped() { return std::exchange(helped_, 0); }

private:
    ReadAheadPolicy policy_;
    uint64_t spent_ns_ = 0;
    uint32_t helped_ = 0;
};

constexpr uint32_t kGibibyte = 8192; // pieces
} // namespace

TEST_CASE("help that saves time is used for nearly all of a large capture", "[mapi-core][drivers]")
{
    Reader reader;
    reader.read(kGibibyte, 6000, 4500);
    CHECK(reader.take_helped() > kGibibyte * 95 / 100);
}

TEST_CASE("help that costs time is tried for under a fiftieth of a capture, less and less often",
          "[mapi-core][drivers]")
{
    Reader reader;
    reader.read(kGibibyte, 6000, 14000);
    const uint32_t first = reader.take_helped();
    CHECK(first > 0);
    CHECK(first < kGibibyte / 50);
    reader.read(kGibibyte, 6000, 14000);
    CHECK(reader.take_helped() < first);
}

TEST_CASE("the decision follows a change in what is faster", "[mapi-core][drivers]")
{
    Reader reader;
    reader.read(kGibibyte, 6000, 14000);
    reader.take_helped();
    reader.read(2 * kGibibyte, 6000, 4000);
    CHECK(reader.take_helped() > kGibibyte / 2);
    reader.read(kGibibyte, 6000, 14000);
    CHECK(reader.take_helped() < kGibibyte / 2);
}

TEST_CASE("packets that take most of the time are read with help", "[mapi-core][drivers]")
{
    Reader reader;
    reader.read(kGibibyte, 100000, 96000);
    CHECK(reader.take_helped() > kGibibyte * 95 / 100);
}
