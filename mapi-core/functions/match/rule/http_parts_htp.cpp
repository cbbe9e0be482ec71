// SPDX-License-Identifier: MIT
// HTTP parts by libhtp: a parser for the one packet, and its callbacks.
#include "match/rule/http_parts.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include <htp/htp.h>

namespace mapi::match::rule
{
namespace
{
constexpr size_t kMostBodyBytes = 65535; // the rest of a body is not examined
constexpr int kBombBytes = 1 << 20;

template <auto release> struct Release {
    template <class Object> void operator()(Object *object) const { release(object); }
};
using Settings = std::unique_ptr<htp_cfg_t, Release<htp_config_destroy>>;
using Parser = std::unique_ptr<htp_connp_t, Release<htp_connp_destroy_all>>;

// What the callbacks of one message fill in.
struct Target {
    HttpParts *parts;
    std::vector<uint8_t> header_lines;
};

const htp_tx_t *first_message(const htp_connp_t *parser)
{
    return static_cast<const htp_tx_t *>(
        htp_list_get(htp_connp_get_connection(parser)->transactions, 0));
}

// Null for all messages but the packet's first one.
Target *target_of(const htp_tx_data_t *data)
{
    const htp_connp_t *const parser = data->tx->connp;
    return first_message(parser) == data->tx
               ? static_cast<Target *>(htp_connp_get_user_data(parser))
               : nullptr;
}

int on_header_lines(htp_tx_data_t *data)
{
    if (Target *target = target_of(data))
        target->header_lines.insert(target->header_lines.end(), data->data, data->data + data->len);
    return HTP_OK;
}

int add_body(htp_tx_data_t *data, Buffer buffer)
{
    Target *const target = data->data ? target_of(data) : nullptr;
    if (!target)
        return HTP_OK;
    std::vector<uint8_t> &body = target->parts->add(buffer);
    const size_t bytes = std::min(data->len, kMostBodyBytes - body.size());
    body.insert(body.end(), data->data, data->data + bytes);
    return HTP_OK;
}

Settings make_settings()
{
    Settings settings(htp_config_create());
    if (!settings)
        return settings;
    htp_config_set_server_personality(settings.get(), HTP_SERVER_IDS);
    htp_config_set_compression_bomb_limit(settings.get(), kBombBytes);
    htp_config_set_response_decompression_layer_limit(settings.get(), 1);
    htp_config_set_lzma_layers(settings.get(), 0);
    htp_config_set_log_level(settings.get(), HTP_LOG_NONE);
    htp_config_register_request_header_data(settings.get(), on_header_lines);
    htp_config_register_response_header_data(settings.get(), on_header_lines);
    htp_config_register_request_body_data(
        settings.get(), [](htp_tx_data_t *data) { return add_body(data, Buffer::kClientBody); });
    htp_config_register_response_body_data(
        settings.get(), [](htp_tx_data_t *data) { return add_body(data, Buffer::kFileData); });
    return settings;
}

void add(HttpParts &parts, Buffer buffer, const bstr *text)
{
    if (!text)
        return;
    const auto *const bytes = reinterpret_cast<const uint8_t *>(bstr_ptr(text));
    parts.add(buffer).assign(bytes, bytes + bstr_len(text));
}

void add_lines(const htp_tx_t &message, bool is_response, HttpParts &parts)
{
    if (is_response) {
        add(parts, Buffer::kStatusCode, message.response_status);
        add(parts, Buffer::kStatusText, message.response_message);
        return;
    }
    add(parts, Buffer::kMethod, message.request_method);
    add(parts, Buffer::kRawUri, message.request_uri);
    if (const auto raw = parts.find(Buffer::kRawUri))
        normalize_uri(*raw, parts.add(Buffer::kUri));
}
} // namespace

const bool kReadsHttp = true;

void read_http(std::span<const uint8_t> payload, HttpParts &parts)
{
    if (!begins_like_http(payload))
        return;
    thread_local const Settings settings = make_settings();
    const Parser parser(settings ? htp_connp_create(settings.get()) : nullptr);
    if (!parser)
        return;
    Target target{&parts, {}};
    const htp_time_t now = {};
    htp_connp_set_user_data(parser.get(), &target);
    htp_connp_open(parser.get(), nullptr, 0, nullptr, 0, const_cast<htp_time_t *>(&now));
    const bool is_response = payload[0] == 'H' && payload.size() > 4 && payload[4] == '/';
    if (is_response)
        htp_connp_res_data(parser.get(), &now, payload.data(), payload.size());
    else
        htp_connp_req_data(parser.get(), &now, payload.data(), payload.size());
    htp_connp_close(parser.get(), &now); // parses what has no end
    const htp_tx_t *const message = first_message(parser.get());
    if (!message)
        return;
    add_lines(*message, is_response, parts);
    if (!target.header_lines.empty())
        add_headers(target.header_lines, parts);
}
} // namespace mapi::match::rule
