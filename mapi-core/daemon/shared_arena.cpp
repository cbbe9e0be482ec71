// SPDX-License-Identifier: MIT
// Shared arena: two sealed memory files that one client maps.
#include "daemon/shared_arena.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <mapi/errors.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/error.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace mapi::daemon
{
namespace
{
constexpr size_t kAlign = 64;

size_t rounded(size_t bytes)
{
    return (std::max(bytes, size_t(1)) + kAlign - 1) & ~(kAlign - 1);
}

[[noreturn]] void fail(const char *what)
{
    throw Error(MAPI_LIMIT_REACHED, std::string("mapid ") + what + ": " + strerror(errno));
}
} // namespace

SharedPiece::SharedPiece(const char *name, size_t bytes, bool clients_may_write,
                         std::shared_ptr<engine::Quota> user)
    : file_(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)),
      user_(user ? std::move(user) : std::make_shared<engine::Quota>())
{
    if (!file_.is_open() || ftruncate(file_.number(), off_t(bytes)) < 0)
        fail("cannot create shared memory");
    mapping_ = ipc::Mapping(file_.number(), bytes, true);
    if (!mapping_.data())
        fail("cannot map shared memory");
    // From here on it can neither shrink under the engine nor be written by a client.
    const int seals =
        F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (clients_may_write ? 0 : F_SEAL_FUTURE_WRITE);
    if (fcntl(file_.number(), F_ADD_SEALS, seals) < 0)
        fail("cannot seal shared memory");
    free_.emplace(0, bytes);
}

void *SharedPiece::allocate(size_t bytes)
{
    if (bytes > mapping_.bytes()) // rounding up must not wrap around to 0
        return nullptr;
    bytes = rounded(bytes);
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(free_.begin(), free_.end(),
                                    [bytes](const auto &piece) { return piece.second >= bytes; });
    is_user_short_ = false;
    if (found == free_.end())
        return nullptr;
    const auto [offset, room] = *found;
    is_user_short_ = offset + bytes > used_until_ && !user_.add(offset + bytes - used_until_);
    if (is_user_short_)
        return nullptr;
    free_.erase(found);
    if (room > bytes)
        free_.emplace(offset + bytes, room - bytes);
    if (offset < used_until_)
        memset(mapping_.data() + offset, 0, std::min(bytes, used_until_ - offset));
    used_until_ = std::max(used_until_, offset + bytes);
    return mapping_.data() + offset;
}

void SharedPiece::release(void *memory, size_t bytes)
{
    const size_t offset = offset_of(memory);
    bytes = rounded(bytes);
    const std::lock_guard lock(mutex_);
    auto piece = free_.emplace(offset, bytes).first;
    if (const auto next = std::next(piece);
        next != free_.end() && piece->first + piece->second == next->first) {
        piece->second += next->second;
        free_.erase(next);
    }
    if (piece != free_.begin()) {
        const auto before = std::prev(piece);
        if (before->first + before->second == piece->first) {
            before->second += piece->second;
            free_.erase(piece);
        }
    }
}

SharedArena::SharedArena(size_t engine_bytes, size_t client_bytes,
                         const std::shared_ptr<engine::Quota> &user)
    : engine_("mapi-results", engine_bytes, false, user),
      client_("mapi-client", client_bytes, true, user)
{
}

void *SharedArena::allocate(Side side, size_t bytes)
{
    void *const memory = piece(side).allocate(bytes);
    if (!memory)
        has_refused_ = true;
    return memory;
}
} // namespace mapi::daemon
