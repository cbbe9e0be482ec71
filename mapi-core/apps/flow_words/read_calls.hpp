// SPDX-License-Identifier: MIT
// read_calls: the functions of a flow as the user writes them -> calls.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "flow_words/call.hpp"

namespace flow_words
{
// Names the word that is wrong.
class WordsError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// "BPF_FILTER 'tcp port 80' | TO_BUFFER 1": words, in quotation marks where they hold blanks or bars, a function behind each bar; "@2" is the flow's second function.  What
// the words of a function are its table tells, which libmapi is asked for.  Throws WordsError.
std::vector<Call> read_calls(const std::string &text);
} // namespace flow_words
