// SPDX-License-Identifier: MIT
// Given arguments: a variable argument list, and what its caller knows about it -> one argument
// after another, as required by its kind (enum mapi_argument_kind).
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

bool is_text(char kind);
const char *kind_name(char kind);

class GivenArguments
{
public:
    // types: letters of mapi/argument_types.h; null: the types are unknown, and with count < 0 also
    // the number of arguments.
    GivenArguments(const char *types, int count, va_list list);
    ~GivenArguments() { va_end(list_); }
    GivenArguments(const GivenArguments &) = delete;
    GivenArguments &operator=(const GivenArguments &) = delete;

    // < 0: unknown.
    int count() const { return count_; }
    // Returns the next one; throws WrongArgument.  Text is unchanged.
    engine::Argument take(char kind);

private:
    engine::Argument take_unchecked(char kind);
    std::string take_text();
    static void check(const engine::Argument &argument);
    int64_t take_number(char type, char kind);

    const char *types_;
    const int count_;
    va_list list_;
};
} // namespace mapi::client
