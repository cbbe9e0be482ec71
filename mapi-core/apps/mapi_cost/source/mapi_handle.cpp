// SPDX-License-Identifier: MIT
// mapi_handle: libmapi's descriptors -> objects that close them, its errors -> exceptions.
#include "mapi_handle.hpp"

#include <utility>

#include "flow_expression/apply_call.hpp"

namespace mapi_cost
{
namespace
{
[[noreturn]] void fail(const std::string &what)
{
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "unknown error";
    mapi_read_error(&number, text);
    throw MapiError(what + text + " (error " + std::to_string(number) + ")");
}

void set_option(const char *device, const char *key, uint64_t value)
{
    if (mapi_set_device_option(device, key, std::to_string(value).c_str()) != 0)
        fail(""); // the text names device or key
}
} // namespace

mapi_stat_t device_stats(const std::string &name)
{
    mapi_stat_t stats = {};
    if (mapi_stats(name.c_str(), &stats) != 1)
        fail("");
    return stats;
}

void set_batch(const std::string &device, unsigned packets)
{
    set_option(device.c_str(), "batch", packets);
}

Device::Device(const std::string &path, uint64_t repeat, unsigned batch)
    : path_(path), name_(mapi_create_offline_device(path.c_str(), MFF_PCAP))
{
    if (!name_)
        fail("");
    try {
        set_option(name_, "repeat", repeat);
        set_batch(name_, batch);
    } catch (...) {
        mapi_delete_offline_device(name_);
        throw;
    }
}

Device::~Device()
{
    mapi_delete_offline_device(name_);
}

void Device::start()
{
    if (mapi_start_offline_device(name_) != 0)
        fail("");
}

mapi_stat_t Device::stats() const
{
    return device_stats(name_);
}

void Device::expect_packets(uint64_t packets) const
{
    const uint64_t given = stats().ps_recv;
    if (given != packets)
        throw MapiError(path_ + ": changed while it was measured: it gave " +
                        std::to_string(given) + " packets instead of " + std::to_string(packets) +
                        " (measure a copy that is not being written)");
}

Flow::Flow(const Device &device) : Flow(mapi_create_flow(device.name())) {}

Flow::Flow(int descriptor) : descriptor_(descriptor)
{
    if (descriptor_ < 0)
        fail("");
}

Flow::~Flow()
{
    if (descriptor_ >= 0)
        mapi_close_flow(descriptor_);
}

Flow::Flow(Flow &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), functions_(std::move(other.functions_))
{
}

int Flow::apply(const flow_expression::Call &call)
{
    const int function = flow_expression::apply_call(descriptor_, call, functions_);
    if (function < 0)
        fail("");
    functions_.push_back(function);
    return function;
}

int Flow::apply_to_file(const std::string &path, int packets)
{
    const int function =
        mapi_apply_function(descriptor_, "TO_FILE", MFF_PCAP, path.c_str(), packets);
    if (function < 0)
        fail("");
    return function;
}

int Flow::file_state(int function) const
{
    const mapi_results_t *results = mapi_read_results(descriptor_, function);
    if (!results)
        fail("");
    return int(*static_cast<const uint32_t *>(results->res));
}

void Flow::connect()
{
    if (mapi_connect(descriptor_) != 0)
        fail("");
}

bool Flow::wait(int timeout_ms)
{
    if (mapi_wait_flow(descriptor_, timeout_ms) == 0)
        return true;
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(&number, text);
    if (number == MAPI_TIMED_OUT)
        return false;
    throw MapiError(text);
}

uint64_t Flow::counter(int function) const
{
    const mapi_results_t *results = mapi_read_results(descriptor_, function);
    if (!results)
        fail("");
    return *static_cast<const uint64_t *>(results->res);
}

mapi_function_info_t Flow::describe(int function) const
{
    mapi_function_info_t info = {};
    if (mapi_get_function_info(descriptor_, function, &info) != 0)
        fail("");
    return info;
}

int Flow::link_type() const
{
    mapi_flow_info_t flow = {};
    mapi_device_info_t device = {};
    if (mapi_get_flow_info(descriptor_, &flow) != 0 ||
        mapi_get_device_info(flow.devid, &device) != 0)
        fail("");
    return device.link_type;
}
} // namespace mapi_cost
