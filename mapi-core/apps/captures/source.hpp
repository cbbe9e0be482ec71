// SPDX-License-Identifier: MIT
// Source: captures opened as one device, or a device -> its name for flows, its statistics, and
// what is missing from results.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <mapi/mapi.h>

#include "captures/captures.h"

namespace captures_source
{
// An error from libmapi, with its text.
class MapiError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// `object` precedes the text, such as "--count: ".
[[noreturn]] void throw_last_error(const char *object = "");

struct SourceOptions {
    std::string device;                // empty: captures are read
    std::vector<std::string> captures; // files, folders, "-"
    bool is_erf = false;
    bool waits = false;            // for a device that does not exist yet
    uint64_t packets = 0;          // to stop after; 0: all
    const char *program = nullptr; // for notes; null: no notes

    bool is_device() const { return !device.empty(); }
};

// Empty for a device.
class CaptureList
{
public:
    // Throws MapiError.
    explicit CaptureList(const std::vector<std::string> &paths);
    ~CaptureList() { captures_free(&list_); }
    CaptureList(const CaptureList &) = delete;
    CaptureList &operator=(const CaptureList &) = delete;

    const captures &list() const { return list_; }
    bool has_stream() const { return captures_have_stream(&list_) != 0; }

private:
    captures list_ = {};
};

class Source
{
public:
    // Throws MapiError.
    Source(const SourceOptions &options, const CaptureList &list);
    ~Source();
    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;

    const std::string &name() const { return name_; }
    // Captures are read from here on.
    void start();
    // Works even after all other flows are closed.
    mapi_stat_t stats() const;

private:
    // Before the first flow.
    void limit_packets(const SourceOptions &options) const;

    std::string name_;
    char *made_ = nullptr;
    int flow_ = 0; // never connected; keeps the device open
};

// Whether results include all packets; reports what is missing as the program.  `remedy`: what to
// do if a buffer was full.
bool is_whole(const mapi_stat_t &stats, const char *program, const char *remedy);
} // namespace captures_source
