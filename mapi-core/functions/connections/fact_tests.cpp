// SPDX-License-Identifier: MIT
#include "functions/connections/fact_tests.hpp"

#include <charconv>

#include "functions/connections/tls_state.hpp"

namespace mapi::connections
{
namespace
{
struct Name {
    std::string_view text;
    uint32_t fact;
};
constexpr std::array kVersions = {Name{"sslv2", tls::kSsl2}, Name{"sslv3", tls::kSsl3},
                                  Name{"tls1.0", tls::kTls10}, Name{"tls1.1", tls::kTls11},
                                  Name{"tls1.2", tls::kTls12}};
constexpr std::array kStates = {
    Name{"client_hello", tls::kClientHello}, Name{"server_hello", tls::kServerHello},
    Name{"client_keyx", tls::kClientKey}, Name{"server_keyx", tls::kServerKey},
    Name{"unknown", tls::kUnknown}};

template <size_t count>
TlsTest read_tls_test(const Word &list, const std::array<Name, count> &names)
{
    TlsTest test;
    for (const Word &part : split(list, ",")) {
        const bool is_negated = part.text.starts_with('!');
        const Word word = trimmed({part.text.substr(is_negated), part.offset + size_t(is_negated)});
        uint32_t fact = 0;
        std::string known;
        for (const Name &name : names) {
            fact |= name.text == word.text ? name.fact : 0;
            known += (known.empty() ? "" : ", ") + std::string(name.text);
        }
        if (fact == 0)
            throw TextError(word.offset, word.quoted() + " is none of " + known);
        test.set |= fact;
        test.negated |= is_negated ? fact : 0;
    }
    return test;
}

template <class Value> struct Choice {
    std::string_view text;
    Value value;
};

template <class Value, size_t count>
Value choose(const Word &word, const std::array<Choice<Value>, count> &choices)
{
    std::string known;
    for (const Choice<Value> &choice : choices) {
        if (choice.text == word.text)
            return choice.value;
        known += (known.empty() ? "" : ", ") + std::string(choice.text);
    }
    throw TextError(word.offset, word.quoted() + " is none of " + known);
}

SizeTest read_size_test(const Word &list)
{
    using enum SizeTest::Side;
    using enum SizeTest::Comparison;
    static constexpr std::array<Choice<SizeTest::Side>, 4> kSides = {
        {{"client", kClient}, {"server", kServer}, {"both", kBoth}, {"either", kEither}}};
    static constexpr std::array<Choice<SizeTest::Comparison>, 6> kComparisons = {
        {{"<", kLess},
         {"<=", kLessEqual},
         {"=", kEqual},
         {"!=", kNotEqual},
         {">=", kGreaterEqual},
         {">", kGreater}}};
    const std::vector<Word> parts = split(list, ",");
    if (parts.size() != 3)
        throw TextError(list.offset, "a side, an operator and a number of bytes are expected");
    SizeTest test{choose(parts[0], kSides), choose(parts[1], kComparisons), 0};
    const std::string_view digits = parts[2].text;
    const char *const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, test.bytes);
    if (error != std::errc() || stop != end)
        throw TextError(parts[2].offset, parts[2].quoted() + " is not a number of bytes");
    return test;
}
} // namespace

bool TlsTest::accepts(const Facts &facts) const
{
    return (facts.tls & tls::kRead) && (facts.tls & set) != negated;
}

bool SizeTest::accepts(const Facts &facts) const
{
    const auto is_so = [&](uint32_t sent) {
        switch (comparison) {
        case Comparison::kLess: return sent < bytes;
        case Comparison::kLessEqual: return sent <= bytes;
        case Comparison::kEqual: return sent == bytes;
        case Comparison::kNotEqual: return sent != bytes;
        case Comparison::kGreaterEqual: return sent >= bytes;
        case Comparison::kGreater: return sent > bytes;
        }
        return false;
    };
    const auto &[client, server] = facts.bytes;
    if (!facts.has_bytes)
        return false;
    switch (side) {
    case Side::kClient: return is_so(client);
    case Side::kServer: return is_so(server);
    case Side::kBoth: return is_so(client) && is_so(server);
    case Side::kEither: return is_so(client) || is_so(server);
    }
    return false;
}

std::optional<FactTest> read_fact_test(const Word &text)
{
    const size_t colon = text.text.find(':');
    if (colon == text.text.npos)
        return std::nullopt;
    const std::string_view name = trimmed({text.text.substr(0, colon), 0}).text;
    const Word value = trimmed({text.text.substr(colon + 1), text.offset + colon + 1});
    if (name == "ssl_version")
        return read_tls_test(value, kVersions);
    if (name == "ssl_state")
        return read_tls_test(value, kStates);
    if (name == "stream_size")
        return read_size_test(value);
    return std::nullopt;
}
} // namespace mapi::connections
