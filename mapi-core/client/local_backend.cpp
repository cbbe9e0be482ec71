// SPDX-License-Identifier: MIT
// Local backend: the engine in this process.
#include "client/local_backend.hpp"

#include "drivers/catalog.hpp"
#include "engine/error.hpp"
#include "engine/flow.hpp"
#include "functions/catalog.hpp"

namespace mapi::client
{
namespace
{
// The packet thread ends with the process, and a flow that has ended stays readable.
constexpr std::atomic<uint32_t> kAlwaysActive = FLOW_ACTIVE;

class LocalFlow final : public Flow
{
public:
    LocalFlow(const engine::Registry &registry, std::shared_ptr<engine::Device> device,
              std::shared_ptr<engine::Client> client)
        : registry_(registry),
          flow_(std::make_shared<engine::Flow>(std::move(device), std::move(client)))
    {
    }

    int apply(const std::string &function, engine::Arguments arguments) override
    {
        return flow_->apply(registry_.function(function), std::move(arguments));
    }
    engine::Target target(int fid, bool is_whole) override { return flow_->target(fid, is_whole); }
    engine::FlowBegun begun() override { return flow_->begun(); }
    bool is_connected() override { return flow_->is_connected(); }
    void set_option(int option, uint64_t value) override { flow_->set_option(option, value); }
    uint64_t option(int option) override { return flow_->option(option); }
    void connect(const std::vector<std::shared_ptr<Flow>> &flows) override
    {
        const auto own = of_one_kind<LocalFlow>(flows);
        std::vector<engine::Flow *> connected;
        for (const LocalFlow *flow : own)
            connected.push_back(flow->flow_.get());
        engine::Flow::connect(connected);
        for (LocalFlow *flow : own)
            flow->make_shortcuts(flow->flow_->function_count());
    }
    void reset(int fid) override { flow_->reset(fid); }
    void remove(int fid) override
    {
        flow_->remove(fid);
        close_shortcut(fid);
    }
    void close(const std::vector<std::shared_ptr<Flow>> &flows) override
    {
        std::vector<std::shared_ptr<engine::Flow>> closed;
        for (const LocalFlow *flow : of_one_kind<LocalFlow>(flows))
            closed.push_back(flow->flow_);
        engine::Flow::close(closed);
    }
    mapi_results_t *read_results(int fid) override
    {
        mapi_results_t *const results = flow_->read_results(fid);
        if (engine::Applied *const share = flow_->share_of_word(fid))
            open_shortcut(fid,
                          WordPlace{share->node->output().published().first(), &share->base_result,
                                    share->result.data(), &share->results, &kAlwaysActive},
                          [&] { return flow_->is_removed(fid); });
        return results;
    }
    mapi_results_t *next_results(int fid) override { return flow_->next_results(fid); }
    const mapipkt *next_packet(int fid) override
    {
        const mapipkt *const packet = flow_->next_packet(fid);
        if (ring::RecordSource *const packets = flow_->packets(fid))
            open_shortcut(fid, *packets, [&] { return flow_->is_removed(fid); });
        return packet;
    }
    int next_packets(int fid, const mapipkt **packets, int most, int timeout_ms) override
    {
        return flow_->next_packets(fid, packets, most, timeout_ms);
    }
    int poll_descriptor(int fid) override { return flow_->poll_descriptor(fid); }
    bool wait_for_end(int timeout_ms) override { return flow_->wait_for_end(timeout_ms); }
    void describe(mapi_flow_info_t *info) override
    {
        flow_->wait_whether_over(kWhetherOverMs);
        flow_->describe(info);
    }
    void describe(int fid, mapi_function_info_t *info) override { flow_->describe(fid, info); }
    int next_function(int fid) override { return flow_->next_function(fid); }

private:
    const engine::Registry &registry_;
    const std::shared_ptr<engine::Flow> flow_;
};
} // namespace

LocalBackend::LocalBackend()
    : registry_(functions::catalog(), drivers::catalog(), engine::load_plugins()),
      devices_(registry_)
{
}

FunctionDescription LocalBackend::function(const std::string &name)
{
    const mapi_function &function = registry_.function(name);
    return {function.name, engine::argument_letters(function), function.description};
}

FunctionDescription LocalBackend::function_at(int number)
{
    const mapi_function &function = registry_.function_at(number);
    return {function.name, engine::argument_letters(function), function.description};
}

std::shared_ptr<Flow> LocalBackend::create_flow(int, const std::string &device)
{
    return std::make_shared<LocalFlow>(registry_, devices_.acquire(device), client_);
}

std::shared_ptr<Flow> LocalBackend::create_offline_flow(int, const std::string &path, int format)
{
    return std::make_shared<LocalFlow>(registry_, devices_.create_private(path, format), client_);
}

// A process that has used a mapid never captures by itself.
std::shared_ptr<Flow> LocalBackend::create_again(const FlowRecipe &)
{
    throw Error(MAPI_INTERNAL_ERROR,
                "a flow of mapid cannot be recreated in a process that captures by itself");
}
} // namespace mapi::client
