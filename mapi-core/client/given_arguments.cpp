// SPDX-License-Identifier: MIT
// Given arguments: a variable argument list, and what its caller knows about it -> one argument
// after another, as required by its kind.
#include "client/given_arguments.hpp"

#include <climits>
#include <cstring>

namespace mapi::client
{
namespace
{
// No string has an address below: nothing can be mapped there.
constexpr uintptr_t kFirstAddress = 0x10000;

const char *type_name(char type)
{
    switch (type) {
    case 's': return "a string";
    case 'i': return "an int";
    case 'u': return "an unsigned int";
    case 'l':
    case 'q': return "a 64-bit number";
    case 'd': return "a floating-point number";
    default: return "a pointer";
    }
}

bool is_number(char type)
{
    return type == 'i' || type == 'u' || type == 'l' || type == 'q';
}
} // namespace

bool is_text(char kind)
{
    return kind == MAPI_ARGUMENT_STRING || kind == MAPI_ARGUMENT_PATH ||
           kind == MAPI_ARGUMENT_FUNCTIONS || kind == MAPI_ARGUMENT_FLOWS ||
           kind == MAPI_ARGUMENT_FILE || kind == MAPI_ARGUMENT_ROTATION ||
           kind == MAPI_ARGUMENT_OUTPUT;
}

const char *kind_name(char kind)
{
    switch (kind) {
    case MAPI_ARGUMENT_STRING: return "a string";
    case MAPI_ARGUMENT_STRING_OR_NUMBER: return "a number or a string";
    case MAPI_ARGUMENT_BOOL: return "0 or 1";
    case MAPI_ARGUMENT_CHARACTER: return "a character";
    case MAPI_ARGUMENT_PATH: return "a path";
    case MAPI_ARGUMENT_INT64: return "a 64-bit number";
    case MAPI_ARGUMENT_FLOW: return "a flow";
    case MAPI_ARGUMENT_FUNCTION: return "a function of that flow";
    case MAPI_ARGUMENT_FUNCTIONS: return "a list of functions";
    case MAPI_ARGUMENT_FLOWS: return "a list of flows";
    case MAPI_ARGUMENT_FILE: return "a file's name";
    case MAPI_ARGUMENT_ROTATION: return "a rotation of files";
    case MAPI_ARGUMENT_OUTPUT: return "SHMEM, host:port or a file's name";
    default: return "an int";
    }
}

GivenArguments::GivenArguments(const char *types, int count, va_list list)
    : types_(types), count_(types ? int(strlen(types)) : count)
{
    va_copy(list_, list);
}

engine::Argument GivenArguments::take(char kind)
{
    if (!types_)
        return take_unchecked(kind);
    const char type = *types_++;
    if (is_text(kind)
            ? type != 's'
            : !(is_number(type) || (type == 's' && kind == MAPI_ARGUMENT_STRING_OR_NUMBER)))
        throw WrongArgument{std::string(" is ") + type_name(type) + ", not " + kind_name(kind)};
    engine::Argument argument;
    argument.kind = kind;
    if (type == 's')
        argument.text = take_text();
    else
        argument.number = take_number(type, kind);
    if (kind == MAPI_ARGUMENT_STRING_OR_NUMBER && type != 's')
        argument.text = std::to_string(argument.number);
    check(argument);
    return argument;
}

engine::Argument GivenArguments::take_unchecked(char kind)
{
    engine::Argument argument;
    argument.kind = kind;
    if (kind == MAPI_ARGUMENT_STRING_OR_NUMBER) {
        // the caller passes no type: a small number is not a pointer
        const auto word = va_arg(list_, uintptr_t);
        argument.text =
            word < kFirstAddress ? std::to_string(word) : reinterpret_cast<const char *>(word);
    } else if (is_text(kind)) {
        argument.text = take_text();
    } else if (kind == MAPI_ARGUMENT_INT64) {
        argument.number = int64_t(va_arg(list_, unsigned long long));
    } else {
        argument.number = va_arg(list_, int);
    }
    check(argument);
    return argument;
}

void GivenArguments::check(const engine::Argument &argument)
{
    if (argument.kind == MAPI_ARGUMENT_BOOL && argument.number != 0 && argument.number != 1)
        throw WrongArgument{": " + std::to_string(argument.number) + " is neither 0 nor 1"};
}

std::string GivenArguments::take_text()
{
    const char *text = va_arg(list_, const char *);
    if (!text)
        throw WrongArgument{" is a null pointer", true};
    return text;
}

int64_t GivenArguments::take_number(char type, char kind)
{
    int64_t number = 0;
    bool is_beyond = false; // out of range of signed 64 bits
    switch (type) {
    case 'i': number = va_arg(list_, int); break;
    case 'u': number = va_arg(list_, unsigned); break;
    case 'l': number = va_arg(list_, long long); break;
    default: number = int64_t(va_arg(list_, unsigned long long)); is_beyond = number < 0;
    }
    if (kind == MAPI_ARGUMENT_INT64 || (!is_beyond && number >= INT_MIN && number <= INT_MAX))
        return number;
    throw WrongArgument{": " +
                        (is_beyond ? std::to_string(uint64_t(number)) : std::to_string(number)) +
                        " does not fit into an int"};
}
} // namespace mapi::client
