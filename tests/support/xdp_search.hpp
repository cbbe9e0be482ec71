// SPDX-License-Identifier: MIT
// A search as a node of an XDP program, and what it must find.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "match/text/string_matcher.hpp"
#include "support/xdp_programs.hpp"

namespace test_support
{
class Search
{
public:
    explicit Search(const std::string &pattern, int offset = 0, int depth = 0,
                    mapi::match::LetterCase letter_case = mapi::match::LetterCase::kExact)
        : matcher_(pattern, offset, depth, letter_case)
    {
        for (const std::string &text : matcher_.alternatives())
            texts_.push_back(
                {reinterpret_cast<const uint8_t *>(text.data()), uint32_t(text.size())});
        search_ = {texts_.data(), uint32_t(texts_.size()), uint32_t(offset), uint32_t(depth),
                   letter_case == mapi::match::LetterCase::kIgnored};
    }
    Search(const Search &) = delete;
    Search &operator=(const Search &) = delete;

    const mapi_search &described() const { return search_; }
    bool matches(const Bytes &packet) const
    {
        return matcher_.matches(packet.data(), uint32_t(packet.size()));
    }

private:
    mapi::match::StringMatcher matcher_;
    std::vector<mapi_search_text> texts_;
    mapi_search search_;
};

inline uint32_t add(Nodes &nodes, const std::shared_ptr<const Search> &search, uint32_t source,
                    bool wants_packets = false)
{
    return nodes.search({search, &search->described()}, source, wants_packets);
}

} // namespace test_support
