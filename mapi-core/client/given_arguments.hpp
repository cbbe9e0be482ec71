// SPDX-License-Identifier: MIT
// Given arguments: a variable argument list, and what its caller knows about it -> one argument
// after another, as required by a letter.
#pragma once

#include <cstdarg>
#include <string>

#include "engine/config/arguments.hpp"

namespace mapi::client
{
// What is wrong with an argument; appended to "argument 1".
struct WrongArgument {
    std::string text;
    bool is_null = false; // a null pointer
};

bool is_text(char letter);
const char *letter_name(char letter);

class GivenArguments
{
public:
    // kinds: letters of mapi/argument_kinds.h; null: the types are unknown, and with count < 0 also
    // the number of arguments.
    GivenArguments(const char *kinds, int count, va_list list);
    ~GivenArguments() { va_end(list_); }
    GivenArguments(const GivenArguments &) = delete;
    GivenArguments &operator=(const GivenArguments &) = delete;

    // < 0: unknown.
    int count() const { return count_; }
    // Returns the next one; throws WrongArgument.  Text is unchanged.
    engine::Argument take(char letter);

private:
    engine::Argument take_unchecked(char letter);
    std::string take_text();
    static void check(const engine::Argument &argument);
    int64_t take_number(char kind, char letter);

    const char *kinds_;
    const int count_;
    va_list list_;
};
} // namespace mapi::client
