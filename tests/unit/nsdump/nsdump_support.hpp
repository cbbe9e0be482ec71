// SPDX-License-Identifier: MIT
// A trace built in memory -> the decoder's view of it.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "decode/source/bytes.hpp"
#include "support/trace_builder.hpp"

namespace test_support
{
inline std::unique_ptr<nsdump::ByteSource> source_of(const std::string &bytes,
                                                     const std::string &name = "test.nsl")
{
    std::vector<std::byte> copy(bytes.size());
    if (!bytes.empty())
        std::memcpy(copy.data(), bytes.data(), bytes.size());
    return nsdump::bytes_in_memory(std::move(copy), name);
}
} // namespace test_support
