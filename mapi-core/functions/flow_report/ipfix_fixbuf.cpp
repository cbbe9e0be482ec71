// SPDX-License-Identifier: MIT
// IPFIX: flows -> messages (RFC 7011), with libfixbuf.
#include <cctype>
#include <stdexcept>
#include <utility>

#include <fixbuf/public.h>

#include "functions/flow_report/message_encoder.hpp"

namespace mapi::functions
{
namespace
{
constexpr size_t kExportTimeOffset = 4; // in the message header

class Error
{
public:
    ~Error() { g_clear_error(&error_); }
    GError **operator&() { return &error_; }
    [[noreturn]] void fail() const
    {
        throw std::runtime_error(std::string("libfixbuf: ") +
                                 (error_ ? error_->message : "unknown error"));
    }

private:
    GError *error_ = nullptr;
};

class Ipfix : public MessageEncoder
{
public:
    Ipfix(const ReportSettings &settings, const ReportTemplate &records, bool has_biflows,
          bool repeats_templates, SendMessage send)
        : settings_(settings), template_(records), clock_(repeats_templates),
          send_(std::move(send)), model_(fbInfoModelAlloc()), session_(fbSessionAlloc(model_))
    {
        fbSessionSetDomain(session_, settings.observation_domain);
        for (const uint8_t version : {4, 6}) {
            add_template(version, false);
            if (has_biflows)
                add_template(version, true);
        }
        buffer_ = fBufAllocForExport(session_, fbExporterAllocBuffer(message_, sizeof(message_)));
        fBufSetAutomaticMode(buffer_, FALSE);
    }
    ~Ipfix() override
    {
        if (buffer_)
            fBufFree(buffer_); // frees the session and the exporter, too
        else
            fbSessionFree(session_);
        fbInfoModelFree(model_);
    }
    Ipfix(const Ipfix &) = delete;

    int add(const EndedFlow &flow) override
    {
        if (!MessageTime::has_room(flow))
            return EOVERFLOW;
        record_.clear();
        for (const Element *element : template_.of(flow.flow.key.version))
            append_value(record_, *element, flow, settings_, ByteOrder::kHost);
        if (flow.reverse)
            append_reverse(flow);
        const uint16_t id = template_id(flow.flow.key.version, flow.reverse);
        if (flows_ == 0)
            begin(flow);
        bool is_taken = append(id);
        if (!is_taken) {
            flush();
            begin(flow);
            is_taken = append(id);
        }
        if (!is_taken)
            return EMSGSIZE;
        time_.add(flow);
        ++flows_;
        return 0;
    }

    void flush() override
    {
        if (flows_ > 0)
            emit(std::exchange(flows_, 0));
    }

private:
    void append_reverse(const EndedFlow &flow)
    {
        for (const Element *element : template_.of(flow.flow.key.version)) {
            if (element->is_reversible())
                append_value(record_, *element, *flow.reverse, settings_, ByteOrder::kHost);
        }
    }

    // libfixbuf defines elements of the reverse direction under enterprise 29305 (RFC 5103 6.1).
    static std::string reverse_name(const Element &element)
    {
        std::string name = element.ipfix_name;
        name[0] = char(std::toupper(name[0]));
        return "reverse" + name;
    }

    void add_template(uint8_t version, bool is_biflow)
    {
        Error error;
        fbTemplate_t *made = fbTemplateAlloc(model_);
        const auto append = [&](std::string name, uint16_t bytes) {
            fbInfoElementSpec_t spec = {name.data(), bytes, 0};
            if (!fbTemplateAppendSpec(made, &spec, 0, &error))
                error.fail();
        };
        for (const Element *element : template_.of(version))
            append(element->ipfix_name, element->bytes);
        for (const Element *element : template_.of(version)) {
            if (is_biflow && element->is_reversible())
                append(reverse_name(*element), element->bytes);
        }
        for (const bool is_internal : {true, false}) {
            if (!fbSessionAddTemplate(session_, is_internal, template_id(version, is_biflow), made,
                                      &error))
                error.fail();
        }
    }

    // Templates get a message of their own.
    void begin(const EndedFlow &flow)
    {
        time_.clear();
        time_.add(flow);
        if (clock_.is_due(flow.ended_ns) &&
            twice([this](GError **error) { return fbSessionExportTemplates(session_, error); })) {
            clock_.sent(flow.ended_ns);
            emit(0);
        }
    }

    // The time of a message is known only with its last flow; for 0 libfixbuf would insert its own
    // clock's time.
    void emit(uint64_t flows)
    {
        Error error;
        const size_t bytes =
            fBufEmit(buffer_, &error) ? fbExporterGetMsgLen(fBufGetExporter(buffer_)) : 0;
        std::string message(reinterpret_cast<const char *>(message_), bytes), time;
        append_number(time, time_.next_second(), 4);
        if (bytes >= kExportTimeOffset + time.size())
            message.replace(kExportTimeOffset, time.size(), time);
        clock_.message(send_(message, flows));
    }

    // Returns false if the message has no room for it.
    bool append(uint16_t id)
    {
        Error error;
        return fBufSetInternalTemplate(buffer_, id, &error) &&
               fBufSetExportTemplate(buffer_, id, &error) && twice([this](GError **failed) {
                   return fBufAppend(buffer_, reinterpret_cast<uint8_t *>(record_.data()),
                                     record_.size(), failed);
               });
    }

    // Between templates and records libfixbuf fails once, so that its caller sends the previous
    // message; here it has already been sent.
    template <class Call> static bool twice(Call &&call)
    {
        Error first, second;
        return call(&first) || call(&second);
    }

    const ReportSettings settings_;
    const ReportTemplate template_;
    TemplateClock clock_;
    const SendMessage send_;
    uint8_t message_[kMessageBytesMax];
    fbInfoModel_t *const model_;
    fbSession_t *const session_;
    fBuf_t *buffer_ = nullptr;
    std::string record_; // in the layout of the internal template
    uint64_t flows_ = 0; // in the message
    MessageTime time_;
};
} // namespace

std::unique_ptr<MessageEncoder> make_ipfix(const ReportSettings &settings,
                                           const ReportTemplate &records, bool has_biflows,
                                           bool repeats_templates, SendMessage send)
{
    return std::make_unique<Ipfix>(settings, records, has_biflows, repeats_templates,
                                   std::move(send));
}
} // namespace mapi::functions
