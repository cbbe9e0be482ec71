// SPDX-License-Identifier: MIT
// flow: calls -> a connected flow.
#include "flow.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <mapi/mapi.h>

#include "common/command/signals.h"
#include "flow_expression/apply_call.hpp"
#include "json_line.hpp"
#include "result_json.hpp"
#include "result_text.hpp"

namespace mapi_flow
{
namespace
{
constexpr int kLookMs = 100;
constexpr const char *kExpiredFlows = "EXPIRED_FLOWS";

mapi_function_info_t information(int flow, int function)
{
    mapi_function_info_t info = {};
    if (mapi_get_function_info(flow, function, &info) < 0)
        throw_last_error();
    return info;
}
} // namespace

Flow::Flow(const std::string &device, const Options &options,
           const std::vector<flow_expression::Call> &calls, unsigned number, Lines &lines)
    : calls_(calls), number_(number), lines_(lines), is_json_(options.is_json()),
      flow_(mapi_create_flow(device.c_str())), waiting_(calls.size()), read_(calls.size())
{
    if (flow_ < 0)
        throw_last_error();
    try {
        apply(options);
    } catch (...) {
        mapi_close_flow(flow_);
        throw;
    }
}

void Flow::apply(const Options &options)
{
    if (mapi_set_flow_option(flow_, MAPI_BUFFER_BYTES, options.buffer_bytes) < 0 ||
        mapi_set_flow_option(flow_, MAPI_SNAP_BYTES, options.snap_bytes) < 0)
        throw_last_error();
    for (const flow_expression::Call &call : calls_) {
        functions_.push_back(flow_expression::apply_call(flow_, call, functions_));
        if (functions_.back() <= 0)
            throw_last_error();
        names_.push_back(information(flow_, functions_.back()).name);
    }
}

Flow::~Flow()
{
    close();
}

void Flow::connect()
{
    if (mapi_connect(flow_) < 0)
        throw_last_error();
    for (size_t i = 0; i < calls_.size(); ++i) {
        if (!gives_one_by_one(i))
            continue;
        read_[i] =
            information(flow_, functions_[i]).result_size == 0 ? Read::kPackets : Read::kResults;
        readers_.emplace_back(
            [this, i] { read_[i] == Read::kPackets ? print_packets(i) : print_results(i); });
    }
}

bool Flow::gives_one_by_one(size_t function) const
{
    return mapi_get_poll_descriptor(flow_, functions_[function]) >= 0;
}

bool Flow::wait(int timeout_ms)
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

// The totals only grow from one read to the next.
void Flow::WaitingFlows::count(const flows_stat &read)
{
    sent = read.sent;
    flows += int64_t(read.expired) - read.ignored - read.dropped -
             read.sent; // the device's thread may be halfway through updating them
}

std::string Flow::name_of(size_t function) const
{
    return fmt::format("{}.{}\t{}", number_, function + 1, calls_[function].function);
}

const mapi_results_t *Flow::read(size_t function)
{
    if (read_[function] != Read::kNothing ||
        information(flow_, functions_[function]).result_size == 0)
        return nullptr;
    const mapi_results_t *results = mapi_read_results(flow_, functions_[function]);
    if (!results)
        throw_last_error();
    if (names_[function] == kExpiredFlows)
        waiting_[function].count(*static_cast<const flows_stat *>(results->res));
    return results;
}

std::string Flow::result_of(size_t function)
{
    const mapi_results_t *results = read(function);
    return results ? result_text(names_[function], *results) : "";
}

nlohmann::ordered_json Flow::json()
{
    auto functions = nlohmann::ordered_json::array();
    for (size_t i = 0; i < calls_.size(); ++i)
        functions.push_back(json_of(i));
    return {{"flow", number_}, {"functions", std::move(functions)}};
}

// EXPIRED_FLOWS may take several reads; JSON has all of them as one list.
nlohmann::ordered_json Flow::json_of(size_t function)
{
    const mapi_function_info_t info = information(flow_, functions_[function]);
    nlohmann::ordered_json json = {
        {"function", function + 1}, {"name", names_[function]},
        {"packets", info.pkts},     {"passed", info.passed_pkts},
        {"dropped", info.dropped},  {"unread_headers", info.unread_headers},
        {"given_up", info.given_up}};
    const mapi_results_t *results = read(function);
    json["result"] =
        results ? result_json(names_[function], *results) : nlohmann::ordered_json(nullptr);
    for (int64_t left = waiting_[function].flows; left > 0 && !is_unwanted();
         left -= waiting_[function].sent) {
        const nlohmann::ordered_json more = result_json(names_[function], *read(function));
        if (waiting_[function].sent == 0)
            break;
        for (const auto &flow : more["flows"])
            json["result"]["flows"].push_back(flow);
    }
    return json;
}

std::string Flow::line_of(size_t function, const std::string &text, const char *name,
                          nlohmann::ordered_json json) const
{
    if (!is_json_)
        return name_of(function) + "\t" + text + "\n";
    return json_text({{"flow", number_},
                      {"function", function + 1},
                      {"name", names_[function]},
                      {name, std::move(json)}});
}

uint64_t Flow::unread_headers() const
{
    uint64_t sum = 0;
    for (const int function : functions_)
        sum += information(flow_, function).unread_headers;
    return sum;
}

uint64_t Flow::given_up() const
{
    uint64_t sum = 0;
    for (const int function : functions_)
        sum += information(flow_, function).given_up;
    return sum;
}

void Flow::print()
{
    for (size_t i = 0; i < calls_.size(); ++i) {
        print(i);
        print_waiting_flows(i);
    }
}

void Flow::print(size_t function)
{
    const mapi_function_info_t info = information(flow_, functions_[function]);
    lines_.print(fmt::format("{}\t{}\t{}\t{}\t{}\n", name_of(function), info.pkts, info.passed_pkts,
                             info.dropped, result_of(function)));
}

// Only the flows that wait now: on a live device, more end in the meantime.
void Flow::print_waiting_flows(size_t function)
{
    for (int64_t left = waiting_[function].flows; left > 0 && !is_unwanted();) {
        print(function);
        const uint32_t sent = waiting_[function].sent;
        if (sent == 0)
            return;
        left -= sent;
    }
}

void Flow::print_packets(size_t function)
{
    mapipkt *packets[64];
    for (bool is_last = false; !is_last && !is_unwanted();) {
        const bool is_stopping = is_stopping_;
        const int count = mapi_get_next_pkts(flow_, functions_[function], packets, 64, kLookMs);
        std::string text;
        for (int i = 0; i < count; ++i)
            text += line_of(function, is_json_ ? "" : packet_text(*packets[i]), "packet",
                            is_json_ ? packet_json(*packets[i]) : nullptr);
        lines_.print(text);
        is_last = count < 0 || (count == 0 && is_stopping);
    }
}

void Flow::print_results(size_t function)
{
    const mapi_results_t *results;
    while (!is_unwanted() && (results = mapi_read_results(flow_, functions_[function])))
        lines_.print(line_of(function, is_json_ ? "" : result_text(names_[function], *results),
                             "result",
                             is_json_ ? result_json(names_[function], *results) : nullptr));
}

// True when the program is ending or the output has failed: the rest is not printed.
bool Flow::is_unwanted() const
{
    return is_closing_ || lines_.has_failed() || (is_reading_rest_ && command_was_interrupted());
}

void Flow::read_rest()
{
    is_reading_rest_ = true;
    is_stopping_ = true;
    join();
}

// Readers hold pointers into the flow, so they end first.  Removing a function wakes the reader
// waiting for its result.
void Flow::close()
{
    if (flow_ <= 0)
        return;
    is_closing_ = true;
    bool have_readers_an_end = true;
    for (size_t i = 0; i < read_.size(); ++i)
        have_readers_an_end &=
            read_[i] != Read::kResults || mapi_remove_function(flow_, functions_[i]) == 0;
    if (have_readers_an_end)
        join();
    mapi_close_flow(flow_);
    join();
    flow_ = 0;
}

void Flow::join()
{
    for (std::thread &reader : readers_)
        reader.join();
    readers_.clear();
}
} // namespace mapi_flow
