// SPDX-License-Identifier: MIT
// Function table: the common part of a function that a test defines.
#pragma once

#include <mapi/function.h>

namespace test_support
{
// arguments: the letter of each (enum mapi_argument_kind).
inline mapi_function function_table(const char *name, const char *arguments = "")
{
    mapi_function table = {};
    table.abi = MAPI_FUNCTION_ABI;
    table.struct_size = sizeof(table);
    table.name = name;
    table.description = "";
    for (size_t i = 0; arguments[i]; ++i)
        table.arguments[i] = uint8_t(arguments[i]);
    return table;
}
} // namespace test_support
