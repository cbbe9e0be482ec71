// SPDX-License-Identifier: MIT
// Quota: what one client uses -> accepted, or refused beyond mapid's limits.
#pragma once

#include <memory>

#include "daemon/session/policy.hpp"
#include "daemon/session/users.hpp"
#include "engine/memory/quota.hpp"

namespace mapi::daemon
{
// Charges of a flow, or of a capture without one; returned when it ends.
struct QuotaUses {
    engine::QuotaUse places; // flows or captures
    engine::QuotaUse functions;
    // files or sockets that functions write or send to: each has a thread or a socket
    engine::QuotaUse written;
    engine::QuotaUse files;  // open in mapid
    engine::QuotaUse memory; // of the flows or captures

    void take_over(QuotaUses &&other);
};

// Charges of a capture without a flow of its own.
struct CaptureUses {
    QuotaUses given; // as the client has opened it; until it deletes it
    // as it is read; its flows hold it too, since it stays open with them
    std::shared_ptr<QuotaUses> read;

    void take_over(CaptureUses &&other);
};

// One thread, except for the memory.  Going beyond a limit throws an Error (MAPI_LIMIT_REACHED)
// that names it.
class ClientQuotas
{
public:
    // user: budgets of the client's user, in which everything is counted as well.
    explicit ClientQuotas(const Limits &limits, UserQuotas user = {});

    QuotaUses nothing() const;
    // The files of a capture.
    CaptureUses capture() const;
    void add_place(QuotaUses &uses) const;
    void add_function(QuotaUses &uses) const;
    void add_written(QuotaUses &uses, uint64_t count) const;
    void add_files(QuotaUses &uses, uint64_t count) const;
    // Options stay set, and take memory, as long as the client lives.
    void add_option(uint64_t bytes);

    const UserQuotas &user() const { return user_; }
    // What functions could need, what captures hold, and what flows and options take.
    const std::shared_ptr<engine::Quota> &memory() const { return memory_; }

private:
    const UserQuotas user_;
    const std::shared_ptr<engine::Quota> memory_, places_, functions_, written_, files_;
    uint64_t options_ = 0;
    engine::QuotaUse option_memory_;
};
} // namespace mapi::daemon
