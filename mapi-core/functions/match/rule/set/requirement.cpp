// SPDX-License-Identifier: MIT
// Requirement: the content that is least likely to be in a packet which does not match.
#include "match/rule/set/requirement.hpp"

#include <algorithm>

namespace mapi::match::rule
{
namespace
{
using Kind = Requirement::Kind;

constexpr uint32_t kLongestScored = 16;

// Longer is better; repetitions of one byte are common in padding.
uint32_t score_of(std::string_view text)
{
    const bool is_one_byte = text.find_first_not_of(text.front()) == text.npos;
    return is_one_byte ? 1 : uint32_t(std::min<size_t>(text.size(), kLongestScored));
}

bool is_fixed(const Content &content)
{
    return content.depth && content.depth->variable < 0 && !content.is_relative &&
           content.depth->value == int64_t(content.text.size()) &&
           (!content.offset || (content.offset->variable < 0 && content.offset->value >= 0));
}

class Chooser
{
public:
    Requirement choose(const Rule &rule)
    {
        for (const PayloadOption &option : rule.payload)
            look_at(option);
        for (const FieldTest &test : rule.fields) {
            if (test.field == Field::kUriBytes || test.field == Field::kRawUriBytes)
                require(Kind::kHttp);
        }
        return best_;
    }

private:
    void look_at(const PayloadOption &option)
    {
        if (const auto *choice = std::get_if<ChooseBuffer>(&option)) {
            is_payload_ = choice->buffer == Buffer::kPayload;
            is_part_ = choice->buffer == Buffer::kSipHeader || choice->buffer == Buffer::kSipBody;
            if (is_part_)
                offer_sip();
            if (choice->buffer == Buffer::kFileData)
                require(Kind::kHttp);
            return;
        }
        require_if(option);
        const auto *content = std::get_if<Content>(&option);
        if (!content || content->is_negated)
            return;
        if (is_http(content->buffer))
            offer(*content, Kind::kHttpLiteral);
        else if (content->buffer == Buffer::kPayload || is_payload_)
            offer(*content, is_fixed(*content) ? Kind::kFixedLiteral : Kind::kLiteral);
        else if (is_part_ && content->buffer == Buffer::kCurrent)
            offer(*content, Kind::kLiteral);
    }

    // Nothing matches an empty payload, negated or not; an isdataat may.
    void require_if(const PayloadOption &option)
    {
        if (std::holds_alternative<SipMethod>(option) || std::holds_alternative<SipStatus>(option))
            offer_sip();
        if (std::holds_alternative<Asn1>(option))
            require(Kind::kPayload);
        const auto *content = std::get_if<Content>(&option);
        const auto *expression = std::get_if<Expression>(&option);
        if (content || expression)
            require(is_http(content ? content->buffer : expression->buffer) ? Kind::kHttp
                                                                            : Kind::kPayload);
    }

    void require(Kind kind)
    {
        if (kind > best_.kind)
            best_ = {kind};
    }

    // What every start line of SIP has.
    void offer_sip()
    {
        static constexpr std::string_view kProtocol = "SIP/";
        if (score_ >= kProtocol.size())
            return;
        score_ = uint32_t(kProtocol.size());
        best_ = {Kind::kLiteral, false, kProtocol};
    }

    void offer(const Content &content, Kind kind)
    {
        const uint32_t score = content.is_fast_pattern       ? kLongestScored + 2
                               : kind == Kind::kFixedLiteral ? score_of(content.text) + 1
                                                             : score_of(content.text);
        if (score <= score_)
            return;
        score_ = score;
        const bool has_offset = kind == Kind::kFixedLiteral && content.offset;
        best_ = {kind, content.ignores_case, content.text,
                 has_offset ? uint32_t(content.offset->value) : 0};
    }

    Requirement best_;
    uint32_t score_ = 0;
    bool is_payload_ = true; // what the next content looks at, unless it names a buffer
    bool is_part_ = false;   // it looks at a part of the payload
};
} // namespace

Requirement requirement_of(const Rule &rule)
{
    return Chooser().choose(rule);
}
} // namespace mapi::match::rule
