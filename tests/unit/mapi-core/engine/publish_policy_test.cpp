// SPDX-License-Identifier: MIT
// When a copied result is published again.
#include "engine/node/publish_policy.hpp"

#include <thread>

#include "support/catch.hpp"

using mapi::engine::PublishPolicy;

TEST_CASE("a small result is published after each burst that had packets for it, and no other",
          "[mapi-core][engine]")
{
    PublishPolicy policy;
    CHECK_FALSE(policy.is_due(0));
    CHECK(policy.is_due(10));
    CHECK_FALSE(policy.is_due(10));
    CHECK(policy.is_due(11));
}

TEST_CASE("a change without packets is published, too", "[mapi-core][engine]")
{
    PublishPolicy policy;
    CHECK(policy.is_due(10));
    policy.note_change();
    CHECK(policy.is_due(10));
    CHECK_FALSE(policy.is_due(10));
}

TEST_CASE("a large result is left to its readers for a while", "[mapi-core][engine]")
{
    PublishPolicy policy;
    policy.set_words(size_t(1) << 32);
    CHECK(policy.is_due(10));
    CHECK_FALSE(policy.is_due(11));
    policy.note_change();
    CHECK_FALSE(policy.is_due(11));
}

TEST_CASE("a result is published again after that while", "[mapi-core][engine]")
{
    PublishPolicy policy;
    policy.set_words(1000);
    CHECK(policy.is_due(10));
    std::this_thread::sleep_for(1000 * PublishPolicy::kRestPerWord);
    CHECK(policy.is_due(11));
}
