// SPDX-License-Identifier: MIT
// Message encoder: ended flows -> messages of NetFlow v5, NetFlow v9 or IPFIX.
#pragma once

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
    // False: the format has no room for such a flow.
    virtual bool add(const EndedFlow &flow) = 0;
    // A message with what is left.
    virtual void flush() = 0;
};

// When templates are sent: at the beginning, after a message was lost and, to those who may not have heard the first, now and then
// (RFC 3954 9, RFC 7011 8.4).
class TemplateClock
{
public:
    explicit TemplateClock(bool repeats) : repeats_(repeats) {}

    bool is_due(uint64_t now_ns) const
    {
        return is_due_ || (repeats_ && (messages_ >= kMessages || now_ns - sent_ns_ >= kIntervalNs));
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
// Throws std::runtime_error when the build has no IPFIX.
std::unique_ptr<MessageEncoder> make_ipfix(const ReportSettings &settings, const ReportTemplate &records, bool repeats_templates, SendMessage send);
} // namespace mapi::functions
