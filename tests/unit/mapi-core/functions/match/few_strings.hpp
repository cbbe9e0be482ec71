// SPDX-License-Identifier: MIT
// Few strings, and texts that contain one of them anywhere: Vectorscan 5.4.9 does not always find
// them near the end of the text.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace match_test
{
class FewStrings
{
public:
    // Lower-case letters.
    std::vector<std::string> strings(size_t fewest)
    {
        std::vector<std::string> made(fewest + random_() % (14 - fewest));
        const unsigned letters = 2 + random_() % 20;
        for (std::string &text : made) {
            text.resize(2 + random_() % (random_() % 4 ? 6 : 40));
            for (char &letter : text)
                letter = char('a' + random_() % letters);
        }
        return made;
    }
    // And upper-case letters.
    std::string text_with(const std::vector<std::string> &strings)
    {
        std::string text(random_() % 150, '\0');
        for (char &letter : text)
            letter = char('A' + random_() % 26);
        const size_t place = random_() % 3 ? random_() % (text.size() + 1) : text.size();
        return text.insert(place, strings[random_() % strings.size()]);
    }

private:
    std::mt19937 random_{7};
};
} // namespace match_test
