// SPDX-License-Identifier: MIT
// Live source: the table members that drivers of live sources have in common.
#pragma once

#include <exception>
#include <memory>
#include <stdexcept>

#include <mapi/driver.h>
#include <mapi/errors.h>
#include <mapi/explain.h>

namespace mapi::drivers
{
// Remedy if permission is denied.
inline constexpr char kCapturePrivilege[] =
    " (capturing requires CAP_NET_RAW: run as root, or grant it with setcap cap_net_raw+ep "
    "PROGRAM)";

// There is currently no interface of that name.
class NoInterface : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// For a class with info(), start(), read(), wait(), copy_stats(), interrupt() and set_filter(),
// constructed from a path and options.
template <class Source> struct LiveSource {
    static int open(const mapi_driver_setup *setup, void **instance, mapi_driver_info *info)
    {
        return guard(setup->error, setup->error_bytes, [&] {
            auto source = std::make_unique<Source>(setup->path, setup->options);
            *info = source->info();
            *instance = source.release();
        });
    }
    static int start(void *instance, char *error, uint32_t error_bytes)
    {
        return guard(error, error_bytes, [&] { of(instance).start(); });
    }
    static int read(void *instance, mapi_packet *packets, uint32_t limit, mapi_batch *batch)
    {
        return of(instance).read(packets, limit, *batch);
    }
    // For a class that also has read_more().
    static int read_more(void *instance, mapi_packet *packets, uint32_t limit, mapi_batch *batch)
    {
        return of(instance).read_more(packets, limit, *batch);
    }
    static int wait(void *instance) { return of(instance).wait(); }
    static void stats(void *instance, mapi_driver_stats *stats) { of(instance).copy_stats(stats); }
    static void interrupt(void *instance) { of(instance).interrupt(); }
    static int set_filter(void *instance, const mapi_filter_code *code, uint32_t count)
    {
        return of(instance).set_filter(code, count);
    }
    static void close(void *instance) { delete &of(instance); }

    static constexpr mapi_driver_live kLive = {
        .struct_size = sizeof(mapi_driver_live),
        .start = start,
        .wait = wait,
    };
    static constexpr mapi_driver_filter kFilter = {
        .struct_size = sizeof(mapi_driver_filter),
        .set_filter = set_filter,
        .set_prefilter = nullptr,
    };

private:
    static Source &of(void *instance) { return *static_cast<Source *>(instance); }

    // 0, or an error number with its text.
    template <class Call> static int guard(char *error, uint32_t error_bytes, Call call)
    {
        try {
            call();
            return 0;
        } catch (const NoInterface &problem) {
            mapi_explain(error, error_bytes, problem.what());
            return MAPID_NO_DEVICE;
        } catch (const std::exception &problem) {
            mapi_explain(error, error_bytes, problem.what());
            return PCAP_OPEN_ERR;
        }
    }
};
} // namespace mapi::drivers
