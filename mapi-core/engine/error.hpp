// SPDX-License-Identifier: MIT
// Error: a number of errors.h with the text for this case; the C interface passes it on to
// mapi_read_error().
#pragma once

#include <stdexcept>
#include <string>

#include <mapi/errors.h>

namespace mapi
{
class Error : public std::runtime_error
{
public:
    Error(int number, const std::string &text) : std::runtime_error(text), number_(number) {}
    int number() const { return number_; }

private:
    int number_;
};
} // namespace mapi
