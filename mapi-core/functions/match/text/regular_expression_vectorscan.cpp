// SPDX-License-Identifier: MIT
// Regular expressions with Vectorscan.
#include "regular_expression.hpp"

#include <hs/hs.h>

#include <bit>
#include <cctype>
#include <string>

#include "first_match.hpp"
#include "match/errors.hpp"
#include "padded_text.hpp"

namespace mapi::match
{
namespace
{
class VectorscanExpression : public RegularExpression
{
public:
    explicit VectorscanExpression(hs_database_t *database) : database_(database) {}
    ~VectorscanExpression() override
    {
        hs_free_scratch(scratch_);
        hs_free_database(database_);
    }

    bool prepare() { return hs_alloc_scratch(database_, &scratch_) == HS_SUCCESS; }

    uint64_t memory_bytes() const noexcept override
    {
        size_t database_bytes = 0, scratch_bytes = 0;
        hs_database_size(database_, &database_bytes);
        hs_scratch_size(scratch_, &scratch_bytes);
        return database_bytes + scratch_bytes;
    }

    uint64_t filter(const mapi_packet *packets, uint64_t mask) noexcept override
    {
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const mapi_packet &packet = packets[std::countr_zero(rest)];
            passed |= is_in(packet) ? rest & -rest : 0;
        }
        return passed;
    }

private:
    // Unpadded, for matches anchored at the end; and padded, for matches that Vectorscan misses
    // there.
    bool is_in(const mapi_packet &packet) noexcept
    {
        FirstMatch search{packet.caplen};
        hs_scan(database_, reinterpret_cast<const char *>(packet.data), packet.caplen, 0, scratch_,
                FirstMatch::on_match, &search);
        if (search.found)
            return true;
        if (const char *const text = padded_.copy(packet.data, packet.caplen))
            hs_scan(database_, text, unsigned(packet.caplen + PaddedText::kPadBytes), 0, scratch_,
                    FirstMatch::on_match, &search);
        return search.found;
    }

    hs_database_t *const database_;
    hs_scratch_t *scratch_ = nullptr;
    PaddedText padded_;
};

// As all messages: "Invalid repeat at index 0." -> "invalid repeat at index 0".
std::string without_capital(std::string sentence)
{
    if (sentence.size() > 1 && std::isupper(static_cast<unsigned char>(sentence[0])) &&
        std::islower(static_cast<unsigned char>(sentence[1])))
        sentence[0] = char(std::tolower(static_cast<unsigned char>(sentence[0])));
    if (sentence.ends_with('.'))
        sentence.pop_back();
    return sentence;
}
} // namespace

std::unique_ptr<RegularExpression> RegularExpression::compile(const std::string &pattern)
{
    if (hs_valid_platform() != HS_SUCCESS)
        throw PatternError(PatternFault::kInvalid,
                           "unavailable: this processor does not support Vectorscan");
    hs_database_t *database = nullptr;
    hs_compile_error_t *error = nullptr;
    // HS_FLAG_SINGLEMATCH misses expressions that reduce to one byte (Vectorscan 5.4.9); the first
    // match ends the scan anyway.
    if (hs_compile(pattern.c_str(), HS_FLAG_ALLOWEMPTY, HS_MODE_BLOCK, nullptr, &database,
                   &error) != HS_SUCCESS) {
        const std::string message = without_capital(error->message);
        hs_free_compile_error(error);
        throw PatternError(PatternFault::kInvalid, message);
    }
    auto expression = std::make_unique<VectorscanExpression>(database);
    if (!expression->prepare())
        throw PatternError(PatternFault::kInvalid, "out of memory");
    return expression;
}
} // namespace mapi::match
