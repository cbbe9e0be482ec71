// SPDX-License-Identifier: MIT
// Which names lie inside which, from the records of short windows.
#include "support/catch.hpp"

#include <memory>

#include <nslice/record.h>

#include "common/thin/nesting.h"

namespace
{
constexpr uint8_t kOuter = 7, kInner = 3, kMark = 200, kOther = 9;

struct Nesting {
    std::unique_ptr<nsp_nesting> all = std::make_unique<nsp_nesting>();
    nsp_window window = {};

    void start(uint8_t name, uint32_t thread = 1) { take(NSLICE_KIND_START, name, thread); }
    void stop(uint8_t name, uint32_t thread = 1) { take(NSLICE_KIND_STOP, name, thread); }
    void mark(uint8_t name, uint32_t thread = 1) { take(NSLICE_KIND_MARK, name, thread); }
    void settle()
    {
        nsp_nesting_settle(all.get());
        window = {};
    }
    int level(uint8_t name) const { return all->level[name]; }

private:
    void take(uint32_t kind, uint8_t name, uint32_t thread)
    {
        nsp_nesting_take(all.get(), &window, kind, name, thread);
    }
};
} // namespace

TEST_CASE("Names inside a whole slice have a higher level than it", "[thin]")
{
    Nesting nesting;
    nesting.start(kOuter);
    nesting.start(kInner);
    nesting.mark(kMark);
    nesting.stop(kInner);
    nesting.stop(kOuter);
    nesting.settle();
    CHECK(nesting.level(kOuter) == 0);
    CHECK(nesting.level(kInner) == 1);
    CHECK(nesting.level(kMark) == 2);
    CHECK(nesting.all->inner_count == 2);
    CHECK(nesting.all->levels == 2);
}

TEST_CASE("A slice that a window cuts has nothing inside", "[thin]")
{
    Nesting nesting;
    nesting.start(kOuter);
    nesting.start(kInner);
    nesting.settle(); // the window ends here
    nesting.stop(kInner);
    nesting.stop(kOuter);
    nesting.settle();
    CHECK(nesting.all->inner_count == 0);
}

TEST_CASE("Slices of another thread on the same CPU do not nest", "[thin]")
{
    Nesting nesting;
    nesting.start(kOuter, 1);
    nesting.start(kInner, 2);
    nesting.stop(kInner, 2);
    nesting.stop(kOuter, 1);
    nesting.settle();
    CHECK(nesting.all->inner_count == 0);
}

TEST_CASE("A name that is inside another by mistake is forgotten", "[thin]")
{
    Nesting nesting;
    nesting.start(kOuter);
    nesting.start(kOther);
    nesting.stop(kOther);
    nesting.stop(kOuter);
    nesting.settle();
    REQUIRE(nesting.level(kOther) == 1);
    for (int i = 0; i < 1001; ++i) {
        nesting.start(kOther);
        nesting.stop(kOther);
    }
    nesting.settle();
    CHECK(nesting.level(kOther) == 0);
}
