// SPDX-License-Identifier: MIT
// Record source: a ring's reader for clients.
#include "ring/record_source.hpp"

#include <unistd.h>

namespace mapi::ring
{
Record RecordSource::next(const RingReader::IsAlive &is_alive)
{
    Record record;
    next_many(1, reader_returns_ ? 0 : -1, is_alive, [&](const Record &found) { record = found; });
    return record;
}

bool RecordSource::wait_whether_last(int timeout_ms, const RingReader::IsAlive &is_alive)
{
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock)
        return false;
    const Claim claim(*this);
    if (!reader_.has_begun() || reader_.has_left())
        return false;
    reader_.wait(timeout_ms, is_alive);
    return reader_.is_over();
}

bool RecordSource::may_have_come()
{
    if (event_ < 0 || reader_.is_ended())
        return false; // at the end the descriptor stays readable
    char reported[64];
    while (read(event_, reported, sizeof(reported)) > 0) {
    }
    return reader_.ask_for_poll() && !reader_.is_over();
}
} // namespace mapi::ring
