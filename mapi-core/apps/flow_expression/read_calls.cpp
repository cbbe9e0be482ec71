// SPDX-License-Identifier: MIT
// read_calls: a flow expression as the user writes it -> calls.
#include "flow_expression/read_calls.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <mapi/mapi.h>

namespace flow_expression
{
namespace
{
struct Word {
    std::string text;
    bool is_bar = false;
};

std::vector<Word> split(const std::string &text)
{
    std::vector<Word> words;
    std::optional<std::string> word;
    char quote = 0;
    const auto end_word = [&] {
        if (word)
            words.push_back({*word});
        word.reset();
    };
    for (const char letter : text) {
        if (quote ? letter == quote : letter == '\'' || letter == '"') {
            quote = quote ? 0 : letter;
            word = word.value_or("");
        } else if (!quote && letter && std::strchr(" \t\r\n", letter)) {
            end_word();
        } else if (!quote && letter == '|') {
            end_word();
            words.push_back({"|", true});
        } else {
            word = word.value_or("") + letter;
        }
    }
    if (quote)
        throw ExpressionError(std::string("unmatched quotation mark ") + quote +
                              " (add the closing one)");
    end_word();
    return words;
}

// Also accepts "LIBRARY:FUNCTION!DEVICE_TYPE"; libmapi checks whether that library has the
// function.
std::string letters_of(const std::string &name)
{
    const std::string function =
        name.substr(name.find(':') + 1, name.find('!') - (name.find(':') + 1));
    mapi_libfunct_info_t info = {};
    std::string known;
    for (int number = 0; mapi_get_libfunct_info(0, number, &info) == 0; ++number) {
        if (function == info.name)
            return info.argdescr;
        known += (known.empty() ? "" : ", ") + std::string(info.name);
    }
    if (!known.empty())
        throw ExpressionError("unknown function \"" + name + "\"; available: " + known);
    // libmapi knows no function at all, for example if mapi.conf names a plug-in that is missing.
    int number = 0;
    char why[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(&number, why);
    if (number != MAPI_CONFIG_ERROR) // for example if mapid does not answer
        throw std::runtime_error(why);
    throw ExpressionError("unknown function \"" + name + "\": " + why);
}

template <class Number> std::optional<Number> read_number(const std::string &text)
{
    Number number = 0;
    const bool is_hex = text.starts_with("0x");
    const char *const from = text.data() + (is_hex ? 2 : 0), *const end = text.data() + text.size();
    const auto read = std::from_chars(from, end, number, is_hex ? 16 : 10);
    return read.ec == std::errc() && read.ptr == end && from != end ? std::optional(number)
                                                                    : std::nullopt;
}

// "@1", or "@1,@2".
std::vector<unsigned> read_places(const std::string &caller, const std::string &text,
                                  size_t functions)
{
    std::vector<unsigned> places;
    for (size_t at = 0; at <= text.size();) {
        const size_t comma = std::min(text.find(',', at), text.size());
        const auto place = comma > at && text[at] == '@'
                               ? read_number<unsigned>(text.substr(at + 1, comma - at - 1))
                               : std::nullopt;
        if (!place || *place < 1 || *place > functions)
            throw ExpressionError(
                caller + ": \"" + text +
                "\" does not refer to an earlier function of the flow (the first is @1)");
        places.push_back(*place);
        at = comma + 1;
    }
    return places;
}

Argument read_argument(const std::string &caller, char letter, const std::string &word,
                       size_t functions_before)
{
    if (std::string("rfS").find(letter) != std::string::npos)
        return Steps{letter, read_places(caller, word, functions_before)};
    if (letter == 'F')
        return Steps{letter};
    if (letter == 'i' || letter == 'c') {
        if (const auto number = read_number<int>(word))
            return int64_t(*number);
        throw ExpressionError(caller + ": \"" + word + "\" is not an int (see mapi(3))");
    }
    if (letter == 'l') {
        if (const auto number = read_number<uint64_t>(word))
            return int64_t(*number);
        throw ExpressionError(caller + ": \"" + word + "\" is not a 64-bit number (see mapi(3))");
    }
    return word;
}

// For a letter of mapi_get_libfunct_info() (enum mapi_argument_kind).
const char *name_of(char letter)
{
    switch (letter) {
    case 's': return "a string";
    case 'n': return "a number or a string";
    case 'l': return "a 64-bit number";
    case 'c': return "a character";
    case 'p': return "a path";
    case 'f': return "a function (@1)";
    case 'S': return "functions (@1,@2)";
    case 'F': return "flows";
    case 'w': return "a file";
    case 'W': return "a rotation of files";
    case 'o': return "SHMEM, host:port or a file";
    default: return "an int";
    }
}

std::string arguments_of(const std::string &letters)
{
    std::string names;
    bool is_optional = false;
    for (const char letter : letters) {
        if (letter == '?') {
            is_optional = true;
        } else if (letter != 'r') { // written with 'f', as one word
            names += (names.empty() ? "" : ", ") + std::string(is_optional ? "optionally " : "") +
                     name_of(letter);
            is_optional = false; // those after the first optional one are optional, too
        }
    }
    return " (takes " + (names.empty() ? "no arguments" : names) + "; see mapi(3))";
}

// A flow and one of its functions ("rf") are written as one word.
Call read_call(const std::vector<std::string> &words, size_t functions_before)
{
    Call call{words[0]};
    const std::string letters = letters_of(call.function);
    size_t word = 1;
    bool is_optional = false;
    for (const char letter : letters) {
        if (letter == '?') {
            is_optional = true;
            continue;
        }
        if (word == words.size()) {
            if (is_optional)
                break;
            throw ExpressionError(call.function + ": missing argument after \"" + words.back() +
                                  "\"" + arguments_of(letters));
        }
        call.arguments.push_back(
            read_argument(call.function, letter, words[word], functions_before));
        word += letter != 'r';
    }
    if (word < words.size())
        throw ExpressionError(call.function + ": unexpected argument \"" + words[word] + "\"" +
                              arguments_of(letters));
    return call;
}
} // namespace

std::vector<Call> read_calls(const std::string &text)
{
    std::vector<Call> calls;
    std::vector<std::string> words;
    std::vector<Word> all = split(text);
    all.push_back({"|", true});
    for (const Word &word : all) {
        if (!word.is_bar) {
            words.push_back(word.text);
            continue;
        }
        if (words.empty())
            throw ExpressionError(
                calls.empty() && &word == &all.back()
                    ? "the flow is empty (specify a function, such as PKT_COUNTER)"
                    : "a function is missing before or after \"|\" (add one, or remove the bar)");
        calls.push_back(read_call(words, calls.size()));
        words.clear();
    }
    return calls;
}
} // namespace flow_expression
