// SPDX-License-Identifier: MIT
// Device: creation and flows, called by clients' threads.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <set>

#include "engine/error.hpp"
#include "engine/packet_path/chain.hpp"
#include "engine/packet_path/device.hpp"

namespace mapi::engine
{
namespace
{
constexpr auto kCloseTime = std::chrono::milliseconds(200);
// A driver's new program waits for a grace period of the kernel, on a busy machine for long.
constexpr auto kSwitchTime = std::chrono::milliseconds(5000);
constexpr auto kLookInterval = std::chrono::milliseconds(1);
} // namespace

Device::Device(int id, DeviceSettings settings, const mapi_driver &driver, bool start_at_connect,
               PlanObserver on_plan, std::shared_ptr<Quota> quota)
    : id_(id), settings_(std::move(settings)), driver_(driver), start_at_connect_(start_at_connect),
      on_plan_(std::move(on_plan)),
      memory_(quota ? std::make_unique<DriverMemory>(std::move(quota)) : nullptr)
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_driver_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.path = settings_.path.c_str();
    setup.repeat = settings_.repeat;
    const std::vector<uint64_t> options = settings_.option_values(driver_);
    setup.options = options.data();
    setup.has_file = settings_.file >= 0;
    setup.file = settings_.file;
    setup.memory = memory_ ? &memory_->calls() : nullptr;
    setup.error = text;
    setup.error_bytes = sizeof(text);
    if (const int number = driver_.open(&setup, &source_, &info_); number != 0)
        throw Error(number, *text ? text : settings_.name + ": cannot be opened");
    try {
        for (const auto &[path, file] : settings_.more)
            append(path, file);
        if (!settings_.waits_for_readers)
            info_.device_flags &= ~uint32_t(MAPI_DEVICE_OFFLINE);
        install({}, {});
    } catch (...) {
        driver_.close(source_);
        throw;
    }
}

Device::~Device()
{
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        plan_changed_.notify_all();
    }
    if (group_thread_.joinable())
        group_thread_.join();
    if (driver_.interrupt)
        driver_.interrupt(source_);
    for (const auto &chain : current_->chains()) {
        chain->close();
        chain->cancel();
    }
    if (thread_.joinable())
        thread_.join();
    set_prefilter(nullptr);
    for (const auto &chain : current_->chains())
        chain->end();
    free_retired();
    current_.reset(); // its program is the driver's
    driver_.close(source_);
}

void Device::append(const std::string &path, int file)
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_driver_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.path = path.c_str();
    setup.has_file = file >= 0;
    setup.file = file;
    setup.error = text;
    setup.error_bytes = sizeof(text);
    const std::lock_guard lock(mutex_);
    if (state_ != State::kIdle)
        throw Error(MDLIB_FLOW_ALREADY_ACTIVE,
                    settings_.name +
                        ": is already started; captures can be appended only before the start");
    if (!driver_.file || !driver_.file->append)
        throw Error(MAPID_NO_DRIVER,
                    settings_.name + ": driver " + driver_.name + " cannot read several captures");
    if (const int number = driver_.file->append(source_, &setup); number != 0)
        throw Error(number, *text ? text : path + ": cannot be opened");
}

void Device::start()
{
    const std::lock_guard lock(mutex_);
    start_source();
    start_thread();
}

bool Device::has_started()
{
    const std::lock_guard lock(mutex_);
    return state_ != State::kIdle;
}

// Packets that arrive from here on belong to the flows.  Throws Error.
void Device::start_source()
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    if (state_ != State::kIdle || !driver_.live || !driver_.live->start)
        return;
    if (const int number = driver_.live->start(source_, text, sizeof(text)); number != 0)
        throw Error(number, *text ? text : settings_.name + ": cannot be started");
}

void Device::start_thread()
{
    if (state_ != State::kIdle)
        return;
    thread_ = std::thread([this] { run(); }); // may throw; the thread begins once the lock is free
    state_ = State::kRunning;
}

std::shared_ptr<Node> Device::make_node(const mapi_function &function, Arguments arguments,
                                        const std::shared_ptr<Client> &client,
                                        const FlowOptions &options)
{
    // Not make_shared(): a weak reference in nodes_ would keep the node's memory.
    std::shared_ptr<Node> node(
        new Node(function, std::move(arguments), info_, totals_, client, options));
    const std::lock_guard lock(mutex_);
    if (nodes_.size() == nodes_.capacity())
        std::erase_if(nodes_, [](const auto &known) { return known.expired(); });
    nodes_.push_back(node);
    return node;
}

std::shared_ptr<Node> Device::join_node(const mapi_function &function, Arguments arguments,
                                        const std::shared_ptr<Client> &client,
                                        const FlowOptions &options)
{
    const NodeArguments wanted(arguments);
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(to_join_, [](const auto &known) {
            const auto node = known.lock();
            return !node || node->has_step();
        });
        for (const auto &known : to_join_) {
            auto node = known.lock();
            if (node && &node->function() == &function && node->arguments() == wanted &&
                node->client() == client && node->options() == options)
                return node;
        }
    }
    auto node = make_node(function, std::move(arguments), client, options);
    const std::lock_guard lock(mutex_);
    to_join_.push_back(node);
    return node;
}

SharedNodes &Device::shared_nodes()
{
    if (!shared_) {
        shared_ = std::make_unique<SharedNodes>();
        for (const auto &node : current_->nodes())
            shared_->add(*node);
    }
    return *shared_;
}

// A flow is active only if it is in a plan: after a throw the flows are as before.
void Device::activate(const Chains &chains, Chains all, const std::vector<Chain::Nodes> &own)
{
    const Plan *const before = current_.get();
    try {
        for (const auto &chain : chains)
            chain->activate(shared_nodes());
        install(std::move(all), current_->groups());
    } catch (...) {
        if (current_.get() == before) {
            shared_.reset(); // it has nodes of these flows
            for (size_t i = 0; i < chains.size(); ++i)
                chains[i]->deactivate(own[i]);
        }
        throw;
    }
}

void Device::connect(const Chains &chains)
{
    std::vector<Chain::Nodes> own; // freed without the lock
    for (const auto &chain : chains)
        own.push_back(chain->nodes());
    {
        const std::lock_guard lock(mutex_);
        auto all = current_->chains();
        all.insert(all.end(), chains.begin(), chains.end());
        if (start_at_connect_) {
            if (state_ == State::kIdle)
                set_filter(all); // before the first packets
            start_source();
            start_thread();
        }
        activate(chains, std::move(all), own);
        for (const auto &chain : chains) {
            if (state_ != State::kFinished)
                break;
            chain->join(chain->resets_asked());
            chain->end();
        }
    }
    try {
        free_retired();
    } catch (const std::bad_alloc &) { // the flows are connected; a later call frees them
    }
    const auto have_joined = [&] {
        return std::all_of(chains.begin(), chains.end(),
                           [](const auto &chain) { return chain->has_joined(); });
    };
    if (driver_.offload && has_started())
        wait_a_little(have_joined, kSwitchTime);
}

void Device::disconnect(const Chains &chains)
{
    {
        const std::lock_guard lock(mutex_);
        for (const auto &chain : chains)
            chain->close();
        Chains left = current_->chains();
        std::erase_if(left, [](const auto &chain) { return chain->status() == FLOW_CLOSED; });
        shared_.reset();
        install(std::move(left), current_->groups(), chains);
        for (const auto &chain : chains)
            chain->cancel(); // a thread that waits for room in the flow's buffer continues
        changed_.notify_all();
    }
    wait_a_little(
        [&] {
            return std::all_of(chains.begin(), chains.end(),
                               [](const auto &chain) { return chain->has_ended(); });
        },
        kCloseTime);
}

// Waits for the packet thread, or for another thread that frees plans.
template <class Predicate>
void Device::wait_a_little(Predicate is_done, std::chrono::milliseconds most)
{
    const auto end = std::chrono::steady_clock::now() + most;
    free_retired();
    while (!is_done() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(kLookInterval);
        free_retired();
    }
}

void Device::reset(const std::shared_ptr<Chain> &chain, size_t position)
{
    {
        const std::lock_guard lock(mutex_);
        chain->ask_for_reset(position);
        if (state_ == State::kRunning)
            install(current_->chains(),
                    current_->groups()); // a thread that takes a new plan looks for resets
        else
            chain->reset(chain->resets_asked());
    }
    wait_a_little([&] { return chain->has_reset(); }, driver_.offload ? kSwitchTime : kCloseTime);
}

std::shared_ptr<Node> Device::remove(Applied &function)
{
    std::shared_ptr<Node> node =
        function.node->traits().is_shareable() || !function.node->leave() ? nullptr : function.node;
    {
        const std::lock_guard lock(mutex_);
        function.is_removed = true;
        shared_.reset();
        install(current_->chains(), current_->groups(), {},
                node ? std::vector{node} : std::vector<std::shared_ptr<Node>>());
        if (node)
            node->cancel();
    }
    wait_a_little([&] { return !node || node->has_ended(); }, kCloseTime);
    return node;
}

// Never waits for the packet thread, which continues with its current plan and takes the new one at
// its next burst.
void Device::install(Chains chains, const std::vector<std::shared_ptr<NodeGroup>> &groups,
                     Chains closed, std::vector<std::shared_ptr<Node>> removed)
{
    const OffloadTarget offload = {driver_.offload, source_, info_.link_type};
    auto plan =
        std::make_unique<Plan>(std::move(chains), groups, driver_.offload ? &offload : nullptr);
    if (current_)
        retired_.reserve(retired_.size() + 1); // nothing can throw once the plan is visible
    plan_.store(plan.get());
    if (current_)
        retired_.push_back({std::move(current_), std::move(closed), std::move(removed)});
    current_ = std::move(plan);
    users_.reset();
    if (state_ != State::kFinished)
        set_prefilter(current_->prefilter());
    set_filter(current_->chains());
    if (on_plan_ && !retired_.empty()) // not for the first plan, made while the device is created
        on_plan_(*this, *current_);
    if (state_ != State::kRunning || !has_begun_ || !settings_.has_node_groups ||
        current_->ungrouped().empty() || stop_)
        return;
    if (group_thread_.joinable())
        return plan_changed_.notify_all();
    try {
        group_thread_ = std::thread([this] { make_groups_while_running(); });
    } catch (const std::exception &) { // nodes run one by one until the next plan
    }
}

bool Device::free_retired()
{
    bool are_all_left;
    std::vector<Retired>
        left; // no longer used by the device's thread; ended and freed without the lock
    {
        const std::lock_guard lock(mutex_);
        const Plan *after = plan_after_.load(); // before the other: it may become that one
        const Plan *in_use = plan_in_use_.load();
        const auto is_left = [in_use, after](const Retired &retired) {
            return retired.plan.get() != in_use && retired.plan.get() != after;
        };
        const auto used = std::find_if_not(retired_.begin(), retired_.end(), is_left);
        left.assign(std::make_move_iterator(retired_.begin()), std::make_move_iterator(used));
        retired_.erase(retired_.begin(), used);
        if (!retired_.empty())
            merge_behind_used(left, after);
        are_all_left = retired_.empty();
    }
    for (const Retired &retired : left) {
        for (const auto &chain : retired.closed)
            chain->end();
        for (const auto &node : retired.removed)
            node->end();
    }
    return are_all_left;
}

// Under the lock.  A plan after the one in use, except the next one of a driver that runs
// functions, was superseded before the device's thread took it, and will never be used.  It is
// freed here so that plans do not accumulate while that thread is blocked.  Flows and functions
// that were retired with it may be in the plan before it, too, and end with that.
void Device::merge_behind_used(std::vector<Retired> &superseded, const Plan *after)
{
    std::vector<Retired> kept;
    kept.reserve(2);
    for (Retired &retired : retired_) {
        if (kept.empty() || retired.plan.get() == after) {
            kept.push_back(std::move(retired));
            continue;
        }
        Retired &before = kept.back();
        before.closed.insert(before.closed.end(), retired.closed.begin(), retired.closed.end());
        before.removed.insert(before.removed.end(), retired.removed.begin(), retired.removed.end());
        superseded.push_back({std::move(retired.plan), {}, {}});
    }
    retired_ = std::move(kept);
}

void Device::set_prefilter(const mapi_prefilter *prefilter)
{
    if (driver_.filter && driver_.filter->set_prefilter)
        driver_.filter->set_prefilter(source_, prefilter);
}

// If all flows begin with the same filter, the source can discard packets that it rejects.
void Device::set_filter(const Chains &chains)
{
    if (!driver_.filter || !driver_.filter->set_filter)
        return;
    const Node *common = nullptr;
    for (const auto &chain : chains) {
        const Node *first =
            chain->watches() || !chain->first() ? nullptr : chain->first()->node.get();
        if (!first || (common && first != common)) {
            common = nullptr;
            break;
        }
        common = first;
    }
    const mapi_filter_code *code = nullptr;
    const uint32_t count = common ? common->classic_bpf(info_.link_type, &code) : 0;
    driver_.filter->set_filter(source_, code, count);
    filter_ = count > 0 ? chains.front()->first()->node : nullptr;
}

bool Device::wait_while_active(Chain &chain, int timeout_ms)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    std::unique_lock lock(mutex_);
    while (chain.status() == FLOW_ACTIVE && !chain.settle()) {
        const auto now = std::chrono::steady_clock::now();
        if (timeout_ms >= 0 && now >= end)
            return false;
        // Nothing notifies when a file is written, so poll.
        auto next = chain.has_ended() ? now + kLookInterval
                    : timeout_ms < 0  ? std::chrono::steady_clock::time_point::max()
                                      : end;
        if (timeout_ms >= 0)
            next = std::min(next, end);
        if (next == std::chrono::steady_clock::time_point::max())
            changed_.wait(lock);
        else
            changed_.wait_until(lock, next);
    }
    return true;
}

// Counted once for all nodes of a plan: a client may ask for each function of thousands of flows.
int Device::count_other_users(const Node &node, const Chain &chain)
{
    const auto uses = [](const Chain &one, const Node *wanted) {
        return std::any_of(one.functions().begin(), one.functions().end(),
                           [wanted](const auto &applied) {
                               return applied->node.get() == wanted && !applied->is_removed;
                           });
    };
    const std::lock_guard lock(mutex_);
    if (!users_) {
        users_.emplace();
        for (const auto &one : current_->chains()) {
            std::set<const Node *> nodes; // a flow may use one twice
            for (const auto &applied : one->functions()) {
                if (!applied->is_removed)
                    nodes.insert(applied->node.get());
            }
            for (const Node *used : nodes)
                ++(*users_)[used];
        }
    }
    const auto found = users_->find(&node);
    const int users = found == users_->end() ? 0 : found->second;
    const bool is_in_plan = chain.status() == FLOW_ACTIVE || chain.status() == FLOW_FINISHED;
    return users - (users > 0 && is_in_plan && uses(chain, &node) ? 1 : 0);
}

std::string Device::place_of(const Node &node)
{
    const std::lock_guard lock(mutex_);
    return current_->place_of(node);
}
} // namespace mapi::engine
