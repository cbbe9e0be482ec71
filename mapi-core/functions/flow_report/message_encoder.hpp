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
constexpr size_t kMessageBytesMax = 1400; // fits into a packet of Ethernet, in tunnels, too

// What a message holds, and how many flows; false: it was lost.
using SendMessage = std::function<bool(const std::string &message, uint64_t flows)>;

// One thread.
class MessageEncoder
{
public:
    virtual ~MessageEncoder() = default;
    // 0, or errno: the format has no room for such a flow, EAFNOSUPPORT for its addresses, EOVERFLOW for its time.
    virtual int add(const EndedFlow &flow) = 0;
    // A message with what is left.
    virtual void flush() = 0;
};

// The time of a message is that of its flow that ended last: collectors take a later time for a clock that has wrapped.
class MessageTime
{
public:
    // Seconds have 32 bits in all three formats.
    static bool has_room(const EndedFlow &flow) { return flow.ended_ns / kNsPerSecond < UINT32_MAX; }

    void add(const EndedFlow &flow) { latest_ns_ = std::max(latest_ns_, flow.ended_ns); }
    void clear() { latest_ns_ = 0; }
    uint64_t latest_ns() const { return latest_ns_; }
    // Where a header has whole seconds, the next one.
    uint64_t next_second() const { return (latest_ns_ + kNsPerSecond - 1) / kNsPerSecond; }

    static constexpr uint64_t kNsPerSecond = 1'000'000'000;

private:
    uint64_t latest_ns_ = 0;
};

// When templates are sent: at the beginning, after a message was lost and, to those who may not have heard the first, now and then
// (RFC 3954 9, RFC 7011 8.4).
class TemplateClock
{
public:
    explicit TemplateClock(bool repeats) : repeats_(repeats) {}

    bool is_due(uint64_t now_ns) const
    {
        const uint64_t since_ns = now_ns > sent_ns_ ? now_ns - sent_ns_ : sent_ns_ - now_ns; // flows end nearly in the order of time
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
std::unique_ptr<MessageEncoder> make_netflow9(const ReportSettings &settings, const ReportTemplate &records, bool repeats_templates, SendMessage send);
// has_biflows: a flow may have its other direction with it, whose values follow in the record (RFC 5103).  Throws std::runtime_error when the
// build has no IPFIX.
std::unique_ptr<MessageEncoder> make_ipfix(const ReportSettings &settings, const ReportTemplate &records, bool has_biflows, bool repeats_templates,
                                           SendMessage send);
} // namespace mapi::functions
