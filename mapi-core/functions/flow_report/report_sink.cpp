// SPDX-License-Identifier: MIT
// Report sink: ended flows -> messages -> their destination.
#include "functions/flow_report/report_sink.hpp"

#include <cstring>

namespace mapi::functions
{
namespace
{
class FileTarget : public MessageTarget
{
public:
    explicit FileTarget(int descriptor) : file_(descriptor) {}
    int send(const std::string &message, uint64_t,
             const RecordSink::IsGivenUp &is_given_up) override
    {
        return file_.write(message, is_given_up);
    }
    bool repeats_templates() const override { return false; }

private:
    FileSink file_;
};

class QueueTarget : public MessageTarget
{
public:
    explicit QueueTarget(ReportQueue &queue) : queue_(queue) {}
    int send(const std::string &message, uint64_t, const RecordSink::IsGivenUp &) override
    {
        mapi_flow_report_t &report = reports_.emplace_back();
        report.recno = number_++;
        report.size = uint32_t(message.size());
        memcpy(report.bytes, message.data(), message.size());
        queue_.push(reports_); // counts messages without room
        return 0;
    }

private:
    ReportQueue &queue_;
    std::vector<mapi_flow_report_t> reports_;
    uint64_t number_ = 0;
};
static_assert(kMessageBytesMax <= sizeof(mapi_flow_report_t::bytes));
} // namespace

std::unique_ptr<MessageTarget> make_file_target(int descriptor)
{
    return std::make_unique<FileTarget>(descriptor);
}

std::unique_ptr<MessageTarget> make_queue_target(ReportQueue &queue)
{
    return std::make_unique<QueueTarget>(queue);
}

ReportSink::ReportSink(std::unique_ptr<MessageTarget> target, const MakeEncoder &make_encoder,
                       ReportLosses &losses)
    : target_(std::move(target)), losses_(losses),
      encoder_(make_encoder(
          target_->repeats_templates(),
          [this](const std::string &message, uint64_t flows) { return send(message, flows); }))
{
}

int ReportSink::write(const std::string &records, const IsGivenUp &is_given_up)
{
    int error = 0;
    is_given_up_ = &is_given_up;
    for (size_t at = 0; at + sizeof(EndedFlow) <= records.size(); at += sizeof(EndedFlow)) {
        EndedFlow flow;
        memcpy(&flow, &records[at], sizeof(flow));
        EndedFlow reverse;
        if (flow.is_reverse_behind) {
            at += sizeof(EndedFlow);
            memcpy(&reverse, &records[at], sizeof(reverse)); // both were passed on together
            flow.reverse = &reverse;
        }
        if (const int refused = encoder_->add(flow))
            losses_.add(1, refused);
    }
    encoder_->flush();
    if (const uint64_t lost = target_->take_lost(error))
        losses_.add(lost, error);
    return 0;
}

bool ReportSink::send(const std::string &message, uint64_t flows)
{
    int error = 0;
    if (const uint64_t lost = target_->take_lost(error))
        losses_.add(lost, error);
    const int refused = message.empty() ? ENOMEM : target_->send(message, flows, *is_given_up_);
    if (refused)
        losses_.add(flows, refused);
    return refused == 0 && error == 0;
}
} // namespace mapi::functions
