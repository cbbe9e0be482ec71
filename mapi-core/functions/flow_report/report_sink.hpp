// SPDX-License-Identifier: MIT
// Report sink: ended flows, on the writer's thread -> messages -> a file, a UDP socket or a queue.
#pragma once

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>

#include <mapi/results.h>

#include "functions/common/result_queue.hpp"
#include "functions/flow_report/message_encoder.hpp"
#include "functions/output/file_sink.hpp"

namespace mapi::functions
{
// The destination of messages.
class MessageTarget
{
public:
    virtual ~MessageTarget() = default;
    // Returns 0, or errno if the message is lost.
    virtual int send(const std::string &message, uint64_t flows,
                     const RecordSink::IsGivenUp &is_given_up) = 0;
    // Number of flows in earlier messages that turned out to be lost only later, and why; each is
    // reported once.
    virtual uint64_t take_lost(int &) { return 0; }
    // False if a message once sent is certain to arrive.
    virtual bool repeats_templates() const { return true; }
};

using ReportQueue = ResultQueue<mapi_flow_report_t>;

std::unique_ptr<MessageTarget> make_file_target(int descriptor);
// "host:port".  Throws std::runtime_error.
std::unique_ptr<MessageTarget> make_udp_target(const std::string &address);
std::unique_ptr<MessageTarget> make_queue_target(ReportQueue &queue);

// Counts of what was lost; they must outlive the sink.
struct ReportLosses {
    std::atomic<uint64_t> flows = 0;
    std::atomic<int> error = 0;

    void add(uint64_t lost, int reason)
    {
        flows.fetch_add(lost, std::memory_order_relaxed);
        error.store(reason, std::memory_order_relaxed);
    }
};

class ReportSink : public RecordSink
{
public:
    using MakeEncoder =
        std::function<std::unique_ptr<MessageEncoder>(bool repeats_templates, SendMessage)>;

    ReportSink(std::unique_ptr<MessageTarget> target, const MakeEncoder &make_encoder,
               ReportLosses &losses);
    // records: a sequence of EndedFlow as in memory.  Always returns 0: losses are counted flow by
    // flow.
    int write(const std::string &records, const IsGivenUp &is_given_up) override;

private:
    bool send(const std::string &message, uint64_t flows);

    const std::unique_ptr<MessageTarget> target_;
    ReportLosses &losses_;
    const IsGivenUp *is_given_up_ = nullptr;
    const std::unique_ptr<MessageEncoder> encoder_; // last: it uses the other members
};
} // namespace mapi::functions
