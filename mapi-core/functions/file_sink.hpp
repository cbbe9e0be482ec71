// SPDX-License-Identifier: MIT
// Record sink: where a record writer's records go; file sink: into an open file.
#pragma once

#include <functional>
#include <string>

namespace mapi::functions
{
// Used by the writer's thread alone.
class RecordSink
{
public:
    // Whether nobody waits for what is written any more.
    using IsGivenUp = std::function<bool()>;

    virtual ~RecordSink() = default;
    // All of it, or nothing: 0, or errno.
    virtual int write(const std::string &bytes, const IsGivenUp &is_given_up) = 0;
};

class FileSink : public RecordSink
{
public:
    // Open for writing, of a pipe with O_NONBLOCK; stays the caller's; the file becomes empty.
    explicit FileSink(int descriptor);
    int write(const std::string &bytes, const IsGivenUp &is_given_up) override;

private:
    bool write_all(const std::string &bytes, const IsGivenUp &is_given_up);
    bool wait_for_reader(const IsGivenUp &is_given_up) const;

    const int descriptor_;
    int broken_ = 0; // errno; a record's part is in a pipe, which nothing takes back
};
} // namespace mapi::functions
