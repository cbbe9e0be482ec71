// SPDX-License-Identifier: MIT
// header: "alert tcp $HOME_NET any -> any 80" -> action, protocol, addresses, ports.
#include "header.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "common/command/numbers.hpp"
#include "snort2sids/source/malformed.hpp"

namespace snort2sids
{
namespace
{
struct Word {
    std::string_view text;
    size_t offset = 0;
};

constexpr std::array<const char *, 7> kWords = {"an action",         "a protocol",
                                                "a source address",  "a source port",
                                                "\"->\" or \"<>\"",  "a destination address",
                                                "a destination port"};

bool is_space(char letter)
{
    return letter == ' ' || letter == '\t';
}

// A list in brackets is one word, with its spaces.  $(NAME) has parentheses, too.
size_t end_of_word(std::string_view text, size_t at)
{
    size_t depth = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '[')
            ++depth;
        else if (text[at] == ']' && depth > 0)
            --depth;
        else if (text[at] == '(' && text[at - 1] == '$')
            at = std::min(text.find(')', at), text.size() - 1);
        else if (text[at] == '(' || (depth == 0 && is_space(text[at])))
            break;
    }
    return at;
}

std::array<Word, 7> split(std::string_view text, size_t &body)
{
    std::array<Word, 7> words;
    size_t at = 0;
    for (size_t i = 0; i < words.size(); ++i) {
        while (at < text.size() && is_space(text[at]))
            ++at;
        // A negation may stand apart: "! 10.0.0.0/8".
        size_t start = at;
        while (start < text.size() && (is_space(text[start]) || text[start] == '!'))
            ++start;
        const size_t end =
            start < text.size() && text[start] != '(' ? end_of_word(text, start) : at;
        if (end == at)
            throw Malformed(at, std::string(kWords[i]) + " is missing");
        words[i] = {text.substr(at, end - at), at};
        at = end;
    }
    while (at < text.size() && is_space(text[at]))
        ++at;
    if (at < text.size() && text[at] != '(')
        throw Malformed(at, "\"(\" is missing before the options");
    body = at;
    return words;
}

Protocol read_protocol(const Word &word)
{
    constexpr std::array<std::pair<std::string_view, Protocol>, 4> kProtocols = {
        {{"ip", Protocol::kIp},
         {"tcp", Protocol::kTcp},
         {"udp", Protocol::kUdp},
         {"icmp", Protocol::kIcmp}}};
    for (const auto &[name, protocol] : kProtocols)
        if (std::equal(word.text.begin(), word.text.end(), name.begin(), name.end(),
                       [](char one, char two) {
                           return std::tolower(static_cast<unsigned char>(one)) == two;
                       }))
            return protocol;
    throw Malformed(word.offset, command::quoted(std::string(word.text)) +
                                     " is not a protocol of Snort 2 (ip, tcp, udp, icmp)");
}

// If the value of one of the word's variables is wrong by itself, the error is that of the
// variable, and the same for all words with it.
template <class Set>
void check_variables(const Word &word, const Variables &variables, Set (*read)(std::string_view))
{
    for (const auto &[name, value] : variables.values_in(word.text)) {
        try {
            read(value);
        } catch (const Malformed &error) {
            throw Malformed(word.offset, "variable " + name + ": " + error.what() + ", in " +
                                             command::quoted(value.substr(0, 200)));
        }
    }
}

// Offsets of errors are those of the word if its variables were replaced.
template <class Set>
Set read_word(const Word &word, const Variables &variables, Set (*read)(std::string_view))
{
    std::string expanded;
    try {
        expanded = variables.expand(word.text);
    } catch (const Malformed &error) {
        throw Malformed(word.offset + error.offset, error.what());
    }
    try {
        return read(expanded);
    } catch (const Malformed &error) {
        if (expanded == word.text)
            throw Malformed(word.offset + error.offset, error.what());
        check_variables(word, variables, read);
        throw Malformed(word.offset, std::string(error.what()) + ", in " +
                                         command::quoted(expanded.substr(0, 200)));
    }
}

Side read_side(const Word &addresses, const Word &ports, bool has_ports, const Variables &variables)
{
    return {read_word(addresses, variables, read_addresses),
            has_ports ? read_word(ports, variables, read_ports) : PortSet::full()};
}
} // namespace

Header read_header(std::string_view text, const Variables &variables)
{
    Header header;
    const auto words = split(text, header.body);
    header.action = words[0].text;
    header.protocol = read_protocol(words[1]);
    const bool has_ports = header.protocol == Protocol::kTcp || header.protocol == Protocol::kUdp;
    header.has_ignored_ports = !has_ports && (words[3].text != "any" || words[6].text != "any");
    const std::string_view direction = words[4].text;
    if (direction != "->" && direction != "<>" && direction != "<-")
        throw Malformed(words[4].offset, command::quoted(std::string(direction)) +
                                             " is not a direction (->, <>, <-)");
    header.is_bidirectional = direction == "<>";
    header.from = read_side(words[2], words[3], has_ports, variables);
    header.to = read_side(words[5], words[6], has_ports, variables);
    if (direction == "<-")
        std::swap(header.from, header.to);
    return header;
}
} // namespace snort2sids
