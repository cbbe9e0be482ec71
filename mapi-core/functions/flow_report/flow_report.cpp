// SPDX-License-Identifier: MIT
// FLOW_REPORT: packet -> flows, reported as messages of NetFlow v5, NetFlow v9 or IPFIX.  Lets
// every packet pass.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/unread_packets.hpp"
#include "functions/flow_report/exporter_clock.hpp"
#include "functions/flow_report/report_sink.hpp"
#include "functions/output/record_writer.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kFormat, kTransport, kKey, kRecord };
enum class Format { kNetflow5, kNetflow9, kIpfix };

constexpr uint64_t kNsPerSecond = 1000000000;
constexpr size_t kQueueRoom = 512; // messages, as in MAPI 2

constexpr char kDefaultRecord9[] = "IP_SRC_ADDR IP_DST_ADDR INGRESS EGRESS PKTS BYTES "
                                   "FIRST_SWITCHED LAST_SWITCHED L4_SRC_PORT L4_DST_PORT "
                                   "TCP_FLAGS PROT TOS ICMP_TYPE";
constexpr char kDefaultRecordIpfix[] = "IP_SRC_ADDR IP_DST_ADDR INGRESS EGRESS PKTS BYTES "
                                       "FLOW_START_MS FLOW_END_MS L4_SRC_PORT L4_DST_PORT "
                                       "TCP_FLAGS PROT TOS ICMP_TYPE FLOW_END_REASON";

// The reason why a format cannot represent some flows.
const char *why_refused(int error)
{
    switch (error) {
    case EAFNOSUPPORT:
        return "IPv6 flows are not written: NETFLOW_V5 supports only IPv4 (use NETFLOW_V9 or "
               "IPFIX)";
    case EOVERFLOW:
        return "flows that end after 2106-02-07 are not written: messages count seconds in 32 bits";
    default: return nullptr;
    }
}

struct Plan {
    Format format;
    ReportSettings settings;
    FlowKeyMask key;
    ReportTemplate records;
};

class FlowReport
{
    auto on_end()
    {
        return [this](const ReportCache::Flow &flow, FlowEnd reason, uint64_t ended_ns) {
            hand_over(flow, reason, ended_ns);
        };
    }

public:
    // At the end all flows are passed to the writer at once, which appends them to the waiting
    // ones.
    static uint64_t memory_bytes(const ReportSettings &settings)
    {
        return ReportCache::memory_bytes(settings.room) +
               2 * uint64_t(settings.room) * sizeof(EndedFlow) + RecordWriter::kMemoryBytes;
    }

    FlowReport(const mapi_function_setup *setup, const Plan &plan)
        : settings_(plan.settings), key_(plan.key),
          cache_(settings_.room,
                 {settings_.idle_seconds * kNsPerSecond, settings_.active_seconds * kNsPerSecond}),
          queue_(is_queued(setup) ? std::make_unique<ReportQueue>(setup, kQueueRoom) : nullptr),
          writer_(make_sink(setup, plan), is_offline(setup), [this] { end_queue(); })
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        unread_.note(batch, mask);
        for (; mask != 0; mask &= mask - 1)
            take(batch.packets[std::countr_zero(mask)]);
        give_to_writer(0);
    }

    void tick(uint64_t now_ns)
    {
        cache_.advance(now_ns, on_end());
        give_to_writer(0);
    }

    // Does not block: passes all flows at once.
    void end()
    {
        is_ending_ = true;
        ended_.reserve(ended_.size() + cache_.size() * sizeof(EndedFlow));
        cache_.end_all(on_end());
        writer_.finish(ended_, std::exchange(ended_count_, 0));
    }

    // Messages in the queue wait for their reader, not for the end of the flow.
    bool is_settled() { return queue_ || writer_.is_settled(); }

    void cancel() { writer_.cancel(); }

    void drops(mapi_function_drops *drops) const
    {
        drops->time_jumps = cache_.time_jumps();
        drops->not_written = losses_.flows.load(std::memory_order_relaxed);
        drops->write_error = losses_.error.load(std::memory_order_relaxed);
        drops->write_reason = why_refused(drops->write_error);
        writer_.add_drops(drops);
        unread_.add_drops(drops);
    }

private:
    static bool is_file(const mapi_function_setup *setup)
    {
        return setup->arguments[kTransport].number >= 0;
    }
    static bool is_queued(const mapi_function_setup *setup)
    {
        return strcmp(setup->arguments[kTransport].text, "SHMEM") == 0;
    }

    void end_queue()
    {
        if (queue_)
            queue_->end();
    }

    std::unique_ptr<RecordSink> make_sink(const mapi_function_setup *setup, const Plan &plan)
    {
        const mapi_argument &transport = setup->arguments[kTransport];
        auto target = is_file(setup) ? make_file_target(int(transport.number))
                      : queue_       ? make_queue_target(*queue_)
                                     : make_udp_target(transport.text);
        return std::make_unique<ReportSink>(
            std::move(target),
            [&](bool repeats_templates, SendMessage send) {
                switch (plan.format) {
                case Format::kNetflow5: return make_netflow5(plan.settings, std::move(send));
                case Format::kNetflow9:
                    return make_netflow9(plan.settings, plan.records, repeats_templates,
                                         std::move(send));
                default:
                    return make_ipfix(plan.settings, plan.records, plan.key.is_biflow(),
                                      repeats_templates, std::move(send));
                }
            },
            losses_);
    }

    void take(const mapi_packet &bytes)
    {
        const FlowPacket packet(bytes);
        unread_.note(bytes, packet.headers);
        if (!packet.has_flow()) {
            ++ignored_packets_;
            ignored_bytes_ += bytes.wire_len;
            return;
        }
        FlowKey key = packet.key();
        key_.apply(key, packet);
        add_packet(cache_.add(key, bytes.timestamp_ns, on_end()), packet);
        if (key_.is_biflow())
            cache_.keep(reversed(key));
    }

    // Both directions of a biflow end together; the one seen first comes first.
    void hand_over(const ReportCache::Flow &flow, FlowEnd reason, uint64_t ended_ns)
    {
        std::optional<ReportCache::Flow> other;
        if (const FlowKey key = reversed(flow.key);
            key_.is_biflow() && memcmp(&key, &flow.key, sizeof(key)) != 0)
            other = cache_.take(key);
        const uint64_t packets = flow.packets + (other ? other->packets : 0);
        if (packets < settings_.least_packets) {
            ++unsent_flows_;
            unsent_packets_ += packets;
            unsent_bytes_ += flow.values.bytes + (other ? other->values.bytes : 0);
            return;
        }
        EndedFlow ended;
        memset(&ended, 0, sizeof(ended)); // padding too: it is copied as bytes
        ended.ended_ns = ended_ns;
        ended.boot_ns = clock_.boot_ns(
            other ? std::min(flow.first_ns, other->first_ns) : flow.first_ns, ended_ns);
        ended.observed_flows = cache_.begun();
        ended.ignored_packets = ignored_packets_;
        ended.ignored_bytes = ignored_bytes_;
        ended.unsent_flows = unsent_flows_;
        ended.unsent_packets = unsent_packets_;
        ended.unsent_bytes = unsent_bytes_;
        ended.reason = reason;
        const bool is_other_first = other && other->number < flow.number;
        append(ended, is_other_first ? *other : flow, other.has_value());
        if (other)
            append(ended, is_other_first ? flow : *other, false);
        ++ended_count_;
        give_to_writer(RecordWriter::kHandedBytes);
    }

    void append(EndedFlow &ended, const ReportCache::Flow &flow, bool is_reverse_behind)
    {
        ended.flow = flow;
        ended.is_reverse_behind = is_reverse_behind;
        ended_.append(reinterpret_cast<const char *>(&ended), sizeof(ended));
    }

    // Many flows may end at the same time.  They are passed on in pieces, so that a live device
    // loses only those for which there is no room.
    void give_to_writer(size_t least_bytes)
    {
        if (!is_ending_ && ended_.size() >= least_bytes)
            writer_.add(ended_, std::exchange(ended_count_, 0));
    }

    const ReportSettings settings_;
    const FlowKeyMask key_;
    ReportCache cache_;
    ExporterClock clock_;
    uint64_t ignored_packets_ = 0, ignored_bytes_ = 0;
    uint64_t unsent_flows_ = 0, unsent_packets_ = 0, unsent_bytes_ = 0;
    std::string ended_; // ended flows of a batch, not yet passed to the writer
    uint64_t ended_count_ = 0;
    bool is_ending_ = false;
    UnreadPackets unread_;
    ReportLosses losses_;
    const std::unique_ptr<ReportQueue> queue_; // null: messages go to another destination
    RecordWriter writer_;                      // last: its thread uses the other members
};

// Returns 0 or an error number.
int read_format(const mapi_function_setup *setup, Format &format)
{
    const std::string name = setup->arguments[kFormat].text;
    if (name != "NETFLOW_V5" && name != "NETFLOW_V9" && name != "IPFIX")
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1,
                      "the format \"" + name + "\" is not NETFLOW_V5, NETFLOW_V9 or IPFIX");
    format = name == "NETFLOW_V5"   ? Format::kNetflow5
             : name == "NETFLOW_V9" ? Format::kNetflow9
                                    : Format::kIpfix;
    if (format == Format::kNetflow5 &&
        (*setup->arguments[kKey].text || *setup->arguments[kRecord].text))
        return refuse(setup,
                      *setup->arguments[kKey].text ? MFUNCT_INVALID_ARGUMENT_3
                                                   : MFUNCT_INVALID_ARGUMENT_4,
                      "NetFlow v5 records have a fixed layout: key and record must be empty");
    return 0;
}

int create(const mapi_function_setup *setup, void **instance)
{
    Format format;
    if (const int refused = read_format(setup, format))
        return refused;
    int number = MAPI_CONFIG_ERROR; // if the next step fails
    try {
        const ReportSettings settings = read_report_settings(setup->config ? setup->config : "");
        number = MFUNCT_INVALID_ARGUMENT_3;
        FlowKeyMask key(setup->arguments[kKey].text);
        if (settings.ingress_interface)
            key.leave_interface_out();
        number = MFUNCT_INVALID_ARGUMENT_4;
        const char *given = setup->arguments[kRecord].text;
        const std::string usual =
            std::string(format == Format::kIpfix ? kDefaultRecordIpfix : kDefaultRecord9) +
            (key.has_vlan() ? " VLAN_TAG" : "") + (key.is_biflow() ? " BIFLOW_DIRECTION" : "");
        const ReportTemplate records(*given ? given : usual);
        key.check(records);
        if (key.is_biflow() && format != Format::kIpfix)
            return refuse(setup, MFUNCT_INVALID_ARGUMENT_3, "BIFLOW requires IPFIX");
        if (const int refused = reserve_memory(setup, FlowReport::memory_bytes(settings)))
            return refused;
        return create_object<FlowReport>(setup, instance, setup,
                                         Plan{format, settings, key, records});
    } catch (const std::exception &error) {
        return refuse(setup, number, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<FlowReport *>(instance)->run(*batch, mask);
    return mask;
}

int is_settled(void *instance)
{
    return static_cast<FlowReport *>(instance)->is_settled();
}

void cancel(void *instance)
{
    static_cast<FlowReport *>(instance)->cancel();
}

int check_config(const char *key, const char *value, char *text, uint32_t text_bytes)
{
    try {
        ReportSettings settings;
        const char *no_effect = set_report_setting(settings, key, value);
        mapi_explain(text, text_bytes, no_effect ? no_effect : "");
        return no_effect ? MAPI_CONFIG_LINE_WITHOUT_EFFECT : MAPI_CONFIG_LINE_GOOD;
    } catch (const std::runtime_error &error) {
        mapi_explain(text, text_bytes, error.what());
        return MAPI_CONFIG_LINE_WRONG;
    }
}

void drops(const void *instance, mapi_function_drops *drops)
{
    static_cast<const FlowReport *>(instance)->drops(drops);
}

constexpr mapi_function_ending kEnding = {
    .struct_size = sizeof(mapi_function_ending),
    .end = end<FlowReport>,
    .is_settled = is_settled,
    .cancel = cancel,
};

constexpr mapi_function_config kConfig = {
    .struct_size = sizeof(mapi_function_config),
    .section = "ipfixflib",
    .check_line = check_config,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_flow_report = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "FLOW_REPORT",
    .description = "exports flows as NetFlow v5, NetFlow v9 or IPFIX",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULTS_IN_RING,
    .result_bytes = sizeof(mapi_flow_report_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::FlowReport>,
    .arguments = {MAPI_ARGUMENT_STRING, MAPI_ARGUMENT_OUTPUT, MAPI_ARGUMENT_STRING,
                  MAPI_ARGUMENT_STRING},
    .tick = mapi::functions::tick<mapi::functions::FlowReport>,
    .drops = mapi::functions::drops,
    .ending = &mapi::functions::kEnding,
    .config = &mapi::functions::kConfig,
};
