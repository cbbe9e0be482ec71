// SPDX-License-Identifier: MIT
#include "captures/source.hpp"

#include <climits>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "common/command/tell.hpp"

namespace captures_source
{
namespace
{
void tell_loss(const char *program, uint64_t count, const char *one, const char *many,
               const std::string &why)
{
    if (count > 0)
        command::tell("{}: {} {}\n", program, command::counted(count, one, many), why);
}
} // namespace

void throw_last_error(const char *object)
{
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "unknown error";
    mapi_read_error(&number, text);
    throw MapiError(fmt::format("{}{} (error {})", object, text, number));
}

CaptureList::CaptureList(const std::vector<std::string> &paths)
{
    char why[PATH_MAX + 256];
    for (const std::string &path : paths) {
        if (captures_add(&list_, path.c_str(), why, sizeof(why)) == 0)
            continue;
        captures_free(&list_);
        throw MapiError(why);
    }
}

Source::Source(const SourceOptions &options, const CaptureList &list) : name_(options.device)
{
    if (options.is_device()) {
        limit_packets(options);
        flow_ = captures_create_flow(name_.c_str(), options.waits, options.program);
        if (flow_ < 0)
            throw_last_error();
        return;
    }
    made_ = captures_open(&list.list(), options.is_erf ? MFF_DAG_ERF : MFF_PCAP, options.program);
    if (!made_)
        throw_last_error();
    name_ = made_;
    limit_packets(options);
}

Source::~Source()
{
    if (made_)
        mapi_delete_offline_device(made_);
    else
        mapi_close_flow(flow_);
}

void Source::start()
{
    if (made_ && mapi_start_offline_device(made_) < 0)
        throw_last_error();
}

mapi_stat_t Source::stats() const
{
    mapi_stat_t stats = {};
    if (mapi_stats(name_.c_str(), &stats) < 1)
        throw_last_error();
    return stats;
}

void Source::limit_packets(const SourceOptions &options) const
{
    if (options.packets > 0 && mapi_set_device_option(name_.c_str(), "packets",
                                                      std::to_string(options.packets).c_str()) < 0)
        throw_last_error("--count: ");
}

bool is_whole(const mapi_stat_t &stats, const char *program, const char *remedy)
{
    constexpr const char *kOne = "packet was", *kMany = "packets were";
    constexpr const char *kOneOfBoth = "packet or result was", *kBoth = "packets or results were";
    tell_loss(program, stats.drop_kernel, kOne, kMany,
              "dropped because the kernel's buffer was full (increase buffer_mb in mapi.conf)");
    tell_loss(program, stats.ps_ifdrop, kOne, kMany, "lost by the interface or during recording");
    tell_loss(program, stats.drop_buffer_full, kOneOfBoth, kBoth,
              fmt::format("dropped because a function's buffer was full ({})", remedy));
    tell_loss(program, stats.drop_link_type, "time", "times",
              "a function or a file did not support the link type of a packet (LINK TYPES in "
              "mapi(3))");
    tell_loss(program, stats.drop_not_written, kOneOfBoth, kBoth, "not written to a file");
    for (const char *text : {stats.message, stats.remark}) {
        if (*text)
            command::tell("{}: {}\n", program, text);
    }
    return (stats.drop_kernel | stats.ps_ifdrop | stats.drop_buffer_full | stats.drop_not_written |
            stats.unread_bytes) == 0 &&
           !*stats.message;
}
} // namespace captures_source
