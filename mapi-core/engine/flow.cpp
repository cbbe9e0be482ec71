// SPDX-License-Identifier: MIT
// Flow: one client's stream of packets.
#include "engine/flow.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

#include "engine/config/config.hpp"
#include "engine/error.hpp"
#include "engine/packet_path/device.hpp"
#include "engine/wall_clock.hpp"

namespace mapi::engine
{
namespace
{
constexpr auto kLookInterval = std::chrono::milliseconds(1);
constexpr int kTransformsMax =
    16; // each takes space on the packet thread's stack while the functions after it run

// The lines of a section of mapi.conf for the function.
Argument read_function_section(const char *section)
{
    Argument lines;
    const std::string path = find_config();
    lines.kind = kConfigLines;
    if (path.empty())
        return lines;
    std::istringstream file = open_config(path);
    lines.text = read_section(file, section);
    return lines;
}

bool always()
{
    return true;
} // in the same process the writer cannot die, and the flow's end wakes its readers
} // namespace

Flow::Flow(std::shared_ptr<Device> device, std::shared_ptr<Client> client)
    : device_(std::move(device)), client_(std::move(client)),
      chain_(std::make_shared<Chain>(client_->arena(), client_->drops_of(device_->totals())))
{
}

// Under the lock.
void Flow::check_applicable(const mapi_function &function) const
{
    if (chain_->status() != FLOW_INIT)
        throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT,
                    std::string(function.name) +
                        ": the flow is connected (apply functions before mapi_connect())");
    if (function.transform && chain_->count_transforms() == kTransformsMax)
        throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT,
                    std::string(function.name) + ": the flow already has " +
                        std::to_string(kTransformsMax) + " functions that change packets");
    if ((function.flags & MAPI_FUNCTION_METER_END) &&
        chain_->find_meter_begin(chain_->functions().size()) < 0)
        throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT,
                    std::string(function.name) + ": has no matching PERF_START before it");
}

// The function is created without the lock, since that may take long (a filter that looks up names)
// and listing flows must not wait.
int Flow::apply(const mapi_function &function, Arguments arguments)
{
    {
        const std::lock_guard lock(mutex_);
        check_applicable(function);
    }
    for (const Argument &argument : arguments) {
        if (argument.kind != MAPI_ARGUMENT_FUNCTIONS)
            continue;
        // A whole result is read in place, by the thread that writes it.
        for (const Target &target : argument.targets) {
            if (target.device != device_.get())
                throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT, std::string(function.name) +
                                                              ": one of \"" + argument.text +
                                                              "\" belongs to another device");
        }
    }
    if (function.config)
        arguments.push_back(read_function_section(function.config->section));
    FlowOptions options;
    {
        const std::lock_guard lock(mutex_);
        options = options_;
    }
    const bool joins =
        (function.flags & MAPI_FUNCTION_SHARED_BY_STEP) && chain_->functions().empty();
    auto node = joins ? device_->join_node(function, std::move(arguments), client_, options)
                      : device_->make_node(function, std::move(arguments), client_, options);
    const std::lock_guard lock(mutex_);
    check_applicable(function); // another thread may have been faster
    const bool is_since_last = device_->settings().tells_since_last && node->traits().is_additive();
    chain_->append(std::move(node));
    if (is_since_last)
        chain_->functions().back()->since_last = std::make_unique<SinceLast>();
    return int(chain_->functions().size());
}

Target Flow::target(int fid, bool is_whole)
{
    const std::lock_guard lock(mutex_);
    const auto &functions = chain_->functions();
    if (fid < 1 || size_t(fid) > functions.size() || functions[size_t(fid) - 1]->is_removed)
        throw Error(MAPI_INVALID_FID_FUNCID, "has no function " + std::to_string(fid));
    const Node &node = *functions[size_t(fid) - 1]->node;
    if (!node.output().has_published_result() &&
        !(is_whole && node.output().is_in_place() && node.output().has_result()))
        throw Error(MAPI_INVALID_FID_FUNCID, std::string("has function ") + node.function().name +
                                                 ", which has no single result");
    return {chain_,
            size_t(fid) - 1,
            node.output().bytes(),
            node.traits().is_additive(),
            node.output().is_in_place(),
            device_.get()};
}

bool Flow::is_connected() const
{
    return chain_->status() != FLOW_INIT;
}

void Flow::set_option(int option, uint64_t value)
{
    const std::lock_guard lock(mutex_);
    if (chain_->status() != FLOW_INIT)
        throw Error(MDLIB_NO_MODIFYING,
                    "the flow is connected (set its options before mapi_connect())");
    options_.set(option, value);
}

uint64_t Flow::option(int option)
{
    const std::lock_guard lock(mutex_);
    return options_.get(option);
}

void Flow::reset(int fid)
{
    const std::lock_guard lock(mutex_);
    const Applied &applied = connected_function(fid);
    if (!applied.node->traits().can_be_reset())
        throw Error(MAPI_INVALID_FID_FUNCID,
                    std::string(applied.node->function().name) + " cannot be reset");
    const auto reset = [&] { device_->reset(chain_, size_t(fid) - 1); };
    if (applied.since_last)
        applied.since_last->restart(reset);
    else
        reset();
}

void Flow::remove(int fid)
{
    std::shared_ptr<Node> node;
    {
        const std::lock_guard lock(mutex_);
        Applied &removed = function(fid);
        chain_->check_removable(size_t(fid) - 1);
        if (chain_->status() == FLOW_INIT)
            removed.is_removed = true;
        else
            node = device_->remove(removed);
        removed_.push_back(counts_of(removed));
    }
    // Writing a file may take long, so not under the lock.
    while (node && node->has_ended() && !node->is_settled())
        std::this_thread::sleep_for(kLookInterval);
}

Applied &Flow::connected_function(int fid)
{
    if (chain_->status() == FLOW_INIT || chain_->is_closed_unconnected())
        throw Error(MAPI_FLOW_NOT_CONNECTED, "the flow is not connected");
    return function(fid);
}

Applied &Flow::function(int fid)
{
    const auto &functions = chain_->functions();
    if (fid < 1 || size_t(fid) > functions.size())
        throw Error(MAPI_INVALID_FID_FUNCID, "the flow has no function " + std::to_string(fid));
    if (functions[size_t(fid) - 1]->is_removed)
        throw Error(MAPI_INVALID_FID_FUNCID,
                    "function " + std::to_string(fid) + " of the flow was removed");
    return *functions[size_t(fid) - 1];
}

FunctionMemory Flow::memory(int fid)
{
    const std::lock_guard lock(mutex_);
    const Applied &applied = function(fid);
    const Node &node = *applied.node;
    // Without allocate_result() in create() there is no result in place, and its placeholder is not
    // in the client's memory.
    const bool lies_in_place = node.output().is_in_place() && node.output().has_result();
    const void *result =
        lies_in_place ? node.output().published().words() - 1 : applied.mirror_memory.memory();
    return {result,
            node.output().bytes(),
            node.output().ring(),
            node.output().has_results_in_ring(),
            node.output().has_packets_in_ring(),
            node.output().is_composed(),
            applied.since_last != nullptr};
}

// `copy` is zeroed.  For a composed result the caller holds the lock of its records.
void Flow::copy_result(Applied &applied, uint64_t *copy)
{
    const Node &node = *applied.node;
    if (!node.output().is_composed())
        return node.read_result(copy);
    applied.composed.read(node.output().words(), node.output().bytes(), *applied.records, copy);
}

mapi_results_t *Flow::read_results(int fid)
{
    Applied &applied = connected_function(fid);
    const Node &node = *applied.node;
    if (!node.output().has_result())
        throw Error(MAPI_SHM_ERR, std::string(node.function().name) + " has no result");
    if (node.output().has_results_in_ring())
        return nullptr;
    // Relaxed stores: two threads that read the same function share the memory, but never see torn
    // words.
    if (applied.is_share_of_word) [[likely]] {
        // A shared result may count packets from before this flow joined.
        const auto share = [&] {
            return !node.traits().is_shareable() || chain_->has_joined() ? applied.share() : 0;
        };
        applied.result[0].store(applied.since_last ? applied.since_last->take(share) : share(),
                                std::memory_order_relaxed);
    } else {
        std::vector<uint64_t> copy(applied.result.size());
        std::optional<ring::RecordSource::Lock>
            lock; // held while storing, too: results of two threads must not mix
        if (node.output().is_composed())
            lock.emplace(*applied.records);
        copy_result(applied, copy.data());
        for (size_t i = 0; i < copy.size(); ++i)
            applied.result[i].store(copy[i], std::memory_order_relaxed);
    }
    std::atomic_ref(applied.results.ts).store(now_us(), std::memory_order_relaxed);
    return &applied.results;
}

// Until the flow has joined, the word of a shared node may count packets from before the flow; that
// of a pure node is not a count.
Applied *Flow::share_of_word(int fid) const
{
    Applied &applied = *chain_->functions()[size_t(fid) - 1];
    const Node &node = *applied.node;
    const bool is_share = applied.is_share_of_word && !applied.since_last &&
                          !node.output().has_results_in_ring() && !node.traits().is_pure() &&
                          (!node.traits().is_shareable() || chain_->has_joined());
    return is_share ? &applied : nullptr;
}

ring::RecordSource *Flow::packets(int fid) const
{
    const Applied &applied = *chain_->functions()[size_t(fid) - 1];
    return applied.node->output().has_packets_in_ring() ? applied.records.get() : nullptr;
}

ring::RecordSource &Flow::records(Applied &applied, bool are_packets)
{
    const char *const name = applied.node->function().name;
    if (!(are_packets ? applied.node->output().has_packets_in_ring()
                      : applied.node->output().has_results_in_ring()))
        throw Error(MAPI_INVALID_FID_FUNCID,
                    std::string(name) + (are_packets ? " keeps no packets (use TO_BUFFER)"
                                                     : " does not return results one by one"));
    if (!applied.records)
        throw Error(MAPI_NO_MORE_RESULTS, std::string(name) + " has no more results");
    return *applied.records;
}

mapi_results_t *Flow::next_results(int fid)
{
    Applied &applied = connected_function(fid);
    ring::RecordSource &source = records(applied, false);
    const auto lock = source.lock();
    const ring::Record record = source.next(always);
    if (!record.data)
        throw Error(MAPI_NO_MORE_RESULTS,
                    std::string(applied.node->function().name) + " has no more results");
    std::vector<uint64_t> copy(applied.result.size());
    memcpy(copy.data(), record.data,
           std::min(copy.size() * sizeof(uint64_t), size_t(record.bytes)));
    for (size_t i = 0; i < copy.size(); ++i)
        applied.result[i].store(copy[i], std::memory_order_relaxed);
    std::atomic_ref(applied.results.ts).store(now_us(), std::memory_order_relaxed);
    return &applied.results;
}

const mapipkt *Flow::next_packet(int fid)
{
    ring::RecordSource &source = records(connected_function(fid), true);
    const auto lock = source.lock();
    return reinterpret_cast<const mapipkt *>(source.next(always).data);
}

int Flow::next_packets(int fid, const mapipkt **packets, int most, int timeout_ms)
{
    ring::RecordSource &source = records(connected_function(fid), true);
    const auto lock = source.lock();
    return source.next_many(most, timeout_ms, always, [&](const ring::Record &record) {
        *packets++ = reinterpret_cast<const mapipkt *>(record.data);
    });
}

int Flow::poll_descriptor(int fid)
{
    Applied &applied = connected_function(fid);
    if (!applied.records || applied.node->output().is_composed())
        throw Error(MAPI_INVALID_FID_FUNCID, std::string(applied.node->function().name) +
                                                 " does not return packets or results one by one");
    const auto lock = applied.records->lock();
    if (applied.records->event() < 0) {
        const int event = applied.node->output().ring()->writer().poll_descriptor();
        if (event < 0)
            throw Error(MAPI_INTERNAL_ERROR,
                        std::string("cannot create a descriptor: ") + strerror(errno));
        applied.records->set_event(event);
    }
    return applied.records->event();
}

bool Flow::wait_for_end(int timeout_ms)
{
    if (chain_->status() == FLOW_INIT)
        throw Error(MAPI_FLOW_NOT_CONNECTED, "the flow is not connected");
    return device_->wait_while_active(*chain_, timeout_ms);
}

void Flow::wait_whether_over(int timeout_ms)
{
    if (chain_->status() != FLOW_ACTIVE)
        return;
    for (const auto &applied : chain_->functions()) {
        const bool holds_device_up = applied->node->output().has_packets_in_ring() &&
                                     applied->node->output().waits_for_reader() &&
                                     !applied->is_removed;
        if (holds_device_up && applied->records->wait_whether_last(timeout_ms, always))
            device_->wait_while_active(*chain_, timeout_ms); // its files are written
    }
}

void Flow::describe(mapi_flow_info_t *info)
{
    const std::lock_guard lock(mutex_);
    info->devid = device_->id();
    snprintf(info->device, sizeof(info->device), "%s", device_->settings().name.c_str());
    info->num_functions = chain_->count_present();
    info->start_us = chain_->start_us();
    info->end_us = chain_->end_us();
    chain_->settle();
    info->status = chain_->reported_status();
}

void Flow::describe(int fid, mapi_function_info_t *info)
{
    const std::lock_guard lock(mutex_);
    const Applied &applied = function(fid);
    const Node &node = *applied.node;
    const FunctionCounts counts = counts_of(applied);
    const mapi_function_drops drops = applied.drops(chain_->has_joined());
    info->fid = fid;
    snprintf(info->name, sizeof(info->name), "%s", counts.name);
    info->pkts = counts.packets;
    info->passed_pkts = counts.passed;
    info->dropped = drops.buffer_full + drops.link_type + drops.not_written;
    info->time_jumps = drops.time_jumps;
    info->unread_headers = drops.unread_headers;
    info->given_up = drops.given_up;
    info->result_size = int(node.output().bytes());
    info->shared_with = device_->count_other_users(node, *chain_);
    snprintf(info->place, sizeof(info->place), "%s", device_->place_of(node).c_str());
}

Flow::FunctionCounts Flow::counts_of(const Applied &applied) const
{
    const bool joined = chain_->has_joined();
    return {applied.node->function().name, joined ? applied.seen() : 0,
            joined ? applied.passed() : 0};
}

std::vector<Flow::FunctionCounts> Flow::counts()
{
    const std::lock_guard lock(mutex_);
    std::vector<FunctionCounts> counts;
    for (const auto &applied : chain_->functions()) {
        if (!applied->is_removed)
            counts.push_back(counts_of(*applied));
    }
    return counts;
}

uint64_t Flow::function_bytes()
{
    const std::lock_guard lock(mutex_);
    uint64_t bytes = 0;
    for (const auto &applied : chain_->functions())
        bytes += applied->charge.amount() + applied->node->kept_charge();
    return bytes;
}

std::vector<Flow::FunctionCounts> Flow::removed_counts()
{
    const std::lock_guard lock(mutex_);
    return removed_;
}

int Flow::next_function(int fid)
{
    const std::lock_guard lock(mutex_);
    for (size_t i = size_t(std::max(fid, 0)); i < chain_->functions().size(); ++i) {
        if (!chain_->functions()[i]->is_removed)
            return int(i) + 1;
    }
    return 0;
}
} // namespace mapi::engine
