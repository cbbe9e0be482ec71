// SPDX-License-Identifier: MIT
// list: "[a,!b,[c,d]]" -> items, each with its negation.
#include "list.hpp"

#include <algorithm>
#include <vector>

#include "snort2sids/source/malformed.hpp"

namespace snort2sids
{
namespace
{
constexpr size_t kMostDepth = 64;

class ListReader
{
public:
    ListReader(std::string_view text,
               const std::function<void(std::string_view, size_t, bool)> &take)
        : text_(text), take_(take)
    {
    }

    void read()
    {
        while (true) {
            read_start();
            read_item();
            if (!read_end())
                return;
        }
    }

private:
    void skip_spaces()
    {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
            ++at_;
    }

    // "!" and "[", any number of each.
    void read_start()
    {
        is_negated_ = !open_.empty() && open_.back();
        for (skip_spaces(); at_ < text_.size(); ++at_, skip_spaces()) {
            if (text_[at_] == '!') {
                is_negated_ = !is_negated_;
            } else if (text_[at_] == '[') {
                if (open_.size() == kMostDepth)
                    throw Malformed(at_, "lists are nested too deeply");
                open_.push_back(is_negated_);
            } else {
                return;
            }
        }
    }

    void read_item()
    {
        const size_t end = std::min(text_.find_first_of(",[] \t!", at_), text_.size());
        if (end == at_)
            throw Malformed(at_,
                            at_ == text_.size() ? "a value is missing" : "a value is missing here");
        take_(text_.substr(at_, end - at_), at_, is_negated_);
        at_ = end;
    }

    // "]", any number, and a ",": whether another item follows.
    bool read_end()
    {
        for (skip_spaces(); at_ < text_.size(); ++at_, skip_spaces()) {
            if (text_[at_] == ']' && !open_.empty()) {
                open_.pop_back();
            } else if (text_[at_] == ',' && !open_.empty()) {
                ++at_;
                return true;
            } else {
                throw Malformed(at_, open_.empty() ? "nothing may follow the value"
                                                   : "\",\" or \"]\" is missing");
            }
        }
        if (!open_.empty())
            throw Malformed(text_.size(), "\"]\" is missing");
        return false;
    }

    std::string_view text_;
    const std::function<void(std::string_view, size_t, bool)> &take_;
    size_t at_ = 0;
    bool is_negated_ = false;
    std::vector<bool> open_; // lists, and whether their items are negated
};
} // namespace

void read_list(std::string_view text,
               const std::function<void(std::string_view, size_t, bool)> &take)
{
    ListReader(text, take).read();
}
} // namespace snort2sids
