// SPDX-License-Identifier: MIT
// arrow: names -> the texts that indices in a column of names refer to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/names.hpp"

namespace nsdump::arrow
{
// Texts one after the other, as Arrow lays out strings.
struct Texts {
    std::vector<int32_t> offsets = {0};
    std::string bytes;

    // UTF-8; bytes that are not become U+FFFD.  Throws TraceError beyond 2 GiB.
    void add(const std::string &text);
    int64_t size() const { return int64_t(offsets.size()) - 1; }
};

// Batches share the texts until a record has a name that no site announced.
class NameDictionary
{
public:
    explicit NameDictionary(const NameTable &names) : names_(names) {}
    std::shared_ptr<const Texts> texts();

private:
    const NameTable &names_;
    std::shared_ptr<const Texts> texts_;
};
} // namespace nsdump::arrow
