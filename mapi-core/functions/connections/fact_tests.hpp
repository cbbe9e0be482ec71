// SPDX-License-Identifier: MIT
// Fact tests: "ssl_state:client_hello", "stream_size:client,>,100" -> whether a packet passes by
// what its connection has had so far.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "functions/connections/words.hpp"

namespace mapi::connections
{
// With the packet itself.
struct Facts {
    uint32_t tls = 0; // a set of tls::Fact
    bool has_bytes = false;
    std::array<uint32_t, 2> bytes = {}; // sent by the client, by the server; a SYN and a FIN count
};

// As in Snort: not all of `set` are as the negated ones of it say.
struct TlsTest {
    uint32_t set = 0, negated = 0;

    bool accepts(const Facts &facts) const;
};

struct SizeTest {
    enum class Side : uint8_t { kClient, kServer, kBoth, kEither };
    enum class Comparison : uint8_t {
        kLess,
        kLessEqual,
        kEqual,
        kNotEqual,
        kGreaterEqual,
        kGreater
    };

    Side side = Side::kEither;
    Comparison comparison = Comparison::kEqual;
    uint32_t bytes = 0;

    bool accepts(const Facts &facts) const;
};

using FactTest = std::variant<TlsTest, SizeTest>;

// Nullopt: it is another test.  Throws TextError.
std::optional<FactTest> read_fact_test(const Word &text);
} // namespace mapi::connections
