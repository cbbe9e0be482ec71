// SPDX-License-Identifier: MIT
#include "rule_flow.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <mapi/pktinfo.h>

#include "captures/source.hpp"
#include "sids/language/option.hpp"

namespace sids
{
namespace
{
using captures_source::MapiError;
using captures_source::throw_last_error;

constexpr uint64_t kAlertBytes = 256; // of a packet: room for its headers
constexpr int kCookedBytes = 32000, kCookedIdleSeconds = 60;
constexpr int kPacketsAtOnce = 64;

// Numbers of errors in an expression or another argument.
bool is_of_argument(int number)
{
    return number == PCAP_BPF_ERR ||
           (number >= MDLIB_ETH_DLINK_ERR && number < MCOM_UNKNOWN_ERROR) ||
           (number >= MFUNCT_INVALID_ARGUMENT && number < ADMCTRL_MEM_ERROR);
}

// "at 37: " at the beginning of an error names a byte of the argument.
std::optional<size_t> take_place(std::string_view &text)
{
    constexpr std::string_view kAt = "at ";
    size_t at = 0;
    if (!text.starts_with(kAt))
        return std::nullopt;
    const auto [end, error] =
        std::from_chars(text.data() + kAt.size(), text.data() + text.size(), at);
    const std::string_view rest = text.substr(size_t(end - text.data()));
    if (error != std::errc() || !rest.starts_with(": "))
        return std::nullopt;
    text = rest.substr(2);
    return at;
}

[[noreturn]] void throw_error_of(const Step &step)
{
    int number = 0;
    char whole[MAPI_ERROR_TEXT_BYTES] = "unknown error";
    mapi_read_error(&number, whole);
    if (!is_of_argument(number))
        throw MapiError(whole);
    std::string_view text = whole;
    const std::string prefix = std::string(step.function) + ": ";
    if (text.starts_with(prefix))
        text.remove_prefix(prefix.size());
    const auto at = take_place(text);
    throw PlacedError(step.argument.place_of(at.value_or(0)), std::string(text));
}

int checked(int result)
{
    if (result < 0)
        throw_last_error();
    return result;
}

const void *read_result(int flow, int function)
{
    const void *const result = mapi_read_results(flow, function, MAPI_REF);
    if (!result)
        throw_last_error();
    return result;
}

uint64_t read_word(int flow, int function)
{
    uint64_t value;
    std::memcpy(&value, read_result(flow, function), sizeof(value));
    return value;
}
} // namespace

RuleFlow::RuleFlow(const Rule &rule, const FlowSettings &settings, const std::string &copy_path)
    : flow_(checked(mapi_create_flow(settings.device.c_str())))
{
    try {
        apply(rule, settings, copy_path);
    } catch (...) {
        mapi_close_flow(flow_);
        throw;
    }
}

void RuleFlow::close(const std::vector<RuleFlow *> &flows)
{
    std::vector<int> open;
    for (RuleFlow *flow : flows) {
        if (flow && flow->flow_ > 0)
            open.push_back(std::exchange(flow->flow_, 0));
    }
    if (!open.empty())
        mapi_close_flows(open.data(), int(open.size()));
}

void RuleFlow::apply_step(const Step &step)
{
    const int function = mapi_apply_function(flow_, step.function, step.argument.text().c_str());
    if (function < 0)
        throw_error_of(step);
    judges_.push_back(function);
    if (std::strcmp(step.function, "CONNECTION") == 0)
        connection_ = function;
    else if (std::strcmp(step.function, "RATE_FILTER") == 0)
        rates_.push_back(function);
}

void RuleFlow::apply(const Rule &rule, const FlowSettings &settings, const std::string &copy_path)
{
    if (rule.is_cooked || settings.are_all_cooked)
        judges_.push_back(checked(mapi_apply_function(flow_, "COOKING", kCookedBytes,
                                                      kCookedIdleSeconds, 0, int(BOTH_SIDE))));
    for (const Step &step : rule.steps)
        apply_step(step);
    packets_ = checked(mapi_apply_function(flow_, "PKT_COUNTER"));
    bytes_ = checked(mapi_apply_function(flow_, "BYTE_COUNTER"));
    time_ = checked(mapi_apply_function(flow_, "PKTINFO", int(PKT_TS)));
    if (!copy_path.empty())
        checked(mapi_apply_function(flow_, "TO_FILE", int(MFF_PCAPNG), copy_path.c_str(), 0));
    if (!settings.gives_packets)
        return;
    // The option applies to copies, too, which have all bytes.
    if (copy_path.empty())
        checked(mapi_set_flow_option(flow_, MAPI_SNAP_BYTES, kAlertBytes));
    checked(mapi_set_flow_option(flow_, MAPI_BUFFER_BYTES, settings.buffer_bytes));
    buffer_ = checked(mapi_apply_function(flow_, "TO_BUFFER", int(WAIT)));
}

void RuleFlow::look(Counts &counts) const
{
    const uint64_t packets = read_word(flow_, packets_);
    if (packets == counts.packets)
        return;
    counts.packets = packets;
    counts.bytes = read_word(flow_, bytes_);
    counts.last_ntp = read_word(flow_, time_);
}

int RuleFlow::read_packets(const Take &take)
{
    std::array<mapipkt *, kPacketsAtOnce> packets;
    const int count = mapi_get_next_pkts(flow_, buffer_, packets.data(), kPacketsAtOnce, 0);
    if (count < 0)
        throw_last_error();
    for (int i = 0; i < count; ++i)
        take(*packets[size_t(i)]);
    read_ += uint64_t(count);
    return count;
}

bool RuleFlow::wait_for_end(int timeout_ms) const
{
    if (mapi_wait_flow(flow_, timeout_ms) == 0)
        return true;
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(&number, text);
    if (number != MAPI_TIMED_OUT)
        throw MapiError(text);
    return false;
}

void RuleFlow::add_losses(Losses &losses) const
{
    mapi_function_info_t info = {};
    for (const int function : judges_) {
        checked(mapi_get_function_info(flow_, function, &info));
        losses.time_jumps += info.time_jumps;
        losses.unread_headers += info.unread_headers;
        losses.given_up += info.given_up;
    }
    for (const int function : rates_)
        losses.addresses_evicted +=
            static_cast<const mapi_rate_filter_t *>(read_result(flow_, function))->evicted;
    if (connection_ > 0) { // the same for all rules
        const auto &counts =
            *static_cast<const mapi_connections_t *>(read_result(flow_, connection_));
        losses.connections_evicted = std::max(losses.connections_evicted, counts.evicted);
        losses.wrong_checksums = std::max(losses.wrong_checksums, counts.wrong_checksums);
    }
}
} // namespace sids
