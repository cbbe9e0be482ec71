// SPDX-License-Identifier: MIT
// Evaluation: option after option; if one fails, the last content or expression before it that the
// failure may depend on is tried at its next occurrence.
#include "match/rule/evaluation.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "match/rule/regular_expression.hpp"
#include "match/rule/state.hpp"

namespace mapi::match::rule
{
namespace
{
using Bytes = std::span<const uint8_t>;

// Of one rule and packet.  An option that is tried is a step, and so is each block of bytes that is
// searched or decoded.  A million steps of PCRE2 take some tens of milliseconds.
constexpr uint32_t kMostSteps = 20000;
constexpr size_t kBytesOfStep = 256;
constexpr uint32_t kExpressionStepsOfStep = 50;

// Where a content must lie.
struct Window {
    enum class Kind : uint8_t {
        kSearch,
        kNothing, // the content is not there
        kOutside, // there is nothing to search: no match, not even if the content is negated
    };

    Kind kind = Kind::kOutside;
    size_t begin = 0, bytes = 0;
};

struct Limits {
    int64_t from = 0;
    std::optional<int64_t> bytes = {};
};

// `cursor`: where the limits count from.  As Snort 2.9 does it, also beyond the buffer's ends.
Window window_of(size_t content_bytes, bool is_negated, size_t buffer_bytes,
                 std::optional<size_t> cursor, const Limits &limits)
{
    const auto all = int64_t(buffer_bytes);
    int64_t begin = int64_t(cursor.value_or(0)), left = all - begin;
    if (limits.from > left) {
        left = 0;
    } else {
        begin += limits.from;
        left -= limits.from;
    }
    if (begin < 0) {
        const int64_t end = begin + limits.bytes.value_or(0);
        if (end < 0)
            return {};
        left = limits.bytes ? std::min(end, all) : all;
        begin = 0;
    } else if (limits.bytes) {
        left = std::min(left, *limits.bytes);
    }
    if (int64_t(content_bytes) > left) {
        const bool is_at_end = cursor && *cursor == buffer_bytes;
        return {is_negated && (is_at_end || left > 0) ? Window::Kind::kNothing
                                                      : Window::Kind::kOutside};
    }
    return {Window::Kind::kSearch, size_t(begin), size_t(left)};
}

bool is_relative(const PayloadOption &option)
{
    return std::visit(
        [](const auto &one) {
            using Option = std::decay_t<decltype(one)>;
            if constexpr (requires { one.is_relative; })
                return one.is_relative;
            else if constexpr (requires { one.extraction; })
                return one.extraction.is_relative;
            else
                return std::is_same_v<Option, FtpBounce>;
        },
        option);
}

// Whether the option moves the cursor without regard to where it was.
bool moves_cursor(const PayloadOption &option)
{
    return std::holds_alternative<Content>(option) || std::holds_alternative<ByteJump>(option) ||
           std::holds_alternative<ByteExtract>(option) ||
           std::holds_alternative<ChooseBuffer>(option);
}

// A content after the cursor without a limit: if it fails here, it fails everywhere further on.
bool is_anywhere_after(const PayloadOption &option)
{
    const auto *content = std::get_if<Content>(&option);
    return content && content->is_relative && !content->is_negated && !content->within &&
           (!content->distance || content->distance->variable < 0);
}

class Evaluation
{
public:
    Evaluation(const Rule &rule, PacketTexts &texts) : rule_(rule), texts_(texts) {}

    Verdict run()
    {
        texts_.begin_rule();
        const bool matches = continue_at(0, State());
        return matches               ? Verdict::kMatch
               : steps_ > kMostSteps ? Verdict::kGivenUp
                                     : Verdict::kNoMatch;
    }

private:
    bool continue_at(size_t next,
                     State state) // NOLINT(misc-no-recursion): as deep as a rule is long
    {
        for (; next < rule_.payload.size(); ++next) {
            const PayloadOption &option = rule_.payload[next];
            if (const auto *content = std::get_if<Content>(&option)) {
                if (!content->is_negated)
                    return try_content(*content, next, state);
                if (!lacks(*content, state))
                    return false;
            } else if (const auto *expression = std::get_if<Expression>(&option)) {
                if (!expression->is_negated)
                    return try_expression(*expression, next, state);
                if (!lacks(*expression, state))
                    return false;
            } else if (!take_steps(bytes_decoded_by(option, state)) ||
                       !apply_other(option, state)) {
                return false;
            }
        }
        return true;
    }

    size_t bytes_decoded_by(const PayloadOption &option, const State &state)
    {
        if (std::holds_alternative<Asn1>(option))
            return texts_.fields().payload().size();
        const auto *decode = std::get_if<Base64Decode>(&option);
        if (!decode)
            return 0;
        const Buffer buffer = decode->is_relative ? state.buffer_of(true) : Buffer::kPayload;
        return texts_.text(buffer).value_or(Bytes()).size();
    }

    bool apply_other(const PayloadOption &option, State &state)
    {
        return std::visit(
            [&](const auto &one) {
                if constexpr (requires { apply(one, texts_, state); })
                    return apply(one, texts_, state);
                else
                    return false;
            },
            option);
    }

    // Whether another occurrence of what came before `next` may change how the rest fares.
    bool depends_on_cursor(size_t next) const
    {
        for (; next < rule_.payload.size(); ++next) {
            if (is_relative(rule_.payload[next]))
                return true;
            if (moves_cursor(rule_.payload[next]))
                return false;
        }
        return false;
    }

    bool take_steps(size_t bytes)
    {
        steps_ += 1 + uint32_t(bytes / kBytesOfStep);
        return steps_ <= kMostSteps;
    }

    struct Place {
        Bytes bytes;
        const uint8_t *searched = nullptr; // the bytes, in lower case if case is ignored
        Buffer buffer = Buffer::kPayload;
        Window window = {};
    };

    Place place_of(const Content &content, State &state)
    {
        Place place;
        place.buffer = content.buffer == Buffer::kCurrent ? state.chosen : content.buffer;
        const auto bytes = texts_.text(place.buffer);
        if (!bytes || (!is_http(place.buffer) && texts_.fields().payload().empty()))
            return place;
        place.bytes = *bytes;
        if (!content.is_relative)
            state.has_cursor = false;
        else if (state.has_cursor && is_http(place.buffer) && !is_http(state.cursor_buffer))
            state.set_cursor(place.buffer, 0);
        else if (!is_http(place.buffer) && is_http(state.cursor_buffer))
            state.has_cursor = false;
        if (state.has_cursor && state.cursor_buffer != place.buffer)
            return place;
        const auto value = [&](const std::optional<Number> &number) {
            return number ? std::optional(state.value_of(*number)) : std::nullopt;
        };
        const Limits limits =
            content.is_relative ? Limits{value(content.distance).value_or(0), value(content.within)}
                                : Limits{value(content.offset).value_or(0), value(content.depth)};
        place.window = window_of(
            content.text.size(), content.is_negated, place.bytes.size(),
            state.has_cursor ? std::optional<size_t>(state.cursor) : std::nullopt, limits);
        if (place.window.kind != Window::Kind::kSearch)
            return place;
        place.searched = content.ignores_case ? texts_.folded(place.buffer) : place.bytes.data();
        if (!place.searched) { // out of memory
            steps_ = kMostSteps + 1;
            place.window.kind = Window::Kind::kOutside;
        }
        return place;
    }

    // The first occurrence from `begin` on that ends in the window.
    const uint8_t *find(const Content &content, const Place &place, size_t begin)
    {
        const size_t end = place.window.begin + place.window.bytes;
        if (end < begin + content.text.size() || !take_steps(end - begin))
            return nullptr;
        return static_cast<const uint8_t *>(
            memmem(place.searched + begin, end - begin, content.text.data(), content.text.size()));
    }

    bool lacks(const Content &content, State &state)
    {
        const Place place = place_of(content, state);
        switch (place.window.kind) {
        case Window::Kind::kOutside: return false;
        case Window::Kind::kNothing: return true;
        case Window::Kind::kSearch: break;
        }
        return !find(content, place, place.window.begin) && steps_ <= kMostSteps;
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    bool try_content(const Content &content, size_t at, State state)
    {
        const Place place = place_of(content, state);
        if (place.window.kind != Window::Kind::kSearch)
            return false;
        const bool retries = depends_on_cursor(at + 1) && !is_anywhere_after(rule_.payload[at + 1]);
        size_t begin = place.window.begin;
        do {
            const uint8_t *const found = find(content, place, begin);
            if (!found)
                return false;
            begin = size_t(found - place.searched) + 1;
            state.set_cursor(place.buffer, begin - 1 + content.text.size());
            if (continue_at(at + 1, state))
                return true;
        } while (retries && steps_ <= kMostSteps);
        return false;
    }

    // The bytes that the expression is matched with; empty: it does not match, negated or not.
    Bytes subject_of(const Expression &expression, const State &state, Buffer &buffer)
    {
        buffer = expression.buffer != Buffer::kCurrent ? expression.buffer
                                                       : state.buffer_of(expression.is_relative);
        const Bytes bytes = texts_.text(buffer).value_or(Bytes());
        if (!expression.is_relative || !state.has_cursor)
            return bytes;
        if (state.cursor_buffer != buffer || state.cursor > bytes.size())
            return {};
        return bytes.subspan(state.cursor);
    }

    RegularExpression::Match search(const Expression &expression, Bytes subject, size_t from)
    {
        if (!take_steps(subject.size() - from))
            return {RegularExpression::Outcome::kGivenUp, 0, 0};
        const RegularExpression::Match match =
            expression.code->find(subject, from, (kMostSteps - steps_) * kExpressionStepsOfStep);
        steps_ += match.steps / kExpressionStepsOfStep;
        if (match.outcome == RegularExpression::Outcome::kGivenUp)
            steps_ = kMostSteps + 1;
        return match;
    }

    bool lacks(const Expression &expression, State &state)
    {
        Buffer buffer = Buffer::kPayload;
        const Bytes subject = subject_of(expression, state, buffer);
        return !subject.empty() &&
               search(expression, subject, 0).outcome == RegularExpression::Outcome::kNone;
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    bool try_expression(const Expression &expression, size_t at, State state)
    {
        Buffer buffer = Buffer::kPayload;
        const Bytes subject = subject_of(expression, state, buffer);
        const Bytes whole = texts_.text(buffer).value_or(Bytes());
        const bool retries =
            depends_on_cursor(at + 1) && !expression.code->matches_once() && !is_http(buffer);
        for (size_t from = 0; from < subject.size();) {
            const RegularExpression::Match match = search(expression, subject, from);
            if (match.outcome != RegularExpression::Outcome::kFound)
                return false;
            if (match.end > 0 && !is_http(buffer)) // Snort leaves the cursor in these cases
                state.set_cursor(buffer, whole.size() - subject.size() + match.end);
            if (continue_at(at + 1, state))
                return true;
            if (!retries || match.end <= from)
                return false;
            from = match.end;
        }
        return false;
    }

    const Rule &rule_;
    PacketTexts &texts_;
    uint32_t steps_ = 0;
};

bool passes_fields(const Rule &rule, PacketTexts &texts)
{
    return std::all_of(rule.fields.begin(), rule.fields.end(), [&](const FieldTest &test) {
        const auto value = texts.value(test.field);
        return value && passes(test, *value);
    });
}
} // namespace

Verdict evaluate(const Rule &rule, PacketTexts &texts)
{
    return passes_fields(rule, texts) ? Evaluation(rule, texts).run() : Verdict::kNoMatch;
}
} // namespace mapi::match::rule
