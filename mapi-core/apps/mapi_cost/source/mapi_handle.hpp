// SPDX-License-Identifier: MIT
// mapi_handle: libmapi's descriptors -> objects that close them, its errors -> exceptions; Ctrl-C,
// checked wherever the program waits.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <mapi/mapi.h>
#include <mapi/packet.h>

#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "flow_expression/call.hpp"

namespace mapi_cost
{
// An error from libmapi, with its text.
class MapiError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The device must be open.
mapi_stat_t device_stats(const std::string &name);

// For a device that has no flow yet.
void set_batch(const std::string &device, unsigned packets);

// A capture file as a device.  It must outlive its flows.
class Device
{
public:
    Device(const std::string &path, uint64_t repeat, unsigned batch);
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    const char *name() const { return name_; }
    void start();
    mapi_stat_t stats() const;
    // Throws MapiError if the file did not give this many packets, because it has changed.
    void expect_packets(uint64_t packets) const;

private:
    const std::string path_;
    char *name_;
};

class Flow
{
public:
    explicit Flow(const Device &device);
    explicit Flow(int descriptor); // just created; -1: creating it failed
    ~Flow();
    Flow(Flow &&other) noexcept;
    Flow(const Flow &) = delete;
    Flow &operator=(const Flow &) = delete;

    int descriptor() const { return descriptor_; }
    int apply(const flow_expression::Call &call);
    // Returns the function's id, for file_state().
    int apply_to_file(const std::string &path, int packets);
    int file_state(int function) const; // MAPI_FILE_
    void connect();
    // False on timeout.
    bool wait(int timeout_ms);
    uint64_t counter(int function) const;
    mapi_function_info_t describe(int function) const;
    int link_type() const; // -1 before the first packet

private:
    int descriptor_;
    std::vector<int> functions_; // by position, for calls that refer to them
};

// Throws command::Interrupted.
inline void stop_if_interrupted()
{
    if (command_was_interrupted())
        throw command::Interrupted();
}
} // namespace mapi_cost
