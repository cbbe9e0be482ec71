// SPDX-License-Identifier: MIT
// selection: one flow: a filter, STARTSTOP for the time that was covered, PKTSELECT.
#include "qos/collect/selection.hpp"

#include <cstring>

#include <sys/socket.h>

#include "captures/captures.h"
#include "captures/packet_time.hpp"

namespace qos
{
namespace
{
constexpr uint64_t kNoNtpTime = UINT64_MAX;

int checked(int result)
{
    if (result < 0)
        captures_source::throw_last_error();
    return result;
}

int64_t ns_of(uint64_t ntp)
{
    return int64_t(captures_source::ns_of_ntp(ntp));
}

SelectedPacket packet_of(const mapi_selected_t &selected)
{
    SelectedPacket packet;
    packet.time_ns = ns_of(selected.timestamp);
    packet.digest = selected.digest;
    packet.hash = selected.hash;
    packet.bytes = selected.wire_len;
    packet.hop_limit = selected.hop_limit;
    memcpy(packet.flow.source.data(), selected.source, sizeof(selected.source));
    memcpy(packet.flow.destination.data(), selected.destination, sizeof(selected.destination));
    packet.flow.source_port = selected.source_port;
    packet.flow.destination_port = selected.destination_port;
    packet.flow.version = selected.family == AF_INET ? 4 : 6;
    packet.flow.protocol = selected.protocol;
    return packet;
}
} // namespace

Selection::Selection(const CollectOptions &options, PacketQueue &queue)
    : queue_(queue), captures_(options.source.captures), source_(options.source, captures_)
{
    flow_.number = captures_create_flow(source_.name().c_str(), 0, nullptr);
    checked(flow_.number);
    apply(options);
}

void Selection::apply(const CollectOptions &options)
{
    if (!options.filter.empty())
        checked(mapi_apply_function(flow_.number, "BPF_FILTER", options.filter.c_str()));
    times_ = checked(mapi_apply_function(flow_.number, "STARTSTOP", "0", "0"));
    select_ = checked(mapi_apply_function(flow_.number, "PKTSELECT", options.below,
                                          int64_t(options.key), int(options.payload_bytes), 1));
    checked(mapi_connect(flow_.number));
    reader_ = std::thread([this] { read(); });
}

void Selection::read()
{
    while (const mapi_results_t *results = mapi_read_results(flow_.number, select_)) {
        mapi_selected_t selected;
        memcpy(&selected, results->res, sizeof(selected));
        if (selected.timestamp == kNoNtpTime)
            ++malformed_;
        else
            queue_.push(packet_of(selected));
    }
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(&number, text);
    if (number != MAPI_NO_MORE_RESULTS && !is_stopping_)
        failure_ = text;
    queue_.end();
}

bool Selection::update_counts()
{
    mapi_function_info_t info = {};
    if (mapi_get_function_info(flow_.number, select_, &info) < 0)
        return false;
    counts_.packets = info.pkts;
    counts_.selected = info.passed_pkts;
    counts_.unread = info.unread_headers;
    counts_.dropped = info.dropped;
    counts_.malformed = malformed_;
    const mapi_results_t *const results = mapi_read_results(flow_.number, times_);
    if (!results)
        return false;
    mapi_startstop_t times;
    memcpy(&times, results->res, sizeof(times));
    if (times.last_processed != 0 && times.last_processed != kNoNtpTime) {
        counts_.first_ns = ns_of(times.first_processed);
        counts_.last_ns = ns_of(times.last_processed);
    }
    return true;
}

const SelectionCounts &Selection::counts()
{
    if (!is_stopping_)
        update_counts();
    return counts_;
}

void Selection::stop()
{
    if (!reader_.joinable())
        return;
    update_counts(); // not possible for a function that was removed
    is_stopping_ = true;
    mapi_remove_function(flow_.number, select_); // wakes the reader
    reader_.join();
}

Selection::~Selection()
{
    queue_.close();
    stop();
}

const mapi_stat_t &Selection::stats()
{
    mapi_stat_t stats = {};
    if (mapi_stats(source_.name().c_str(), &stats) == 1)
        stats_ = stats;
    return stats_;
}
} // namespace qos
