// SPDX-License-Identifier: MIT
// Session: one client: its requests -> flows of its own.
#include "daemon/session/session.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

#include <nsprobe/probe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/reporting/log.hpp"
#include "daemon/reporting/registry_answers.hpp"
#include "daemon/session/function_rules.hpp"
#include "daemon/session/regular_file.hpp"
#include "daemon/session/request_arguments.hpp"
#include "daemon/session/request_log.hpp"
#include "daemon/session/session_answers.hpp"
#include "engine/error.hpp"

namespace mapi::daemon
{
namespace
{
constexpr int kSendTimeoutMs = 1000;
constexpr int kSettleMs = 1;
constexpr auto kHandshakeTime = std::chrono::seconds(5);
constexpr size_t kRecordingNameBytes = 400;
constexpr size_t kPollFiles = 2; // a pipe

// The text may contain names from the client, of any length.
void refuse(ipc::Reply &reply, int error, const std::string &text)
{
    reply.Clear();
    reply.set_error(error);
    reply.set_text(text.substr(0, MAPI_ERROR_TEXT_BYTES - 1));
}

// Whether a request leaves free memory behind: from compiling a function, from a plan, or from
// something closed.
bool leaves_memory(const ipc::Request &request)
{
    switch (request.call_case()) {
    case ipc::Request::kApply:
    case ipc::Request::kConnect:
    case ipc::Request::kConnectFlows:
    case ipc::Request::kReset:
    case ipc::Request::kRemove:
    case ipc::Request::kClose:
    case ipc::Request::kDeleteOffline: return true;
    default: return false;
    }
}
} // namespace

Session::Session(const Service &service, ipc::Descriptor socket, Peer peer)
    : service_(service), channel_(std::move(socket)), peer_(std::move(peer)),
      quotas_(service.limits, service.users.of(peer_)),
      registry_number_(service_.clients.add_client(peer_, quotas_.memory(), quotas_.user().memory)),
      handshake_end_(Clock::now() + kHandshakeTime),
      own_(service.registry,
           {kOwnDevicesFrom, false, true, &service.devices, log_plan, quotas_.memory()}),
      ended_(std::make_shared<ipc::Descriptor>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)))
{
}

Session::~Session()
{
    if (pulse_.memory())
        service_.pulse.remove(*static_cast<ipc::PulseWord *>(pulse_.memory()));
    try {
        service_.clients.remove_client(registry_number_);
    } catch (const std::exception &error) {
        service_.log.warn(peer_.uid,
                          "client {} of user {}: its packets are missing from the metrics: {}",
                          peer_.pid, peer_.uid, error.what());
    }
    try {
        std::vector<std::shared_ptr<engine::Flow>> flows;
        for (auto &[number, entry] : flows_)
            flows.push_back(entry.flow);
        engine::Flow::close(flows);
    } catch (const std::exception &error) {
        service_.log.warn(peer_.uid, "client {} of user {}: cannot close its flows: {}", peer_.pid,
                          peer_.uid, error.what());
    }
}

void Session::serve(int stop_descriptor)
{
    stop_descriptor_ = stop_descriptor;
    ipc::Message message;
    while (wait(stop_descriptor) && channel_.receive(message, arena_ ? ipc::kDescriptorsMax : 0))
        answer(message);
}

// False: the daemon is ending.
bool Session::wait(int stop_descriptor)
{
    while (true) {
        pollfd events[] = {{channel_.socket(), POLLIN, 0},
                           {stop_descriptor, POLLIN, 0},
                           {ended_->number(), POLLIN, 0}};
        is_settling_ = is_settling_ && !settle();
        const int ready = ::poll(events, 3, patience_ms());
        if (ready < 0 && errno != EINTR)
            throw ipc::ChannelError("cannot wait for requests");
        if (ready == 0 && !arena_)
            throw ipc::ChannelError("handshake timed out");
        uint64_t count;
        if (events[2].revents && read(ended_->number(), &count, sizeof(count)) < 0)
            throw ipc::ChannelError("cannot read an event");
        is_settling_ |= events[2].revents != 0;
        if (events[0].revents || events[1].revents)
            return events[1].revents == 0;
    }
}

int Session::patience_ms() const
{
    if (arena_)
        return is_settling_ ? kSettleMs : -1;
    return std::max(
        0,
        int(std::chrono::ceil<std::chrono::milliseconds>(handshake_end_ - Clock::now()).count()));
}

// No event signals that a flow's files are written.  True: no flow that has ended still waits for
// that.
bool Session::settle()
{
    bool is_settled = true;
    for (auto &[number, entry] : flows_)
        is_settled &= !entry.flow->has_ended() || entry.flow->settle();
    return is_settled;
}

void Session::answer(ipc::Message &message)
{
    ipc::Request request;
    ipc::Reply reply;
    to_send_.clear();
    if (!request.ParseFromString(message.bytes))
        throw ipc::ChannelError("malformed request");
    if (!arena_ && !request.has_hello())
        throw ipc::ChannelError("the first message is not a handshake");
    close_unwanted(request, message.descriptors);
    if (arena_)
        arena_->take_refusal(); // of an earlier request
    try {
        if (message.has_lost_descriptors)
            throw Error(MAPI_LIMIT_REACHED, "mapid has reached its limit of open files");
        dispatch(request, message.descriptors, reply);
    } catch (const Error &error) {
        if (arena_ && arena_->take_refusal()) // functions report lack of memory in many ways
            refuse(reply, MAPI_LIMIT_REACHED, no_memory());
        else
            refuse(reply, error.number(), error.what());
    } catch (const std::bad_alloc &) {
        refuse(reply, MAPI_LIMIT_REACHED, no_memory());
    } catch (const std::system_error &error) {
        refuse(reply, MAPI_INTERNAL_ERROR, std::string("mapid: ") + error.what());
    }
    if (leaves_memory(request))
        service_.housekeeping.want();
    // descriptors that were not taken are not kept until the next request
    message.descriptors.clear();
    service_.clients.tally.limits_reached += reply.error() == MAPI_LIMIT_REACHED;
    service_.clients.tally.access_refused += reply.error() == MAPID_NOT_AUTHENTICATED;
    log_request(peer_.pid, request, reply);
    reply.set_is_reply(true);
    NET_SLICE_SCOPE(ipc_reply);
    channel_.send(reply.SerializeAsString(), to_send_, kSendTimeoutMs);
    if (!arena_)
        throw ipc::ChannelError("handshake refused: " + reply.text());
}

std::string Session::no_memory() const
{
    if (arena_ && arena_->is_user_short())
        return "all programs of user " + std::to_string(peer_.uid) +
               " together have reached their memory limit of " +
               std::to_string(service_.limits.user_bytes >> 20) + " MiB (--max-user-memory)";
    return "the client has reached its memory limit of " +
           std::to_string(service_.limits.memory_bytes >> 20) + " MiB (--max-memory)";
}

// The start and end of a recording cannot be in it.
void Session::dispatch(const ipc::Request &request, std::vector<ipc::Descriptor> &descriptors,
                       ipc::Reply &reply)
{
    if (request.has_stop_recording())
        return stop_recording(reply);
    if (!request.has_start_recording())
        return dispatch_probed(request, descriptors, reply);
    start_recording(request.start_recording(), only_file(descriptors, "a recording"));
}

void Session::dispatch_probed(const ipc::Request &request,
                              std::vector<ipc::Descriptor> &descriptors, ipc::Reply &reply)
{
    NET_SLICE_SCOPE(ipc_request);
    switch (request.call_case()) {
    case ipc::Request::kHello: return hello(request.hello(), reply);
    case ipc::Request::kCreateFlow: return create_flow(request.create_flow(), reply);
    case ipc::Request::kCreateOffline:
        return create_offline(request.create_offline(), only_file(descriptors, "a capture"), reply);
    case ipc::Request::kAppendOffline:
        return append_offline(request.append_offline(), only_file(descriptors, "a capture"));
    case ipc::Request::kStartOffline: return own_.start_offline(request.start_offline().device());
    case ipc::Request::kDeleteOffline:
        own_.delete_offline(request.delete_offline().device());
        captures_.erase(request.delete_offline().device());
        return;
    case ipc::Request::kSetOption: return set_option(request.set_option());
    case ipc::Request::kDescribeName:
        return describe(service_.registry.function(request.describe_name().name()), reply);
    case ipc::Request::kFunctionAt:
        return describe(service_.registry.function_at(request.function_at().number()), reply);
    case ipc::Request::kApply: return apply(request.apply(), descriptors, reply);
    case ipc::Request::kCheckTarget:
        find(request.check_target().flow())
            .flow->target(request.check_target().function(), request.check_target().is_whole());
        return;
    case ipc::Request::kReset:
        return find(request.reset().flow()).flow->reset(request.reset().function());
    case ipc::Request::kRemove:
        return find(request.remove().flow()).flow->remove(request.remove().function());
    case ipc::Request::kSetFlowOption: {
        const ipc::FlowOption &call = request.set_flow_option();
        return find(call.flow()).flow->set_option(call.option(), call.value());
    }
    case ipc::Request::kGetFlowOption:
        return reply.set_flow_option(find(request.get_flow_option().flow())
                                         .flow->option(request.get_flow_option().option()));
    case ipc::Request::kConnect: return find(request.connect().flow()).flow->connect();
    case ipc::Request::kConnectFlows: return connect(numbers_of(request.connect_flows()));
    case ipc::Request::kClose: return close({request.close().flow()});
    case ipc::Request::kCloseFlows: return close(numbers_of(request.close_flows()));
    case ipc::Request::kDescribeFlow: return describe_flow(request.describe_flow().flow(), reply);
    case ipc::Request::kDescribeFunction:
        return describe_function(request.describe_function(), reply);
    case ipc::Request::kDescribeDevice:
        return describe_device(request.describe_device().id(), reply);
    case ipc::Request::kNextDevice: return next_device(request.next_device().id(), reply);
    case ipc::Request::kStatistics: return statistics(request.statistics().device(), reply);
    case ipc::Request::kPoll: return poll(request.poll());
    case ipc::Request::kListDevices:
        return show_devices(service_, peer_, request.list_devices(), *reply.mutable_devices());
    case ipc::Request::kListFlows:
        return show_flows(service_, peer_, request.list_flows(), *reply.mutable_flows());
    case ipc::Request::kAskDaemon: return show_daemon(service_, peer_, *reply.mutable_daemon());
    case ipc::Request::kMeasureCost: return measure_cost(request.measure_cost(), reply);
    case ipc::Request::kStartRecording:
    case ipc::Request::kStopRecording:
    case ipc::Request::CALL_NOT_SET: break;
    }
    throw Error(MCOM_UNKNOWN_ERROR, "unknown request: mapid is older than the program's libmapi");
}

void Session::hello(const ipc::Hello &call, ipc::Reply &reply)
{
    if (call.version() != ipc::kProtocolVersion)
        throw Error(MCOM_UNKNOWN_ERROR, "protocol version mismatch: mapid has version " +
                                            std::to_string(ipc::kProtocolVersion) + ", libmapi " +
                                            std::to_string(call.version()));
    if (arena_)
        throw ipc::ChannelError("a second handshake");
    arena_ = std::make_shared<SharedArena>(service_.limits.memory_bytes,
                                           size_t(kFlowNumberMax) * 64, quotas_.user().memory);
    engine_client_ = std::make_shared<engine::Client>(arena_, quotas_.memory());
    pulse_ = engine::ArenaBlock(arena_, engine::Arena::Side::kEngine, sizeof(ipc::PulseWord));
    service_.pulse.add(*new (pulse_.memory()) ipc::PulseWord(0));
    auto &welcome = *reply.mutable_welcome();
    welcome.set_version(ipc::kProtocolVersion);
    for (const auto side : {engine::Arena::Side::kEngine, engine::Arena::Side::kClient})
        to_send_.push_back(arena_->piece(side).descriptor());
    welcome.set_engine_bytes(arena_->piece(engine::Arena::Side::kEngine).bytes());
    welcome.set_client_bytes(arena_->piece(engine::Arena::Side::kClient).bytes());
    welcome.set_pulse_offset(
        arena_->piece(engine::Arena::Side::kEngine).offset_of(pulse_.memory()));
}

void Session::set_option(const ipc::DeviceOption &call)
{
    if (!own_.has(call.device()))
        throw Error(MFUNCT_INVALID_ARGUMENT_1,
                    "device " + call.device() +
                        ": belongs to mapid, which sets its options in mapi.conf (set "
                        "MAPI_SOCKET=none to capture in this process)");
    // The capture was opened by the client: no option may lead elsewhere.
    for (const char *key : {"device", "alias", "driver", "path", "group"}) {
        if (call.key() == key)
            throw Error(MFUNCT_INVALID_ARGUMENT_2,
                        call.key() + "= cannot be changed for a capture that mapid reads");
    }
    quotas_.add_option(call.key().size() + call.value().size());
    own_.set_option(call.device(), call.key(), call.value());
}

void Session::poll(const ipc::Target &call)
{
    FlowEntry &entry = find(call.flow());
    const engine::FunctionMemory memory = entry.flow->memory(call.function());
    engine::RingMemory *const ring = memory.ring;
    if (!ring || memory.is_composed)
        throw Error(MAPI_INVALID_FID_FUNCID,
                    "the function does not return packets or results one by one");
    QuotaUses held = quotas_.nothing();
    if (!ring->writer().has_poll_descriptor())
        quotas_.add_files(held, kPollFiles);
    const int descriptor = ring->writer().poll_descriptor();
    if (descriptor < 0)
        throw Error(MAPI_LIMIT_REACHED,
                    std::string("mapid cannot create a pipe to wait for: ") + strerror(errno));
    entry.held->take_over(std::move(held));
    to_send_.push_back(descriptor);
}

// mapid opens no file for a client, and its activity is not public.
void Session::start_recording(const ipc::StartRecording &request, const ipc::Descriptor &file)
{
    if (!is_operator(peer_))
        throw Error(MAPID_NOT_AUTHENTICATED,
                    "permission denied: user " + std::to_string(peer_.uid) +
                        " is neither root nor the user that mapid runs as");
    check_regular(file, MAPI_ERROR_FILE, request.name());
    recording_ = std::make_unique<Recording>(request.name().substr(0, kRecordingNameBytes),
                                             file.number(), request.slices());
}

void Session::stop_recording(ipc::Reply &reply)
{
    if (!recording_)
        throw Error(MFUNCT_INVALID_ARGUMENT, "this client has not started a recording");
    const RecordingEnd end = std::exchange(recording_, nullptr)->end();
    ipc::Recorded &recorded = *reply.mutable_recorded();
    recorded.set_records(end.records);
    recorded.set_lost(end.lost);
    recorded.set_file_bytes(end.file_bytes);
    recorded.set_error(end.error);
}
} // namespace mapi::daemon
