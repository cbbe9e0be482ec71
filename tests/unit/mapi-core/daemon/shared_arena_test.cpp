// SPDX-License-Identifier: MIT
#include "daemon/shared_arena.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/catch.hpp"

using namespace mapi;
using daemon::SharedArena;
using daemon::SharedPiece;
using Side = engine::Arena::Side;

namespace
{
constexpr size_t kBytes = 65536;

bool can_map_to_write(int descriptor)
{
    void *at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED)
        return false;
    munmap(at, kBytes);
    return true;
}

bool can_write(int descriptor)
{
    return pwrite(descriptor, "x", 1, 0) == 1 || can_map_to_write(descriptor) ||
           fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0;
}
} // namespace

TEST_CASE("memory of a piece is aligned, zeroed, and never handed out twice",
          "[mapi-core][daemon][shared_arena]")
{
    SharedPiece piece("test", kBytes, false);
    auto *first = static_cast<uint8_t *>(piece.allocate(100));
    auto *second = static_cast<uint8_t *>(piece.allocate(1));

    REQUIRE(first);
    REQUIRE(second);
    CHECK(piece.offset_of(first) % 64 == 0);
    CHECK(piece.offset_of(second) % 64 == 0);
    CHECK(second >= first + 100);
    CHECK(std::all_of(first, first + 100, [](uint8_t byte) { return byte == 0; }));
}

TEST_CASE("memory of a piece is charged to its user as far as it was ever used",
          "[mapi-core][daemon][shared_arena]")
{
    const auto user = std::make_shared<engine::Quota>(1000, "--limit", "user 1");
    {
        SharedPiece piece("test", kBytes, false, user);
        void *const first = piece.allocate(640);
        REQUIRE(first);
        CHECK(user->used() == 640);
        piece.release(first, 640);
        REQUIRE(piece.allocate(640));
        CHECK(user->used() == 640);
        CHECK(piece.allocate(640) == nullptr);
        CHECK(piece.is_user_short());
        CHECK(piece.allocate(kBytes) == nullptr);
        CHECK_FALSE(piece.is_user_short());
        CHECK(piece.allocate(320));
    }
    CHECK(user->used() == 0);
}

TEST_CASE("memory that was freed is handed out again, zeroed", "[mapi-core][daemon][shared_arena]")
{
    SharedPiece piece("test", kBytes, false);
    auto *whole = static_cast<uint8_t *>(piece.allocate(kBytes));
    REQUIRE(whole);
    memset(whole, 0xff, kBytes);
    CHECK(piece.allocate(1) == nullptr);
    piece.release(whole, kBytes);

    auto *again = static_cast<uint8_t *>(piece.allocate(kBytes));

    REQUIRE(again == whole);
    CHECK(std::all_of(again, again + kBytes, [](uint8_t byte) { return byte == 0; }));
}

TEST_CASE("adjacent free blocks are merged, whatever the order in which they are freed",
          "[mapi-core][daemon][shared_arena]")
{
    std::array<int, 4> order = {0, 1, 2, 3};
    do {
        SharedPiece piece("test", kBytes, false);
        std::array<void *, 4> quarters = {};
        for (void *&quarter : quarters)
            quarter = piece.allocate(kBytes / 4);
        for (const int i : order)
            piece.release(quarters.at(size_t(i)), kBytes / 4);
        CHECK(piece.allocate(kBytes) != nullptr);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a size larger than the piece, or one that overflows, is refused",
          "[mapi-core][daemon][shared_arena]")
{
    SharedPiece piece("test", kBytes, false);

    CHECK(piece.allocate(kBytes + 1) == nullptr);
    CHECK(piece.allocate(SIZE_MAX - 5) == nullptr);
    CHECK(piece.allocate(0) != nullptr);
}

TEST_CASE("an arena reports once that it was full", "[mapi-core][daemon][shared_arena]")
{
    SharedArena arena(kBytes, kBytes);

    CHECK_FALSE(arena.take_refusal());
    CHECK(arena.allocate(Side::kEngine, kBytes + 1) == nullptr);
    CHECK(arena.take_refusal());
    CHECK_FALSE(arena.take_refusal());
}

TEST_CASE("the engine's memory is readable by a client and writable by none, however it is opened",
          "[mapi-core][daemon][shared_arena]")
{
    SharedPiece piece("test", kBytes, false);
    auto *word = static_cast<uint8_t *>(piece.allocate(8));
    *word = 42;
    const ipc::Descriptor again(
        open(("/proc/self/fd/" + std::to_string(piece.descriptor())).c_str(), O_RDWR | O_CLOEXEC));
    const ipc::Mapping seen(piece.descriptor(), kBytes, false);

    REQUIRE(seen.data());
    CHECK(*seen.at(piece.offset_of(word), 8) == 42);
    CHECK_FALSE(can_write(piece.descriptor()));
    CHECK_FALSE((again.is_open() && can_write(again.number())));
    CHECK(mprotect(seen.data(), kBytes, PROT_READ | PROT_WRITE) != 0);
}

TEST_CASE("neither the size of a piece nor its seals can be changed",
          "[mapi-core][daemon][shared_arena]")
{
    for (const bool clients_may_write : {false, true}) {
        SharedPiece piece("test", kBytes, clients_may_write);

        CHECK(ftruncate(piece.descriptor(), 0) != 0);
        CHECK(ftruncate(piece.descriptor(), 2 * kBytes) != 0);
        CHECK(fcntl(piece.descriptor(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
        CHECK(can_map_to_write(piece.descriptor()) == clients_may_write);
    }
}
