// SPDX-License-Identifier: MIT
// Error text: an error number -> its text in the table.
#include "client/errors/error_text.hpp"

#include "client/errors/error_table.hpp"

namespace mapi::client
{
namespace
{
constexpr bool is_in_order()
{
    int before = 0;
    for (const ErrorRow &row : kErrors) {
        if (row.number != int(row.name) || row.number <= before)
            return false;
        before = row.number;
    }
    return true;
}
static_assert(is_in_order(),
              "a row's name has another number in errors.h, or rows are out of order");
} // namespace

const char *error_text(int number) noexcept
{
    for (const ErrorRow &row : kErrors) {
        if (row.number == number)
            return row.text;
    }
    return "";
}
} // namespace mapi::client
