// SPDX-License-Identifier: MIT
// Shared arena: two sealed memory files that one client maps: the engine's, which the client can
// only read, and the client's own.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include "engine/memory/arena.hpp"
#include "engine/memory/quota.hpp"
#include "ipc/descriptor.hpp"
#include "ipc/mapping.hpp"

namespace mapi::daemon
{
// One memory file: first fit, kept in order so that neighbours are merged.  Memory is taken from
// the system page by page as it is used, and returned with the client: a sealed file cannot have
// holes punched (fcntl(2), F_SEAL_FUTURE_WRITE).
class SharedPiece
{
public:
    // user: the memory quota of the client's user; null: not counted.  Throws Error.
    SharedPiece(const char *name, size_t bytes, bool clients_may_write,
                std::shared_ptr<engine::Quota> user = {});

    // Null: there is no room, or the user's limit is reached, see is_user_short().
    void *allocate(size_t bytes);
    void release(void *memory, size_t bytes);
    bool is_user_short() const { return is_user_short_; }
    uint64_t offset_of(const void *memory) const
    {
        return uint64_t(static_cast<const uint8_t *>(memory) - mapping_.data());
    }
    int descriptor() const { return file_.number(); }
    size_t bytes() const { return mapping_.bytes(); }

private:
    ipc::Descriptor file_;
    ipc::Mapping mapping_;
    std::mutex mutex_;              // protects all members below
    std::map<size_t, size_t> free_; // offset -> bytes
    size_t used_until_ = 0;         // the memory after it was never used and contains zeros
    engine::QuotaUse user_;         // for the memory before it
    std::atomic<bool> is_user_short_ = false; // for the last refusal; not protected by the lock
};

class SharedArena final : public engine::Arena
{
public:
    SharedArena(size_t engine_bytes, size_t client_bytes,
                const std::shared_ptr<engine::Quota> &user = {});

    void *allocate(Side side, size_t bytes) override;
    void release(Side side, void *memory, size_t bytes) override
    {
        piece(side).release(memory, bytes);
    }
    bool is_shared() const override { return true; }
    // Whether there was no room since the last call.
    bool take_refusal() { return has_refused_.exchange(false); }
    bool is_user_short() const { return engine_.is_user_short() || client_.is_user_short(); }
    SharedPiece &piece(Side side) { return side == Side::kEngine ? engine_ : client_; }

private:
    SharedPiece engine_;
    SharedPiece client_;
    std::atomic<bool> has_refused_ = false;
};
} // namespace mapi::daemon
