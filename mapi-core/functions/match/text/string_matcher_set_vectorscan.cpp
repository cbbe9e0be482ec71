// SPDX-License-Identifier: MIT
// The strings of many patterns in one database, each once for each window.
#include "string_matcher_set.hpp"

#include <hs/hs.h>

#include <algorithm>
#include <bit>
#include <map>

#include "padded_text.hpp"

namespace mapi::match
{
namespace
{
struct Literal {
    std::string text;
    uint32_t offset_bytes;
    uint32_t depth_bytes;
    LetterCase letter_case;

    auto operator<=>(const Literal &) const = default;
};

// As an expression, because the interface for literals refuses those that begin with a null byte.
std::string escape(const std::string &text)
{
    static const char digits[] = "0123456789abcdef";
    std::string escaped;
    for (const char c : text) {
        const auto byte = uint8_t(c);
        escaped += {'\\', 'x', digits[byte >> 4], digits[byte & 0xf]};
    }
    return escaped;
}

bool has_fitting_length(const std::string &text)
{
    return text.size() >= StringMatcherSet::kShortestBytes &&
           text.size() <= StringMatcherSet::kLongestBytes;
}

// A match must lie within the window; Vectorscan counts up to its end.
hs_expr_ext_t window_of(const Literal &literal)
{
    hs_expr_ext_t window = {};
    if (literal.offset_bytes != 0) {
        window.flags |= HS_EXT_FLAG_MIN_OFFSET;
        window.min_offset = literal.offset_bytes + literal.text.size();
    }
    if (literal.depth_bytes != 0) {
        window.flags |= HS_EXT_FLAG_MAX_OFFSET;
        window.max_offset = uint64_t{literal.offset_bytes} + literal.depth_bytes;
    }
    return window;
}

class VectorscanMatchers : public StringMatcherSet
{
public:
    explicit VectorscanMatchers(const std::vector<const StringMatcher *> &matchers)
        : matchers_(matchers), place_of_(matchers.size()), last_call_(matchers.size())
    {
        matches_.reserve(matchers.size());
    }
    ~VectorscanMatchers() override
    {
        hs_free_scratch(scratch_);
        hs_free_database(database_);
    }

    bool prepare()
    {
        std::map<Literal, std::vector<uint32_t>> literals;
        for (uint32_t i = 0; i < matchers_.size(); ++i) {
            const StringMatcher &matcher = *matchers_[i];
            const std::vector<std::string> &alternatives = matcher.alternatives();
            const bool is_far =
                uint64_t{matcher.offset_bytes()} + matcher.depth_bytes() > kLastWindowByte;
            if (is_far ||
                !std::all_of(alternatives.begin(), alternatives.end(), has_fitting_length)) {
                alone_.push_back(i);
                continue;
            }
            for (const std::string &text : alternatives)
                literals[{text, matcher.offset_bytes(), matcher.depth_bytes(),
                          matcher.letter_case()}]
                    .push_back(i);
        }
        return !literals.empty() && compile(literals);
    }

    std::span<const PatternMatches> find(const mapi_packet *packets, uint64_t mask) override
    {
        matches_.clear();
        ++call_;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            packet_ = rest & -rest;
            const mapi_packet &packet = packets[std::countr_zero(rest)];
            const char *const text = padded_.copy(packet.data, packet.caplen);
            packet_bytes_ = packet.caplen;
            if (!text || hs_scan(database_, text, unsigned(packet.caplen + PaddedText::kPadBytes),
                                 0, scratch_, on_match, this) != HS_SUCCESS) [[unlikely]]
                search_one_by_one(packets);
        }
        for (const uint32_t matcher : alone_) {
            if (const uint64_t matching = matchers_[matcher]->filter(packets, mask))
                add(matcher, matching);
        }
        return matches_;
    }

private:
    bool compile(const std::map<Literal, std::vector<uint32_t>> &literals)
    {
        std::vector<std::string> texts;
        std::vector<const char *> expressions;
        std::vector<hs_expr_ext_t> windows;
        std::vector<const hs_expr_ext_t *> window_pointers;
        std::vector<unsigned> ids, flags;
        for (const auto &[literal, matchers] : literals) {
            texts.push_back(escape(literal.text));
            windows.push_back(window_of(literal));
            ids.push_back(unsigned(ids.size()));
            flags.push_back(HS_FLAG_SINGLEMATCH |
                            (literal.letter_case == LetterCase::kIgnored ? HS_FLAG_CASELESS : 0));
            users_.push_back(matchers);
        }
        for (size_t i = 0; i < texts.size(); ++i) {
            expressions.push_back(texts[i].c_str());
            window_pointers.push_back(&windows[i]);
        }
        hs_compile_error_t *error = nullptr;
        if (hs_compile_ext_multi(expressions.data(), flags.data(), ids.data(),
                                 window_pointers.data(), unsigned(texts.size()), HS_MODE_BLOCK,
                                 nullptr, &database_, &error) != HS_SUCCESS) {
            hs_free_compile_error(error);
            return false;
        }
        return hs_alloc_scratch(database_, &scratch_) == HS_SUCCESS;
    }

    static int on_match(unsigned id, unsigned long long, unsigned long long end, unsigned,
                        void *context)
    {
        auto &self = *static_cast<VectorscanMatchers *>(context);
        if (end > self.packet_bytes_)
            return 0;
        for (const uint32_t matcher : self.users_[id])
            self.add(matcher, self.packet_);
        return 0;
    }

    // Vectorscan gave up; what it has found so far counts.
    void search_one_by_one(const mapi_packet *packets)
    {
        for (uint32_t matcher = 0; matcher < matchers_.size(); ++matcher) {
            if (matchers_[matcher]->filter(packets, packet_))
                add(matcher, packet_);
        }
    }

    void add(uint32_t matcher, uint64_t matching)
    {
        if (last_call_[matcher] == call_) {
            matches_[place_of_[matcher]].mask |= matching;
            return;
        }
        last_call_[matcher] = call_;
        place_of_[matcher] = uint32_t(matches_.size());
        matches_.push_back({matching, matcher});
    }

    const std::vector<const StringMatcher *> matchers_;
    std::vector<std::vector<uint32_t>> users_; // per expression of the database
    std::vector<uint32_t> alone_;
    hs_database_t *database_ = nullptr;
    hs_scratch_t *scratch_ = nullptr;

    uint64_t packet_ = 0; // being searched, as a mask
    uint64_t packet_bytes_ = 0;
    PaddedText padded_; // the packet
    std::vector<PatternMatches> matches_;
    std::vector<uint32_t> place_of_;  // index in matches_ of each matcher that was found
    std::vector<uint64_t> last_call_; // in which each matcher was last found
    uint64_t call_ = 0;
};
} // namespace

std::unique_ptr<StringMatcherSet>
StringMatcherSet::make(const std::vector<const StringMatcher *> &matchers)
{
    if (hs_valid_platform() != HS_SUCCESS)
        return nullptr;
    auto set = std::make_unique<VectorscanMatchers>(matchers);
    return set->prepare() ? std::move(set) : nullptr;
}
} // namespace mapi::match
