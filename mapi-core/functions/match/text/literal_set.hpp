// SPDX-License-Identifier: MIT
// Many strings at once: bytes -> whether any of the strings is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "letter_case.hpp"

namespace mapi::match
{
// Fewer strings than this are found faster one by one (measured over packets of 64 to 1500 bytes).
constexpr size_t kFewestInSet = 5;

class LiteralSet
{
public:
    // Working memory of one search; a thread that runs a batch holds it for the whole batch.
    class Scratch;

    // Returns null if this build or processor has no such search, or the strings do not suit it.
    static std::shared_ptr<const LiteralSet> make(const std::vector<std::string> &literals,
                                                  LetterCase letter_case);

    virtual ~LiteralSet() = default;
    // Its memory, including the scratch of one thread.
    virtual uint64_t memory_bytes() const noexcept = 0;
    // Returns null if out of memory.  Each thread takes its own and returns it.
    virtual Scratch *take_scratch() const noexcept = 0;
    virtual void return_scratch(Scratch *scratch) const noexcept = 0;
    // nullopt: the search failed; the result is unknown.
    virtual std::optional<bool> is_in(const uint8_t *data, size_t bytes,
                                      Scratch *scratch) const noexcept = 0;
};
} // namespace mapi::match
