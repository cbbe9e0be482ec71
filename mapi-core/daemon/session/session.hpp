// SPDX-License-Identifier: MIT
// Session: one client: its requests -> flows of its own.  Everything that it holds is freed with
// it.
#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "daemon/recording.hpp"
#include "daemon/service.hpp"
#include "daemon/session/client_quotas.hpp"
#include "daemon/shared_arena.hpp"
#include "engine/flow.hpp"
#include "ipc/channel.hpp"
#include "ipc/mapi.pb.h"

namespace mapi::daemon
{
// Used by its own thread.
class Session
{
public:
    Session(const Service &service, ipc::Descriptor socket, Peer peer);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // Serves until the client disconnects, breaks the protocol (ipc::ChannelError) or
    // stop_descriptor becomes readable.
    void serve(int stop_descriptor);

private:
    static constexpr int kFlowNumberMax = 32768;

    static constexpr int kOwnDevicesFrom = 1 << 20; // numbers of devices that the client made

    struct FlowEntry {
        std::shared_ptr<engine::Flow> flow;
        std::string device;
        // of the flow: returned when nothing of it is in use any more
        std::shared_ptr<QuotaUses> held;
    };

    using Clock = std::chrono::steady_clock;

    bool wait(int stop_descriptor);
    int patience_ms() const;
    bool settle();
    void answer(ipc::Message &message);
    void dispatch(const ipc::Request &request, std::vector<ipc::Descriptor> &descriptors,
                  ipc::Reply &reply);
    void dispatch_probed(const ipc::Request &request, std::vector<ipc::Descriptor> &descriptors,
                         ipc::Reply &reply);

    void hello(const ipc::Hello &call, ipc::Reply &reply);
    void create_flow(const ipc::CreateFlow &call, ipc::Reply &reply);
    static void check_capture(const std::string &path, const ipc::Descriptor &file);
    void create_offline(const ipc::CreateOffline &call, const ipc::Descriptor &file,
                        ipc::Reply &reply);
    void append_offline(const ipc::AppendOffline &call, const ipc::Descriptor &file);
    void apply(const ipc::Apply &call, std::vector<ipc::Descriptor> &descriptors,
               ipc::Reply &reply);
    std::vector<int> numbers_of(const ipc::FlowNumbers &call);
    void connect(const std::vector<int> &numbers);
    void close(const std::vector<int> &numbers);
    void set_option(const ipc::DeviceOption &call);
    void describe(const mapi_function &function, ipc::Reply &reply) const;
    void describe_flow(int number, ipc::Reply &reply);
    void describe_function(const ipc::Target &call, ipc::Reply &reply);
    void describe_device(int id, ipc::Reply &reply);
    void next_device(int id, ipc::Reply &reply);
    void statistics(const std::string &device, ipc::Reply &reply);
    void poll(const ipc::Target &call);
    void measure_cost(const ipc::MeasureCost &call, ipc::Reply &reply) const;
    void start_recording(const ipc::StartRecording &request, const ipc::Descriptor &file);
    void stop_recording(ipc::Reply &reply);

    std::string no_memory() const;
    FlowEntry &find(int number);
    QuotaUses place_for(int number, size_t files) const;
    void check_access(const std::string &device) const;
    void add_flow(int number, std::shared_ptr<engine::Device> device, const std::string &name,
                  QuotaUses held, ipc::Reply &reply, std::shared_ptr<QuotaUses> capture = {});

    const Service &service_;
    ipc::Channel channel_;
    const Peer peer_;
    ClientQuotas quotas_;
    const uint64_t registry_number_;
    const Clock::time_point handshake_end_;         // end of the time for the handshake
    std::shared_ptr<SharedArena> arena_;            // null before Hello
    engine::ArenaBlock pulse_;                      // a word in it; null before Hello
    std::shared_ptr<engine::Client> engine_client_; // shared by its flows; null before Hello
    engine::Devices own_;                           // captures that the client has opened
    std::map<std::string, CaptureUses>
        captures_;                         // those without a flow of their own, by device name
    std::vector<int> numbers_;             // flows of a call that is not complete yet
    std::map<int, FlowEntry> flows_;       // by the client's numbers
    std::unique_ptr<Recording> recording_; // started by the client
    std::vector<int> to_send_;
    int stop_descriptor_ = -1; // readable: the daemon is ending
    const std::shared_ptr<ipc::Descriptor>
        ended_;                // an event: a flow has ended, and its files are not written yet
    bool is_settling_ = false; // since then; otherwise no flow needs to be checked
};
} // namespace mapi::daemon
