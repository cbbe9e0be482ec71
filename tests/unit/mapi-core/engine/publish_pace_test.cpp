// SPDX-License-Identifier: MIT
// When a copied result is published again.
#include "engine/packet_path/publish_pace.hpp"

#include <thread>

#include "support/catch.hpp"

using mapi::engine::PublishPace;

TEST_CASE("a small result is published after each burst that had packets for it, and no other",
          "[mapi-core][engine]")
{
    PublishPace pace;
    CHECK_FALSE(pace.is_due(0));
    CHECK(pace.is_due(10));
    CHECK_FALSE(pace.is_due(10));
    CHECK(pace.is_due(11));
}

TEST_CASE("a change without packets is published, too", "[mapi-core][engine]")
{
    PublishPace pace;
    CHECK(pace.is_due(10));
    pace.note_change();
    CHECK(pace.is_due(10));
    CHECK_FALSE(pace.is_due(10));
}

TEST_CASE("a large result is left to its readers for a while", "[mapi-core][engine]")
{
    PublishPace pace;
    pace.set_words(size_t(1) << 32);
    CHECK(pace.is_due(10));
    CHECK_FALSE(pace.is_due(11));
    pace.note_change();
    CHECK_FALSE(pace.is_due(11));
}

TEST_CASE("a result is published again after that while", "[mapi-core][engine]")
{
    PublishPace pace;
    pace.set_words(1000);
    CHECK(pace.is_due(10));
    std::this_thread::sleep_for(1000 * PublishPace::kRestPerWord);
    CHECK(pace.is_due(11));
}
