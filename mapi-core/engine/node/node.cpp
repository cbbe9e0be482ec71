// SPDX-License-Identifier: MIT
// Node: one function with its arguments.
#include "engine/node/node.hpp"

#include <chrono>
#include <system_error>
#include <thread>

#include "engine/node/node_setup.hpp"
#include "engine/packet_path/slices.hpp"

namespace mapi::engine
{
Node::Node(const mapi_function &function, Arguments arguments, const mapi_driver_info &device,
           std::shared_ptr<DeviceTotals> totals, const std::shared_ptr<Client> &client,
           const FlowOptions &options)
    : function_(function), slice_(slice_of(function.name)), totals_(std::move(totals)),
      client_(traits().is_shared_by_step() ? client : nullptr), options_(options),
      has_value_(!(function.result && function.result->values) || traits().is_additive()),
      arguments_(std::move(arguments)), output_(function)
{
    NodeSetup setup(function, arguments_, output_, *client, totals_, options);
    instance_ = setup.create(device, measured_);
    quota_use_ = setup.take_quota_use();
    common_objects_ = setup.take_common_objects();
    watchers_ = setup.take_watchers();
    takes_single_packets_ = setup.takes_single_packets();
    runs_in_order_ = setup.runs_in_order();
}

Node::~Node()
{
    // Wait for pending writes, which may fail; not for long, since its flow is already cancelled.
    while (!is_settled())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const mapi_function_drops last = drops();
    totals_->buffer_full += last.buffer_full;
    totals_->link_type += last.link_type;
    totals_->not_written += last.not_written;
    if (std::string text = failure(last); !text.empty())
        totals_->tell_failure(std::move(text));
    if (instance_ && function_.destroy)
        function_.destroy(instance_);
}

uint64_t Node::values(const mapi_batch &batch, uint64_t mask, uint64_t *values)
{
    if (mask == 0)
        return 0;
    if (function_.result && function_.result->values) {
        const uint64_t valid = function_.result->values(instance_, &batch, mask, values);
        has_value_ |= valid != 0;
        return valid;
    }
    const unsigned last = 63u - unsigned(std::countl_zero(mask));
    values[last] = output_.first_word();
    return uint64_t(1) << last;
}

void Node::run_prefiltered(Burst burst, uint64_t *outputs, size_t stride, uint64_t plan,
                           uint32_t place)
{
    for (size_t i = 0; i < burst.size(); ++i) {
        const mapi_prefiltered *const result = burst[i].prefiltered;
        if (!result || result->number != plan || !(result->known >> place & 1)) {
            outputs[i * stride] = burst[i].all ? run(burst[i], burst[i].all) : 0;
            continue;
        }
        outputs[i * stride] = result->passed[place] & burst[i].all;
        count(outputs[i * stride]);
    }
}

uint64_t Node::next_state_number()
{
    static std::atomic<uint64_t> last = 0;
    return ++last;
}

void Node::flush()
{
    if (function_.transform->flush)
        function_.transform->flush(instance_);
}

void Node::tick(uint64_t now_ns)
{
    if (!function_.tick)
        return;
    function_.tick(instance_, now_ns);
    output_.note_change();
}

void Node::publish_when_due()
{
    if (traits().runs_every_batch())
        output_.note_change();
    output_.publish_when_due(seen());
}

void Node::reset()
{
    function_.reset(instance_);
    output_.publish_if_any();
}

uint32_t Node::classic_bpf(uint16_t link_type, const mapi_filter_code **code) const
{
    return function_.filter && function_.filter->classic_bpf
               ? function_.filter->classic_bpf(instance_, link_type, code)
               : 0;
}

void Node::read_result(uint64_t *copy) const
{
    if (traits().reads_result())
        function_.result->read(instance_, copy);
    else
        output_.published().read(copy);
}

void Node::end()
{
    if (is_ending_.exchange(true))
        return;
    if (function_.ending && function_.ending->end)
        function_.ending->end(instance_);
    has_ended_ = true;
    if (RingMemory *const ring = output_.ring();
        ring && !(function_.ending && function_.ending->is_settled))
        ring->writer().end();
    output_.publish_if_any();
}

bool Node::is_settled() const
{
    return !has_ended_ || !function_.ending || !function_.ending->is_settled ||
           function_.ending->is_settled(instance_) != 0;
}

void Node::cancel()
{
    if (function_.ending && function_.ending->cancel)
        function_.ending->cancel(instance_);
    if (RingMemory *const ring = output_.ring())
        ring->writer().cancel();
}

mapi_function_drops Node::drops() const
{
    mapi_function_drops drops = {};
    if (function_.drops)
        function_.drops(instance_, &drops);
    if (const RingMemory *const ring = output_.ring())
        drops.buffer_full += ring->writer().dropped();
    return drops;
}

std::string Node::failure(const mapi_function_drops &drops) const
{
    if (drops.write_error == 0)
        return "";
    return std::string(function_.name) + ": " + arguments_.written_paths() +
           (drops.write_reason ? drops.write_reason
                               : std::generic_category().message(drops.write_error));
}
} // namespace mapi::engine
