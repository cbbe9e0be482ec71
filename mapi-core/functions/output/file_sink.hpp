// SPDX-License-Identifier: MIT
// Record sink: where a record writer's records go; file sink: into an open file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace mapi::functions
{
// Returns the length of the first of these complete records.
using RecordBytes = size_t (*)(std::string_view records);

// Used only by the writer's thread.
class RecordSink
{
public:
    // Whether no caller waits for the output any longer.
    using IsGivenUp = std::function<bool()>;

    virtual ~RecordSink() = default;
    // Writes all of it or nothing.  Returns 0 or errno.
    virtual int write(const std::string &bytes, const IsGivenUp &is_given_up) = 0;
    // The same for records, but writes as many as fit.  written: their number if not all were
    // written.
    virtual int write_records(const std::string &records, const IsGivenUp &is_given_up,
                              uint64_t &written)
    {
        written = 0;
        return write(records, is_given_up);
    }
};

class FileSink : public RecordSink
{
public:
    // The descriptor is open for writing, a pipe with O_NONBLOCK, and remains the caller's.  The
    // file is truncated, or with O_APPEND keeps its contents before the new records.  record_bytes:
    // null if record boundaries are unknown; then a write is kept as a whole or not at all.
    explicit FileSink(int descriptor, RecordBytes record_bytes = nullptr);
    int write(const std::string &bytes, const IsGivenUp &is_given_up) override;
    int write_records(const std::string &records, const IsGivenUp &is_given_up,
                      uint64_t &written) override;

private:
    size_t write_some(const std::string &bytes, const IsGivenUp &is_given_up);
    void end_at(off_t end, int error);
    bool wait_for_reader(const IsGivenUp &is_given_up) const;

    const int descriptor_;
    const RecordBytes record_bytes_;
    int broken_ = 0; // errno: a partial record in a pipe or file that cannot be undone
};
} // namespace mapi::functions
