// SPDX-License-Identifier: MIT
// NetFlow v9: flows -> messages (RFC 3954).
#include "functions/flow_report/message_encoder.hpp"

namespace mapi::functions
{
namespace
{
constexpr size_t kHeaderBytes = 20, kSetHeaderBytes = 4, kPaddingMax = 3;

class Netflow9 : public MessageEncoder
{
public:
    Netflow9(const ReportSettings &settings, const ReportTemplate &records, bool repeats_templates,
             SendMessage send)
        : settings_(settings), template_(records), clock_(repeats_templates), send_(std::move(send))
    {
    }

    int add(const EndedFlow &flow) override
    {
        const uint8_t version = flow.flow.key.version;
        if (!MessageTime::has_room(flow))
            return EOVERFLOW;
        if (bytes() + kSetHeaderBytes + template_.bytes(version) + kPaddingMax > kMessageBytesMax ||
            flow.boot_ns != boot_ns_) // a message has one clock
            flush();
        if (records_ == 0 && clock_.is_due(flow.ended_ns))
            append_templates(flow.ended_ns);
        if (set_version_ != version) {
            end_set();
            set_version_ = version;
        }
        for (const Element *element : template_.of(version))
            append_value(set_, *element, flow, settings_, ByteOrder::kNetwork);
        boot_ns_ = flow.boot_ns;
        time_.add(flow);
        ++flows_;
        ++records_;
        return 0;
    }

    void flush() override
    {
        if (records_ == 0)
            return;
        end_set();
        const uint64_t seconds = time_.next_second();
        std::string message;
        append_number(message, 9, 2);
        append_number(message, records_, 2); // including templates
        append_number(message, uptime_ms(boot_ns_, seconds * MessageTime::kNsPerSecond), 4);
        append_number(message, seconds, 4);
        append_number(message, sequence_++, 4); // messages before this one
        append_number(message, settings_.observation_domain, 4);
        clock_.message(send_(message + sets_, flows_));
        sets_.clear();
        time_.clear();
        records_ = flows_ = 0;
    }

private:
    size_t bytes() const { return kHeaderBytes + sets_.size() + kSetHeaderBytes + set_.size(); }

    void append_templates(uint64_t now_ns)
    {
        std::string templates;
        for (const uint8_t version : {4, 6}) {
            append_number(templates, template_id(version), 2);
            append_number(templates, template_.of(version).size(), 2);
            for (const Element *element : template_.of(version)) {
                append_number(templates, element->number, 2);
                append_number(templates, element->bytes, 2);
            }
            ++records_;
        }
        append_set(0, templates);
        clock_.sent(now_ns);
    }

    void end_set()
    {
        if (!set_.empty())
            append_set(template_id(set_version_), set_);
        set_.clear();
        set_version_ = 0;
    }

    void append_set(uint16_t id, const std::string &content)
    {
        const size_t padding = (4 - content.size() % 4) % 4;
        append_number(sets_, id, 2);
        append_number(sets_, kSetHeaderBytes + content.size() + padding, 2);
        sets_ += content;
        sets_.append(padding, '\0');
    }

    const ReportSettings settings_;
    const ReportTemplate template_;
    TemplateClock clock_;
    const SendMessage send_;
    std::string sets_; // of the message, except the last
    std::string set_;
    uint8_t set_version_ = 0;
    unsigned records_ = 0, flows_ = 0; // of the message
    uint32_t sequence_ = 0;
    uint64_t boot_ns_ = 0;
    MessageTime time_;
};
} // namespace

std::unique_ptr<MessageEncoder> make_netflow9(const ReportSettings &settings,
                                              const ReportTemplate &records, bool repeats_templates,
                                              SendMessage send)
{
    return std::make_unique<Netflow9>(settings, records, repeats_templates, std::move(send));
}
} // namespace mapi::functions
