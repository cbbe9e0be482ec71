// SPDX-License-Identifier: MIT
// Device: driver -> burst -> plan, and the packet thread itself.
#include "engine/packet_path/device.hpp"

#include <nsprobe/probe.h>
#include <sys/resource.h>

#include "engine/packet_path/chain.hpp"
#include "engine/wall_clock.hpp"

namespace mapi::engine
{
namespace
{
constexpr uint64_t kTickNs = 10000000;
constexpr int kOwnCaptureNice = 10;

// One writer: a plain atomic store is enough, no locked instruction.
void add(std::atomic<uint64_t> &counter, uint64_t value)
{
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}
} // namespace

// start_thread()'s caller holds the lock until the plan is complete.  The first node groups are
// built before the first packet.
void Device::begin()
{
    const std::lock_guard lock(mutex_);
    if (settings_.has_node_groups)
        use_groups(make_groups(current_->ungrouped()));
    has_begun_ = true;
}

void Device::run()
{
    if (memory_) // a client's own device: shared devices have priority
        setpriority(PRIO_PROCESS, 0,
                    kOwnCaptureNice); // of this thread and the threads that it starts
    begin();
    try {
        while (!stop_.load(std::memory_order_relaxed) && run_burst()) {
        }
        if (!stop_.load(std::memory_order_relaxed))
            flush();
    } catch (const std::bad_alloc &) { // in a function: ends this device's reading, not the process
        is_out_of_memory_ = true;
    }
    finish();
}

void Device::flush()
{
    Plan &plan = acquire_plan();
    plan.flush();
    plan.publish();
    release_plan();
}

// 0: the device has read as many packets as it should.
uint32_t Device::burst_limit() const
{
    if (settings_.packets == 0)
        return settings_.batch;
    const uint64_t read = packets_read_.load(std::memory_order_relaxed);
    if (read >= settings_.packets) // a driver that runs functions counts ahead
        return 0;
    return uint32_t(std::min<uint64_t>(settings_.packets - read, settings_.batch));
}

// A slice belongs to the unit that is open when it stops.  driver_read starts before its unit,
// since the number of packets is known only after the read.
bool Device::run_burst()
{
    if (driver_.offload)
        follow_plan();
    const uint32_t limit = burst_limit();
    if (limit == 0) // as at the end of a capture
        return false;
    NET_SLICE_START(driver_read);
    const int count = burst_.read(driver_, source_, limit);
    if (count <= 0) {
        NET_SLICE_STOP(driver_read);
        const bool is_idle = count == MAPI_DRIVER_IDLE && driver_.live; // otherwise an error
        if (is_idle)
            wait_for_packet();
        return is_idle;
    }
    ++burst_number_;
    const uint64_t wire_bytes = burst_.wire_bytes();
    if (settings_.batch == 1)
        NET_SLICE_INIT(packet, burst_number_, count, wire_bytes);
    else
        NET_SLICE_INIT(batch, burst_number_, count, wire_bytes);
    NET_SLICE_STOP(driver_read);

    NET_SLICE_START(dispatch);
    Plan &plan = acquire_plan();
    if (!driver_.offload) // otherwise the driver counts, also packets that it does not hand out
        count_packets(plan, uint64_t(count), wire_bytes);
    plan.run(burst_.batches());
    NET_SLICE_STOP(dispatch);

    NET_SLICE_START(publish);
    plan.publish();
    release_plan();
    NET_SLICE_STOP(publish);

    if (settings_.batch == 1)
        NET_SLICE_EXIT(packet);
    else
        NET_SLICE_EXIT(batch);
    if (driver_.live) // a live source
        tick_after(burst_.last_timestamp_ns());
    return true;
}

// After new flows have recorded the number of packets before them.
void Device::count_packets(const Plan &plan, uint64_t packets, uint64_t wire_bytes)
{
    add(packets_read_, packets);
    add(bytes_read_, wire_bytes);
    add(totals_->packets, packets);
    if (plan.chains().empty())
        add(packets_without_flow_, packets);
}

// Advances the time of functions that otherwise take it from packets.
void Device::wait_for_packet()
{
    const uint64_t before_ns = now_ns();
    NET_SLICE_START(driver_wait);
    const int has_packet = driver_.live->wait(source_);
    NET_SLICE_STOP(driver_wait);
    if (!has_packet)
        tick(before_ns - info_.delay_ns);
}

// Also for flows that get none of the packets that arrive.  The clock may be set back.
void Device::tick_after(uint64_t packet_ns)
{
    const uint64_t now_ns = packet_ns - info_.delay_ns;
    if (now_ns - last_tick_ns_ >= kTickNs)
        tick(now_ns);
}

void Device::tick(uint64_t now_ns)
{
    last_tick_ns_ = now_ns;
    collect();
    Plan &plan = acquire_plan();
    plan.tick(now_ns);
    plan.publish();
    release_plan();
}

// Of a driver that runs functions: each packet belongs to the program that has run on it.  Between
// two bursts: activates the program of a new plan, and takes the plan itself once the packets of
// the program before have been read.  Meanwhile both plans must not be freed.
void Device::follow_plan()
{
    Plan *const now = plan_in_use_.load();
    Plan *after = plan_after_.load();
    if (!after) {
        for (after = plan_.load();; after = plan_.load()) { // as in acquire_plan()
            plan_after_.store(after);
            if (plan_.load() == after)
                break;
        }
        if (after == now)
            return plan_after_.store(nullptr);
        after->offload()->activate();
    }
    if (!after->offload()->has_switched() && now)
        return;
    collect(); // the last counts of the plan that ends here, before new flows record them
    plan_in_use_.store(after);
    plan_after_.store(nullptr);
    after->join(after->wants_meter() ? meter() : nullptr);
}

// Packets that are still in the driver are not read.
void Device::finish_offload()
{
    driver_.offload->activate(source_, nullptr);
    collect();
    Plan *const after = plan_after_.load();
    if (!after)
        return;
    plan_in_use_.store(after);
    after->join(after->wants_meter() ? meter() : nullptr);
    collect();
}

void Device::collect()
{
    Plan *const plan = driver_.offload ? plan_in_use_.load() : nullptr;
    if (!plan)
        return;
    const mapi_offload_count all = plan->offload()->collect();
    count_packets(*plan, all.packets, all.wire_bytes);
    plan->publish(); // new flows record what is published
}

// After the read, so that packets that arrive after a connect() reach its flow.
Plan &Device::acquire_plan()
{
    if (Plan *const followed = driver_.offload ? plan_in_use_.load() : nullptr)
        return *followed;
    // Sequentially consistent, like the accesses in install() and free_retired(): either this loop
    // sees the new plan, or they see that the old one is in use.
    Plan *plan = plan_.load();
    while (true) {
        plan_in_use_.store(plan);
        Plan *const again = plan_.load();
        if (again == plan)
            break;
        plan = again;
    }
    if (!plan->has_joined()) [[unlikely]]
        plan->join(plan->wants_meter() ? meter() : nullptr);
    return *plan;
}

// Null if out of memory; then nothing is measured.
Meter *Device::meter()
{
    try {
        if (!meter_)
            meter_ = std::make_unique<Meter>();
    } catch (const std::bad_alloc &) {
    }
    return meter_.get();
}

void Device::finish()
{
    // The plan is in use, and the state is running, until its flows have ended, so no other thread
    // ends or resets them meanwhile.  Without the lock, since writing a file may take long until a
    // client closes the flow, which needs the lock.
    set_prefilter(nullptr);
    if (driver_.offload)
        finish_offload();
    for (const auto &chain : acquire_plan().chains())
        chain->end();
    const std::lock_guard lock(mutex_);
    set_prefilter(nullptr);
    for (const auto &chain : current_->chains()) { // flows connected or to be reset since then
        chain->join(chain->resets_asked());
        chain->end();
    }
    plan_in_use_.store(nullptr);
    plan_after_.store(nullptr);
    state_ = State::kFinished;
    changed_.notify_all();
}
} // namespace mapi::engine
