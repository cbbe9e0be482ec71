// SPDX-License-Identifier: MIT
// Quota: what one client uses, against its limits.
#include "daemon/session/client_quotas.hpp"

#include <string>

#include "engine/error.hpp"

namespace mapi::daemon
{
namespace
{
constexpr uint64_t kWrittenMax = 256;
constexpr uint64_t kOptionsMax = 4096;
constexpr uint64_t kOptionBytesMax = 4096; // key and value
constexpr uint64_t kPlaceBytes = 8192;     // for a flow without functions
constexpr uint64_t kOptionBytes = 128;     // in addition to key and value
constexpr const char *kBytesOfMemory = "bytes of memory for flows, functions and captures";

std::shared_ptr<engine::Quota> make(uint64_t most, const char *name,
                                    std::shared_ptr<engine::Quota> user = {})
{
    return std::make_shared<engine::Quota>(most, name, "the client", std::move(user));
}

void add(engine::QuotaUse &charge, uint64_t count, const engine::Quota &quota,
         const std::string &of_what)
{
    if (charge.add(count))
        return;
    const engine::Quota &full = quota.short_of(count);
    throw Error(MAPI_LIMIT_REACHED, full.owner() + " has " + std::to_string(full.used()) + " " +
                                        of_what + "; mapid's limit is " +
                                        std::to_string(full.most()) + " (" + full.name() + ")");
}
} // namespace

void QuotaUses::take_over(QuotaUses &&other)
{
    places.take_over(std::move(other.places));
    functions.take_over(std::move(other.functions));
    written.take_over(std::move(other.written));
    files.take_over(std::move(other.files));
    memory.take_over(std::move(other.memory));
}

void CaptureUses::take_over(CaptureUses &&other)
{
    given.take_over(std::move(other.given));
    read->take_over(std::move(*other.read));
}

ClientQuotas::ClientQuotas(const Limits &limits, UserQuotas user)
    : user_(std::move(user)),
      memory_(make(limits.function_bytes, "--max-function-memory", user_.memory)),
      places_(make(limits.flows, "--max-flows")),
      functions_(make(limits.functions, "--max-functions")), written_(make(kWrittenMax, "fixed")),
      files_(make(limits.files, "a share of LimitNOFILE=", user_.files)), option_memory_(memory_)
{
}

QuotaUses ClientQuotas::nothing() const
{
    return {engine::QuotaUse(places_), engine::QuotaUse(functions_), engine::QuotaUse(written_),
            engine::QuotaUse(files_), engine::QuotaUse(memory_)};
}

CaptureUses ClientQuotas::capture() const
{
    CaptureUses uses = {nothing(), std::make_shared<QuotaUses>(nothing())};
    add_files(uses.given, 1);
    add_files(*uses.read, 1);
    return uses;
}

void ClientQuotas::add_place(QuotaUses &uses) const
{
    add(uses.places, 1, *places_, "flows and captures");
    add(uses.memory, kPlaceBytes, *memory_, kBytesOfMemory);
}

void ClientQuotas::add_function(QuotaUses &uses) const
{
    add(uses.functions, 1, *functions_, "functions");
}

void ClientQuotas::add_written(QuotaUses &uses, uint64_t count) const
{
    add(uses.written, count, *written_, "functions that write or send");
}

void ClientQuotas::add_files(QuotaUses &uses, uint64_t count) const
{
    add(uses.files, count, *files_, "files open in mapid");
}

void ClientQuotas::add_option(uint64_t bytes)
{
    if (bytes > kOptionBytesMax)
        throw Error(MFUNCT_INVALID_ARGUMENT_3,
                    "an option has more than " + std::to_string(kOptionBytesMax) + " bytes");
    if (options_ == kOptionsMax)
        throw Error(MAPI_LIMIT_REACHED, "the client has set " + std::to_string(kOptionsMax) +
                                            " options, which is mapid's limit");
    add(option_memory_, bytes + kOptionBytes, *memory_, kBytesOfMemory);
    ++options_;
}
} // namespace mapi::daemon
