// SPDX-License-Identifier: MIT
// Function table: the common part of a function that a test defines.
#pragma once

#include <mapi/function.h>

namespace test_support
{
inline mapi_function function_table(const char *name, const char *args = "")
{
    mapi_function table = {};
    table.abi = MAPI_FUNCTION_ABI;
    table.struct_size = sizeof(table);
    table.name = name;
    table.description = "";
    table.args = args;
    return table;
}
} // namespace test_support
