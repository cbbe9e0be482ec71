// SPDX-License-Identifier: MIT
// Request log: the text for each kind of request.
#include "daemon/session/request_log.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace mapi::daemon
{
namespace
{
constexpr size_t kWordsBytes = 500;

// Queries are logged by their numbers in mapi.proto.
bool changes_something(const ipc::Request &request)
{
    switch (request.call_case()) {
    case ipc::Request::kHello:
    case ipc::Request::kCreateFlow:
    case ipc::Request::kCreateOffline:
    case ipc::Request::kAppendOffline:
    case ipc::Request::kStartOffline:
    case ipc::Request::kDeleteOffline:
    case ipc::Request::kSetOption:
    case ipc::Request::kApply:
    case ipc::Request::kReset:
    case ipc::Request::kRemove:
    case ipc::Request::kConnect:
    case ipc::Request::kConnectFlows:
    case ipc::Request::kClose:
    case ipc::Request::kCloseFlows:
    case ipc::Request::kStartRecording:
    case ipc::Request::kStopRecording: return true;
    default: return false;
    }
}

std::string words_for(const char *verb, const ipc::FlowNumbers &call)
{
    return fmt::format("{} {} flows, from flow {} on{}", verb, call.flows_size(),
                       call.flows_size() > 0 ? call.flows(0) : 0,
                       call.has_more() ? ", and more" : "");
}

std::string words_for(const ipc::Apply &call)
{
    std::string words = fmt::format("flow {}: {}", call.flow(), call.function());
    for (const ipc::Argument &argument : call.arguments())
        words += argument.kind() == 0      ? ""
                 : argument.text().empty() ? fmt::format(" {}", argument.number())
                                           : fmt::format(" \"{}\"", argument.text());
    return words;
}

std::string words_for(const ipc::Request &request)
{
    switch (request.call_case()) {
    case ipc::Request::kHello:
        return fmt::format("handshake, protocol {}", request.hello().version());
    case ipc::Request::kCreateFlow:
        return fmt::format("flow {}: on device {}", request.create_flow().flow(),
                           request.create_flow().device());
    case ipc::Request::kCreateOffline:
        return fmt::format("flow {}: on capture {}, format {}", request.create_offline().flow(),
                           request.create_offline().path(), request.create_offline().format());
    case ipc::Request::kAppendOffline:
        return fmt::format("device {}: append capture {}", request.append_offline().device(),
                           request.append_offline().path());
    case ipc::Request::kStartOffline: return "start device " + request.start_offline().device();
    case ipc::Request::kDeleteOffline: return "delete device " + request.delete_offline().device();
    case ipc::Request::kSetOption:
        return fmt::format("device {}: {}={}", request.set_option().device(),
                           request.set_option().key(), request.set_option().value());
    case ipc::Request::kApply: return words_for(request.apply());
    case ipc::Request::kReset:
        return fmt::format("flow {}: reset function {}", request.reset().flow(),
                           request.reset().function());
    case ipc::Request::kRemove:
        return fmt::format("flow {}: remove function {}", request.remove().flow(),
                           request.remove().function());
    case ipc::Request::kConnect: return fmt::format("flow {}: connect", request.connect().flow());
    case ipc::Request::kConnectFlows: return words_for("connect", request.connect_flows());
    case ipc::Request::kCloseFlows: return words_for("close", request.close_flows());
    case ipc::Request::kClose: return fmt::format("flow {}: close", request.close().flow());
    case ipc::Request::kStartRecording:
        return "start recording into " + request.start_recording().name();
    case ipc::Request::kStopRecording: return "stop recording";
    default: return fmt::format("query {}", int(request.call_case()));
    }
}
} // namespace

// Text from clients must not control a terminal or break the lines of the log.
void log_request(pid_t client, const ipc::Request &request, const ipc::Reply &reply)
{
    if (!spdlog::should_log(spdlog::level::debug))
        return;
    const auto level = changes_something(request) ? spdlog::level::debug : spdlog::level::trace;
    if (!spdlog::should_log(level))
        return;
    std::string words = words_for(request);
    if (reply.error() != 0)
        words += fmt::format(": refused: {} {}", reply.error(), reply.text());
    words.resize(std::min(words.size(), kWordsBytes));
    std::replace_if(
        words.begin(), words.end(), [](char byte) { return byte < ' ' || byte > '~'; }, '?');
    spdlog::log(level, "client {}: {}", client, words);
}
} // namespace mapi::daemon
