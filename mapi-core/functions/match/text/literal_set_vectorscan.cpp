// SPDX-License-Identifier: MIT
// Many strings at once with Vectorscan's literal matcher.
#include "literal_set.hpp"

#include <hs/hs.h>

#include <array>
#include <atomic>
#include <optional>

#include "first_match.hpp"
#include "padded_text.hpp"

namespace mapi::match
{
namespace
{
hs_scratch_t *native(LiteralSet::Scratch *scratch)
{
    return reinterpret_cast<hs_scratch_t *>(scratch);
}

LiteralSet::Scratch *opaque(hs_scratch_t *scratch)
{
    return reinterpret_cast<LiteralSet::Scratch *>(scratch);
}

class VectorscanSet : public LiteralSet
{
public:
    VectorscanSet(hs_database_t *database, hs_scratch_t *model) : database_(database), model_(model)
    {
    }
    ~VectorscanSet() override
    {
        for (std::atomic<hs_scratch_t *> &slot : idle_)
            hs_free_scratch(slot.load(std::memory_order_relaxed));
        hs_free_scratch(model_);
        hs_free_database(database_);
    }

    uint64_t memory_bytes() const noexcept override
    {
        size_t database_bytes = 0, scratch_bytes = 0;
        hs_database_size(database_, &database_bytes);
        hs_scratch_size(model_, &scratch_bytes);
        return database_bytes + 2 * scratch_bytes;
    }

    Scratch *take_scratch() const noexcept override
    {
        for (std::atomic<hs_scratch_t *> &slot : idle_)
            // acquire: writes by the thread that returned it are visible
            if (hs_scratch_t *scratch = slot.exchange(nullptr, std::memory_order_acquire))
                return opaque(scratch);
        hs_scratch_t *copy = nullptr; // once per concurrently searching thread
        return hs_clone_scratch(model_, &copy) == HS_SUCCESS ? opaque(copy) : nullptr;
    }

    void return_scratch(Scratch *scratch) const noexcept override
    {
        for (std::atomic<hs_scratch_t *> &slot : idle_) {
            hs_scratch_t *empty = nullptr;
            // release: pairs with the acquire in take_scratch()
            if (slot.compare_exchange_strong(empty, native(scratch), std::memory_order_release,
                                             std::memory_order_relaxed))
                return;
        }
        hs_free_scratch(native(scratch));
    }

    std::optional<bool> is_in(const uint8_t *data, size_t bytes,
                              Scratch *scratch) const noexcept override
    {
        thread_local PaddedText padded;
        const char *const text = padded.copy(data, bytes);
        if (!text)
            return std::nullopt;
        FirstMatch search{bytes};
        const hs_error_t error = hs_scan(database_, text, unsigned(bytes + PaddedText::kPadBytes),
                                         0, native(scratch), FirstMatch::on_match, &search);
        return error == HS_SUCCESS || error == HS_SCAN_TERMINATED ? std::optional(search.found)
                                                                  : std::nullopt;
    }

private:
    hs_database_t *database_;
    hs_scratch_t *model_; // only ever copied
    mutable std::array<std::atomic<hs_scratch_t *>, 8> idle_{};
};
} // namespace

std::shared_ptr<const LiteralSet> LiteralSet::make(const std::vector<std::string> &literals,
                                                   LetterCase letter_case)
{
    if (literals.size() < kFewestInSet || hs_valid_platform() != HS_SUCCESS)
        return nullptr;
    std::vector<const char *> starts;
    std::vector<size_t> lengths;
    for (const std::string &literal : literals) {
        starts.push_back(literal.data());
        lengths.push_back(literal.size());
    }
    // HS_FLAG_SINGLEMATCH misses strings of one byte (Vectorscan 5.4.9).
    const std::vector<unsigned> flags(literals.size(),
                                      letter_case == LetterCase::kIgnored ? HS_FLAG_CASELESS : 0);
    const std::vector<unsigned> ids(literals.size(), 0);
    hs_database_t *database = nullptr;
    hs_compile_error_t *error = nullptr;
    if (hs_compile_lit_multi(starts.data(), flags.data(), ids.data(), lengths.data(),
                             unsigned(literals.size()), HS_MODE_BLOCK, nullptr, &database,
                             &error) != HS_SUCCESS) {
        hs_free_compile_error(error);
        return nullptr;
    }
    hs_scratch_t *scratch = nullptr;
    if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS) {
        hs_free_database(database);
        return nullptr;
    }
    return std::make_shared<VectorscanSet>(database, scratch);
}
} // namespace mapi::match
