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
constexpr int kFlowNumberMax = 32768;
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
    case ipc::Request::kConnectFlows: return connect(request.connect_flows());
    case ipc::Request::kClose: return close(request.close().flow());
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

Session::FlowEntry &Session::find(int number)
{
    const auto found = flows_.find(number);
    if (found == flows_.end())
        throw Error(MAPI_INVALID_FLOW, "there is no flow " + std::to_string(number));
    return found->second;
}

// Charges for a flow with this number; they are returned if the flow is not created.
QuotaUses Session::place_for(int number, size_t files) const
{
    if (number < 1 || number > kFlowNumberMax || flows_.contains(number))
        throw ipc::ChannelError("malformed request: invalid flow number");
    QuotaUses held = quotas_.nothing();
    quotas_.add_place(held);
    quotas_.add_files(held, files);
    return held;
}

void Session::check_access(const std::string &device) const
{
    const std::string own = device.empty() ? "" : service_.devices.group_of(device);
    const std::string group = own.empty() ? service_.group : own;
    if (!may_use(peer_, own, service_.group))
        throw Error(MAPID_NOT_AUTHENTICATED, (device.empty() ? "captures" : "device " + device) +
                                                 ": permission denied: user " +
                                                 std::to_string(peer_.uid) + " is not in group \"" +
                                                 group +
                                                 "\" (join the group, or set MAPI_SOCKET=none to "
                                                 "capture in this process)");
}

void Session::create_flow(const ipc::CreateFlow &call, ipc::Reply &reply)
{
    const bool is_own = own_.has(call.device());
    const auto capture = captures_.find(call.device());
    const bool has_charge = !is_own || capture != captures_.end();
    QuotaUses held = place_for(call.flow(), has_charge ? 0 : 1);
    if (!is_own)
        check_access(call.device());
    add_flow(call.flow(), (is_own ? own_ : service_.devices).acquire(call.device()), call.device(),
             std::move(held), reply, is_own && has_charge ? capture->second.read : nullptr);
}

void Session::check_capture(const std::string &path, const ipc::Descriptor &file)
{
    check_regular(file, MAPI_ERROR_FILE, path);
    if (path.size() > PATH_MAX)
        throw Error(MAPI_ERROR_FILE,
                    "the capture's name is longer than " + std::to_string(PATH_MAX) + " bytes");
}

void Session::create_offline(const ipc::CreateOffline &call, const ipc::Descriptor &file,
                             ipc::Reply &reply)
{
    check_access("");
    check_capture(call.path(), file);
    if (call.flow() == 0) {
        CaptureUses uses = quotas_.capture();
        quotas_.add_place(uses.given);
        const std::string device = own_.create_offline(call.path(), call.format(), file.number());
        reply.mutable_device()->set_device(device);
        captures_[device] = std::move(uses);
        return;
    }
    QuotaUses held = place_for(call.flow(), 1);
    auto device = own_.create_private(call.path(), call.format(), file.number());
    add_flow(call.flow(), device, device->settings().name, std::move(held), reply);
}

void Session::append_offline(const ipc::AppendOffline &call, const ipc::Descriptor &file)
{
    check_access("");
    check_capture(call.path(), file);
    const auto capture = captures_.find(call.device());
    if (capture == captures_.end())
        throw Error(MAPID_NO_DEVICE, "there is no offline device \"" + call.device() + "\"");
    CaptureUses uses = quotas_.capture();
    own_.append_offline(call.device(), call.path(), file.number());
    capture->second.take_over(std::move(uses));
}

void Session::add_flow(int number, std::shared_ptr<engine::Device> device, const std::string &name,
                       QuotaUses held, ipc::Reply &reply, std::shared_ptr<QuotaUses> capture)
{
    auto flow = std::make_shared<engine::Flow>(std::move(device), engine_client_);
    flow->set_on_end([ended = ended_] { // may be called after the session has ended
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(ended->number(), &one, sizeof(one));
    });
    reply.mutable_flow()->set_status_offset(
        arena_->piece(engine::Arena::Side::kEngine).offset_of(flow->shown_status()));
    reply.mutable_flow()->set_device(name);
    service_.clients.add_flow(registry_number_, number, flow);
    const auto uses = std::make_shared<QuotaUses>(std::move(held));
    flow->keep(std::make_shared<std::pair<decltype(capture), decltype(capture)>>(
        uses, std::move(capture))); // a deleted capture stays open with its flows
    flows_[number] = {std::move(flow), name, uses};
}

void Session::apply(const ipc::Apply &call, std::vector<ipc::Descriptor> &descriptors,
                    ipc::Reply &reply)
{
    FlowEntry &entry = find(call.flow());
    QuotaUses held = quotas_.nothing();
    quotas_.add_function(held);
    const mapi_function &function = service_.registry.function(call.function());
    check_readable(function, service_.registry);
    const unsigned written =
        ((function.ending && function.ending->is_settled) || (function.flags & MAPI_FUNCTION_SENDS)
             ? 1
             : 0) +
        unsigned(std::max<size_t>(descriptors.size(), 1) - 1);
    quotas_.add_written(held, written);
    quotas_.add_files(held, written);
    // The letters are checked again: the message may come from any program.
    engine::Arguments arguments =
        ArgumentReader(
            peer_, [this](int flow) { return find(flow).flow; }, descriptors)
            .read(call, engine::argument_letters(function));
    check_sending(function, arguments, peer_);
    check_lengths(function, arguments);
    const int fid = entry.flow->apply(function, std::move(arguments));
    entry.held->take_over(std::move(held));
    show(fid, entry.flow->memory(fid), *arena_, *reply.mutable_applied());
}

void Session::connect(const ipc::FlowNumbers &call)
{
    std::vector<int> numbers = std::exchange(to_connect_, {});
    if (numbers.size() + size_t(call.flows_size()) > flows_.size())
        throw Error(MFUNCT_INVALID_ARGUMENT_1, "a flow is listed twice");
    numbers.insert(numbers.end(), call.flows().begin(), call.flows().end());
    if (call.has_more())
        return std::swap(to_connect_, numbers);
    std::vector<engine::Flow *> flows;
    for (const int number : numbers)
        flows.push_back(find(number).flow.get());
    engine::Flow::connect(flows);
}

void Session::close(int number)
{
    FlowEntry &entry = find(number);
    service_.clients.remove_flow(registry_number_, number);
    entry.flow->close();
    flows_.erase(number);
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
