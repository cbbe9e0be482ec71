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
// How long the first of these records is, which are whole ones.
using RecordBytes = size_t (*)(std::string_view records);

// Used by the writer's thread alone.
class RecordSink
{
public:
    // Whether nobody waits for what is written any more.
    using IsGivenUp = std::function<bool()>;

    virtual ~RecordSink() = default;
    // All of it, or nothing: 0, or errno.
    virtual int write(const std::string &bytes, const IsGivenUp &is_given_up) = 0;
    // The same of records, but as many of them as there is room for.  written: how many these are, where it is not all.
    virtual int write_records(const std::string &records, const IsGivenUp &is_given_up, uint64_t &written)
    {
        written = 0;
        return write(records, is_given_up);
    }
};

class FileSink : public RecordSink
{
public:
    // Open for writing, of a pipe with O_NONBLOCK; stays the caller's.  The file becomes empty, but for one
    // with O_APPEND, where what it has stays in front.
    // record_bytes: null where nobody can tell a record from the next, so that all of a write's are kept, or none.
    explicit FileSink(int descriptor, RecordBytes record_bytes = nullptr);
    int write(const std::string &bytes, const IsGivenUp &is_given_up) override;
    int write_records(const std::string &records, const IsGivenUp &is_given_up, uint64_t &written) override;

private:
    size_t write_some(const std::string &bytes, const IsGivenUp &is_given_up);
    void end_at(off_t end, int error);
    bool wait_for_reader(const IsGivenUp &is_given_up) const;

    const int descriptor_;
    const RecordBytes record_bytes_;
    int broken_ = 0; // errno; a record's part is in a pipe, or in a file that cannot be cut, and nothing takes it back
};
} // namespace mapi::functions
