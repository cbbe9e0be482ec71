// SPDX-License-Identifier: MIT
// variables: var, ipvar and portvar of Snort -> their values in the text of a rule's header.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace snort2sids
{
class Variables
{
public:
    // From the command line: stays, whatever files say.
    void fix(const std::string &name, const std::string &value);
    // From a file.  Variables in the value are replaced at once, as Snort does.  Throws Malformed
    // with an offset in `value`.
    void define(const std::string &name, std::string_view value);

    // $NAME, $(NAME), $(NAME:-default) and $(NAME:?message) -> values.  Throws Malformed.
    std::string expand(std::string_view text) const;
    // The variables of such a text that have a value, with it.
    std::vector<std::pair<std::string, std::string>> values_in(std::string_view text) const;

private:
    std::map<std::string, std::string> values_;
    std::set<std::string> fixed_;
};

bool is_variable_name(std::string_view text);
} // namespace snort2sids
