// SPDX-License-Identifier: MIT
// Message encoder: ended flows -> messages of NetFlow v5, NetFlow v9 or IPFIX.
#pragma once

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include "functions/flow_report/report_template.hpp"

namespace mapi::functions
{
constexpr size_t kMessageBytesMax = 1400; // fits into an Ethernet packet, even in tunnels

// Takes a message and its number of flows; returns false if it was lost.
using SendMessage = std::function<bool(const std::string &message, uint64_t flows)>;

// Used by one thread.
class MessageEncoder
{
public:
    virtual ~MessageEncoder() = default;
    // Returns 0 or errno: the format cannot represent the flow, EAFNOSUPPORT for its addresses,
    // EOVERFLOW for its time.
    virtual int add(const EndedFlow &flow) = 0;
    // Sends a message with the remaining flows.
    virtual void flush() = 0;
};

// The time of a message is that of its flow that ended last: collectors mistake a later time for a
// clock that has wrapped.
class MessageTime
{
public:
    // Seconds have 32 bits in all three formats.
    static bool has_room(const EndedFlow &flow)
    {
        return flow.ended_ns / kNsPerSecond < UINT32_MAX;
    }

    void add(const EndedFlow &flow) { latest_ns_ = std::max(latest_ns_, flow.ended_ns); }
    void clear() { latest_ns_ = 0; }
    uint64_t latest_ns() const { return latest_ns_; }
    // For headers with whole seconds: rounded up.
    uint64_t next_second() const { return (latest_ns_ + kNsPerSecond - 1) / kNsPerSecond; }

    static constexpr uint64_t kNsPerSecond = 1'000'000'000;

private:
    uint64_t latest_ns_ = 0;
};

// When to send templates: at the beginning, after a lost message and, for collectors that may have
// missed the first, periodically (RFC 3954 9, RFC 7011 8.4).
class TemplateClock
{
public:
    explicit TemplateClock(bool repeats) : repeats_(repeats) {}

    bool is_due(uint64_t now_ns) const
    {
        const uint64_t since_ns = now_ns > sent_ns_
                                      ? now_ns - sent_ns_
                                      : sent_ns_ - now_ns; // flows end nearly in order of time
        return is_due_ || (repeats_ && (messages_ >= kMessages || since_ns >= kIntervalNs));
    }
    void sent(uint64_t now_ns)
    {
        is_due_ = false;
        messages_ = 0;
        sent_ns_ = now_ns;
    }
    void message(bool has_arrived)
    {
        ++messages_;
        is_due_ |= !has_arrived;
    }

private:
    static constexpr unsigned kMessages = 64;
    static constexpr uint64_t kIntervalNs = 60'000'000'000;

    const bool repeats_;
    bool is_due_ = true;
    unsigned messages_ = 0;
    uint64_t sent_ns_ = 0;
};

std::unique_ptr<MessageEncoder> make_netflow5(const ReportSettings &settings, SendMessage send);
std::unique_ptr<MessageEncoder> make_netflow9(const ReportSettings &settings,
                                              const ReportTemplate &records, bool repeats_templates,
                                              SendMessage send);
// has_biflows: the values of a flow's other direction may follow in its record (RFC 5103).  Throws
// std::runtime_error if built without IPFIX.
std::unique_ptr<MessageEncoder> make_ipfix(const ReportSettings &settings,
                                           const ReportTemplate &records, bool has_biflows,
                                           bool repeats_templates, SendMessage send);
} // namespace mapi::functions
