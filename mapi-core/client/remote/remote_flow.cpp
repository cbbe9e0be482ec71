// SPDX-License-Identifier: MIT
// Remote flow: a flow that mapid runs.
#include "client/remote/remote_flow.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>

#include <unistd.h>

#include "engine/error.hpp"
#include "engine/node/function_traits.hpp"
#include "functions/catalog.hpp"
#include "ring/futex.hpp"

namespace mapi::client
{
namespace
{
constexpr size_t kFlowsOfMessage = 8192;

// Null: this libmapi has no such function.
const mapi_function *find_composing(const std::string &name)
{
    for (const mapi_function *function : functions::catalog()) {
        if (function->name == name && engine::FunctionTraits(*function).composes_result())
            return function;
    }
    return nullptr;
}

// Many in parts, since a message cannot hold all numbers; mapid acts after the last part.
void ask_about(Connection &connection, const std::vector<int> &numbers,
               ipc::FlowNumber *(ipc::Request::*only)(), ipc::FlowNumbers *(ipc::Request::*part)())
{
    ipc::Request request;
    if (numbers.size() == 1) {
        (request.*only)()->set_flow(numbers.front());
        connection.ask(request);
        return;
    }
    const auto lock = connection.lock_parts();
    for (size_t done = 0; done < numbers.size(); done += kFlowsOfMessage) {
        const size_t end = std::min(done + kFlowsOfMessage, numbers.size());
        ipc::FlowNumbers &call = *(request.*part)();
        call.mutable_flows()->Assign(numbers.begin() + long(done), numbers.begin() + long(end));
        call.set_has_more(end < numbers.size());
        connection.ask(request);
    }
}
} // namespace

RemoteFlow::RemoteFlow(std::shared_ptr<Connection> connection, FlowRecipe recipe,
                       const ipc::FlowMade &made)
    : connection_(std::move(connection)), recipe_(std::move(recipe)),
      number_(recipe_.capture.empty() ? recipe_.creation.create_flow().flow()
                                      : recipe_.creation.create_offline().flow()),
      status_(reinterpret_cast<const std::atomic<uint32_t> *>(
          connection_->engine_memory(made.status_offset(), sizeof(uint32_t))))
{
}

int RemoteFlow::apply(const std::string &function, engine::Arguments arguments)
{
    ipc::Request request;
    std::vector<int> files;
    auto &call = *request.mutable_apply();
    call.set_flow(number_);
    call.set_function(function);
    for (const engine::Argument &argument : arguments) {
        ipc::Argument &given = *call.add_arguments();
        given.set_kind(uint8_t(argument.kind));
        given.set_number(argument.number);
        given.set_text(argument.text);
        for (const engine::Target &target : argument.targets) {
            given.add_targets()->set_flow(target.flow);
            given.mutable_targets()->rbegin()->set_function(target.function);
        }
        if (argument.file)
            files.push_back(argument.file->descriptor());
        files.insert(files.end(), argument.descriptors.begin(), argument.descriptors.end());
    }
    if (files.size() > ipc::kDescriptorsMax)
        throw Error(MAPI_LIMIT_REACHED, function + ": " + std::to_string(files.size()) +
                                            " files are too many: mapid accepts at most " +
                                            std::to_string(ipc::kDescriptorsMax) +
                                            " (no limit with MAPI_SOCKET=none)");
    const std::lock_guard lock(mutex_);
    const ipc::Reply reply = connection_->ask(request, files);
    for (const engine::Argument &argument : arguments)
        argument.keep_files();
    add(function, reply.applied());
    if (!files.empty())
        recipe_.writer = function;
    recipe_.calls.push_back(std::move(request));
    return reply.applied().function();
}

void RemoteFlow::add(const std::string &name, const ipc::Applied &applied)
{
    const size_t bytes = applied.result_bytes();
    Function &function = functions_.emplace_back();
    function.name = name;
    if (applied.has_result())
        function.published =
            engine::Published(connection_->engine_memory(applied.result_offset(),
                                                         engine::Published::memory_bytes(bytes)),
                              bytes);
    function.result = std::vector<std::atomic<uint64_t>>(engine::Published::words_for(bytes));
    function.results.res = function.result.data();
    function.results.size = int(bytes);
    function.has_results_in_ring = applied.has_results_in_ring();
    function.has_packets_in_ring = applied.has_packets_in_ring();
    function.is_composed = applied.is_composed();
    if (applied.is_since_last())
        function.since_last = std::make_unique<engine::SinceLast>();
    if (!applied.has_ring())
        return;
    const ipc::Ring &ring = applied.ring();
    function.writer_waits = ring.writer_waits();
    const ring::RingPages pages{
        reinterpret_cast<ring::WriterPage *>(
            connection_->engine_memory(ring.writer_offset(), sizeof(ring::WriterPage))),
        reinterpret_cast<ring::ReaderPage *>(
            connection_->client_memory(ring.reader_offset(), sizeof(ring::ReaderPage))),
        connection_->engine_memory(ring.data_offset(), ring.data_bytes()), ring.data_bytes()};
    function.records = std::make_unique<ring::RecordSource>(pages, ring.reader_returns());
    if (const mapi_function *table = applied.is_composed() ? find_composing(name) : nullptr)
        function.composed = std::make_unique<engine::ComposedResult>(*table);
}

engine::Target RemoteFlow::target(int fid, bool is_whole)
{
    ipc::Request request;
    auto &call = *request.mutable_check_target();
    call.set_flow(number_);
    call.set_function(fid);
    call.set_is_whole(is_whole);
    connection_->ask(request);
    engine::Target target;
    target.flow = number_;
    target.function = fid;
    return target;
}

void RemoteFlow::set_option(int option, uint64_t value)
{
    ipc::Request request;
    request.mutable_set_flow_option()->set_flow(number_);
    request.mutable_set_flow_option()->set_option(option);
    request.mutable_set_flow_option()->set_value(value);
    const std::lock_guard lock(mutex_);
    connection_->ask(request);
    recipe_.calls.push_back(std::move(request));
}

uint64_t RemoteFlow::option(int option)
{
    ipc::Request request;
    request.mutable_get_flow_option()->set_flow(number_);
    request.mutable_get_flow_option()->set_option(option);
    return connection_->ask(request).flow_option();
}

void RemoteFlow::connect(const std::vector<std::shared_ptr<Flow>> &flows)
{
    const auto own = of_one_kind<RemoteFlow>(flows);
    for (const RemoteFlow *flow : own) {
        if (flow->connection_ != connection_)
            throw Error(MFUNCT_INVALID_ARGUMENT_1, "the flows are not of one mapid");
    }
    std::vector<int> numbers;
    for (const RemoteFlow *flow : own)
        numbers.push_back(flow->number_);
    ask_about(*connection_, numbers, &ipc::Request::mutable_connect,
              &ipc::Request::mutable_connect_flows);
    for (RemoteFlow *flow : own) {
        const std::lock_guard lock_of_flow(flow->mutex_);
        flow->make_shortcuts(flow->functions_.size());
        flow->is_connected_.store(true, std::memory_order_release);
    }
}

void RemoteFlow::reset(int fid)
{
    ipc::Request request;
    request.mutable_reset()->set_flow(number_);
    request.mutable_reset()->set_function(fid);
    const auto reset = [&] { connection_->ask(request); };
    const Function *const counted =
        fid >= 1 && size_t(fid) <= functions_.size() ? &functions_[size_t(fid) - 1] : nullptr;
    if (counted && counted->since_last)
        counted->since_last->restart(reset);
    else
        reset();
}

void RemoteFlow::remove(int fid)
{
    const std::lock_guard lock(mutex_);
    ipc::Request request;
    request.mutable_remove()->set_flow(number_);
    request.mutable_remove()->set_function(fid);
    connection_->ask(request);
    mark_removed(fid);
    recipe_.calls.push_back(std::move(request));
}

void RemoteFlow::mark_removed(int fid)
{
    Function &removed = function(fid);
    removed.is_removed = true;
    close_shortcut(fid);
    if (removed.records)
        removed.records->disturb();
}

void RemoteFlow::ask_again(const ipc::Request &call)
{
    const std::lock_guard lock(mutex_);
    const ipc::Reply reply = connection_->ask(call);
    if (call.has_apply())
        add(call.apply().function(), reply.applied());
    else if (call.has_remove())
        mark_removed(call.remove().function());
    recipe_.calls.push_back(call);
}

std::shared_ptr<const FlowRecipe> RemoteFlow::recipe_if_gone()
{
    if (connection_->is_alive())
        return nullptr;
    const std::lock_guard lock(mutex_);
    auto recipe = std::make_shared<FlowRecipe>(recipe_);
    recipe->is_connected = is_connected_;
    return recipe;
}

// No thread reads memory that soon belongs to another flow.
void RemoteFlow::turn_readers_away()
{
    is_closed_ = true;
    for (Function &function : functions_) {
        if (!function.records)
            continue;
        function.records->disturb();
        const auto lock = function.records->lock();
    }
}

void RemoteFlow::close(const std::vector<std::shared_ptr<Flow>> &flows)
{
    need_own_process();
    std::vector<std::unique_lock<std::mutex>> locks;
    std::map<Connection *, std::vector<int>> numbers;
    for (RemoteFlow *flow : of_one_kind<RemoteFlow>(flows)) {
        locks.emplace_back(flow->mutex_);
        flow->turn_readers_away();
        numbers[flow->connection_.get()].push_back(flow->number_);
    }
    std::exception_ptr first_error; // of one mapid; another one may still run
    for (const auto &[connection, of_connection] : numbers) {
        try {
            ask_about(*connection, of_connection, &ipc::Request::mutable_close,
                      &ipc::Request::mutable_close_flows);
        } catch (const Error &) {
            first_error = first_error ? first_error : std::current_exception();
        }
    }
    if (first_error)
        std::rethrow_exception(first_error);
}

int RemoteFlow::poll_descriptor(int fid)
{
    Function &function = connected_function(fid);
    if (!function.records || function.is_composed)
        throw Error(MAPI_INVALID_FID_FUNCID,
                    function.name + " does not return packets or results one by one");
    const auto lock = function.records->lock();
    if (!function.event.is_open()) {
        ipc::Request request;
        request.mutable_poll()->set_flow(number_);
        request.mutable_poll()->set_function(fid);
        std::vector<ipc::Descriptor> received;
        connection_->ask(request, {}, &received, 1);
        if (received.size() != 1)
            throw Error(MAPID_NO_FD, "mapid at " + connection_->path() + ": sent no descriptor");
        function.event = std::move(received[0]);
        function.records->set_event(function.event.number());
    }
    return function.event.number();
}

bool RemoteFlow::wait_for_end(int timeout_ms)
{
    if (!is_connected_)
        throw Error(MAPI_FLOW_NOT_CONNECTED, "the flow is not connected");
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!is_closed_ && status() == FLOW_ACTIVE) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (timeout_ms >= 0 && left <= 0)
            return false;
        need_mapid();
        ring::wait_for_change(*status_, FLOW_ACTIVE,
                              timeout_ms < 0 ? kLookAgainMs
                                             : int(std::min<int64_t>(left, kLookAgainMs)));
    }
    check_ended();
    return true;
}

// The readers are in this process, so mapid does not know exactly what they have read.
mapi_flow_status RemoteFlow::reported_status()
{
    const mapi_flow_status reported = mapi_flow_status(status());
    for (Function &function : functions_) {
        if (reported != FLOW_FINISHED || function.is_removed || !function.records ||
            function.is_composed)
            continue;
        const auto lock = function.records->lock();
        if (function.records->has_left(!function.has_packets_in_ring))
            return FLOW_ACTIVE;
    }
    return reported;
}

void RemoteFlow::describe(mapi_flow_info_t *info)
{
    for (Function &function : functions_) {
        const bool holds_device_up = is_connected_ && function.has_packets_in_ring &&
                                     function.writer_waits && !function.is_removed;
        if (holds_device_up && status() == FLOW_ACTIVE &&
            function.records->wait_whether_last(kWhetherOverMs, [this] { return is_alive(); }))
            wait_for_end(kWhetherOverMs); // until its files are written
    }
    ipc::Request request;
    request.mutable_describe_flow()->set_flow(number_);
    const ipc::FlowInfo reply = connection_->ask(request).flow_info();
    info->devid = reply.device_id();
    snprintf(info->device, sizeof(info->device), "%s", reply.device().c_str());
    info->num_functions = reply.functions();
    info->start_us = reply.start_us();
    info->end_us = reply.end_us();
    info->status = is_connected_ ? reported_status() : mapi_flow_status(reply.status());
}

void RemoteFlow::describe(int fid, mapi_function_info_t *info)
{
    ipc::Request request;
    request.mutable_describe_function()->set_flow(number_);
    request.mutable_describe_function()->set_function(fid);
    const ipc::FunctionInfo reply = connection_->ask(request).function_info();
    info->fid = fid;
    snprintf(info->name, sizeof(info->name), "%s", reply.name().c_str());
    info->pkts = reply.packets();
    info->passed_pkts = reply.passed_packets();
    info->dropped = reply.dropped();
    info->time_jumps = reply.time_jumps();
    info->unread_headers = reply.unread_headers();
    info->given_up = reply.given_up();
    info->result_size = reply.result_bytes();
    info->shared_with = reply.shared_with();
    snprintf(info->place, sizeof(info->place), "%s", reply.place().c_str());
}

int RemoteFlow::next_function(int fid)
{
    const std::lock_guard lock(mutex_);
    for (size_t i = size_t(std::max(fid, 0)); i < functions_.size(); ++i) {
        if (!functions_[i].is_removed)
            return int(i) + 1;
    }
    return 0;
}
} // namespace mapi::client
