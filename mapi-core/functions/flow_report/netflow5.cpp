// SPDX-License-Identifier: MIT
// NetFlow v5: IPv4 flows -> messages (Cisco, "NetFlow Export Datagram Format").
#include <algorithm>

#include <netinet/in.h>

#include "functions/flow_report/message_encoder.hpp"

namespace mapi::functions
{
namespace
{
constexpr unsigned kHeaderBytes = 24, kRecordBytes = 48;
constexpr unsigned kRecordsMax = (kMessageBytesMax - kHeaderBytes) / kRecordBytes;
constexpr uint64_t kNsPerMs = 1'000'000;
static_assert(kRecordsMax <= 30); // limit of the format

class Netflow5 : public MessageEncoder
{
public:
    Netflow5(const ReportSettings &settings, SendMessage send)
        : settings_(settings), send_(std::move(send))
    {
    }

    int add(const EndedFlow &flow) override
    {
        if (flow.flow.key.version != 4)
            return EAFNOSUPPORT;
        if (!MessageTime::has_room(flow))
            return EOVERFLOW;
        if (flow.boot_ns != boot_ns_) // a message has one clock
            flush();
        append_record(flow);
        boot_ns_ = flow.boot_ns;
        time_.add(flow);
        if (++count_ == kRecordsMax)
            flush();
        return 0;
    }

    // The time is the last millisecond of the second: nfacctd ignores fractions of a second here,
    // and would otherwise compute a wrong second for flows.
    void flush() override
    {
        if (count_ == 0)
            return;
        const uint64_t second = time_.latest_ns() / MessageTime::kNsPerSecond,
                       part_ns = MessageTime::kNsPerSecond - kNsPerMs;
        std::string message;
        append_number(message, 5, 2);
        append_number(message, count_, 2);
        append_number(message, uptime_ms(boot_ns_, second * MessageTime::kNsPerSecond + part_ns),
                      4);
        append_number(message, second, 4);
        append_number(message, part_ns, 4);
        append_number(message, sequence_, 4);
        append_number(message, 0, 1);                            // engine type
        append_number(message, settings_.observation_domain, 1); // engine
        append_number(message, 0, 2);                            // no sampling
        sequence_ += count_;
        send_(message + records_, count_);
        records_.clear();
        time_.clear();
        count_ = 0;
    }

private:
    void append_record(const EndedFlow &flow)
    {
        const ReportCache::Flow &of = flow.flow;
        const bool is_icmp = of.key.protocol == IPPROTO_ICMP;
        records_.append(reinterpret_cast<const char *>(of.key.source), 4);
        records_.append(reinterpret_cast<const char *>(of.key.destination), 4);
        append_number(records_, 0, 4); // next hop: unknown
        append_number(records_, settings_.ingress_interface.value_or(of.values.interface), 2);
        append_number(records_, settings_.egress_interface, 2);
        append_number(records_, std::min<uint64_t>(of.packets, UINT32_MAX), 4);
        append_number(records_, std::min<uint64_t>(of.values.bytes, UINT32_MAX), 4);
        append_number(records_, uptime_ms(flow.boot_ns, of.first_ns), 4);
        append_number(records_, uptime_ms(flow.boot_ns, of.last_ns), 4);
        append_number(records_, of.key.source_port, 2);
        append_number(records_, is_icmp ? of.values.icmp_type_code : of.key.destination_port, 2);
        append_number(records_, 0, 1);
        append_number(records_, of.values.tcp_flags, 1);
        append_number(records_, of.key.protocol, 1);
        append_number(records_, of.values.type_of_service, 1);
        append_number(records_, 0, 8); // autonomous systems and masks: unknown
    }

    const ReportSettings settings_;
    const SendMessage send_;
    std::string records_;
    unsigned count_ = 0;
    uint32_t sequence_ = 0; // flows before this message
    uint64_t boot_ns_ = 0;
    MessageTime time_;
};
} // namespace

std::unique_ptr<MessageEncoder> make_netflow5(const ReportSettings &settings, SendMessage send)
{
    return std::make_unique<Netflow5>(settings, std::move(send));
}
} // namespace mapi::functions
