// SPDX-License-Identifier: MIT
// Node: one function with its arguments.
#include "engine/packet_path/node.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <system_error>
#include <thread>

#include "engine/error.hpp"
#include "engine/packet_path/slices.hpp"

namespace mapi::engine
{
namespace
{
std::vector<Node::Reference> make_references(const Arguments &arguments)
{
    std::vector<Node::Reference> references;
    for (const Argument &argument : arguments) {
        for (const Target &target : argument.targets) {
            references.push_back({target});
            mapi_reference &view = references.back().view;
            view.bytes = target.bytes;
            view.is_count = target.is_count;
            view.is_array = target.is_array;
        }
    }
    return references;
}

// In the order of the arguments' targets.
std::vector<const mapi_reference *> list_views(const std::vector<Node::Reference> &references)
{
    std::vector<const mapi_reference *> views;
    for (const Node::Reference &reference : references)
        views.push_back(&reference.view);
    return views;
}

size_t count_flows(const Arguments &arguments)
{
    return std::accumulate(
        arguments.begin(), arguments.end(), size_t(0),
        [](size_t sum, const Argument &argument) { return sum + argument.flows.size(); });
}

std::vector<const uint64_t *> list_words(const std::vector<uint64_t> &words)
{
    std::vector<const uint64_t *> pointers;
    for (const uint64_t &word : words)
        pointers.push_back(&word);
    return pointers;
}

std::vector<mapi_argument> borrow_arguments(const Arguments &arguments,
                                            const mapi_reference *const *views,
                                            const uint64_t *const *flows)
{
    std::vector<mapi_argument> borrowed;
    for (const Argument &argument : arguments) {
        if (argument.kind == kConfigLines)
            break;
        const bool is_text = argument.kind == 's' || argument.kind == 'n' || argument.kind == 'p' ||
                             argument.kind == 'w' || argument.kind == 'W' || argument.kind == 'o';
        borrowed.push_back({is_text ? argument.text.c_str() : nullptr, argument.number,
                            argument.kind, argument.targets.empty() ? nullptr : views,
                            argument.flows.empty() ? nullptr : flows,
                            argument.descriptors.empty() ? nullptr : argument.descriptors.data()});
        views += argument.targets.size();
        flows += argument.flows.size();
    }
    return borrowed;
}

// Charged to every function: the node, its part of plans and node groups, a filter's code.
// Compiled code grows with its text.
constexpr uint64_t kFunctionBytes = 16384;
constexpr uint64_t kBytesPerTextByte = 16;

uint64_t bytes_of(const Arguments &arguments)
{
    uint64_t bytes = kFunctionBytes;
    for (const Argument &argument : arguments)
        bytes += argument.text.size() * kBytesPerTextByte +
                 argument.targets.size() * sizeof(Node::Reference);
    return bytes;
}
} // namespace

uint64_t *Node::allocate_result(const mapi_function_setup *setup, uint32_t bytes)
{
    auto &node = *static_cast<Node *>(setup->engine);
    if (!node.has_flag(MAPI_FUNCTION_RESULT_IN_PLACE) || bytes == 0 ||
        bytes > MAPI_RESULT_BYTES_MAX || node.has_result())
        return nullptr;
    try {
        return node.take_result(bytes);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

uint64_t *Node::take_result(uint32_t bytes)
{
    const bool is_own = has_flag(MAPI_FUNCTION_RESULT_COPIED);
    result_->resize(is_own ? Published::words_for(bytes) : 0);
    published_memory_ = std::make_shared<ArenaBlock>(client_->arena(), Arena::Side::kEngine,
                                                     Published::memory_bytes(bytes));
    published_ = Published(published_memory_->memory(), bytes);
    policy_.set_words(result_->size());
    in_place_ = is_own ? nullptr : published_.words();
    return is_own ? result_->data() : in_place_;
}

mapi_ring *Node::make_ring(const mapi_function_setup *setup, const mapi_ring_options *options)
{
    auto &node = *static_cast<Node *>(setup->engine);
    mapi_ring_options wanted = *options;
    if (node.buffer_bytes_ != 0) // spare_bytes must leave most of the ring to other records
        wanted.bytes = std::max(node.buffer_bytes_, uint64_t(options->spare_bytes) * 4);
    try {
        if (!node.ring_)
            node.ring_ = std::make_unique<RingMemory>(node.client_->arena(), wanted);
        return as_handle(node.ring_.get());
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

int Node::reserve_memory(const mapi_function_setup *setup, uint64_t bytes)
{
    auto &node = *static_cast<Node *>(setup->engine);
    if (node.quota_use_.add(bytes))
        return 0;
    node.wanted_bytes_ = bytes;
    return MAPI_LIMIT_REACHED;
}

void *Node::common_object(const mapi_function_setup *setup, const mapi_common_object *kind)
{
    auto &node = *static_cast<Node *>(setup->engine);
    try {
        auto object = node.client_->common_object(*kind);
        if (!object)
            node.wanted_bytes_ = kind->bytes;
        else
            node.common_objects_.push_back(object);
        return object.get();
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

std::string Node::missing_memory() const
{
    const Quota &quota = client_->quota()->short_of(wanted_bytes_);
    const auto mib = [](uint64_t bytes) {
        return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
    };
    return "could need " + mib(wanted_bytes_) + ", but " + quota.owner() + " already uses up to " +
           mib(quota.used()) + " of its " + mib(quota.most()) + " (" + quota.name() +
           "); close flows that are not needed";
}

// Otherwise no call could read the ring's records.
void Node::check_ring_is_read()
{
    if (!ring_ || function_.compose_result || has_flag(MAPI_FUNCTION_RESULTS_IN_RING) ||
        has_flag(MAPI_FUNCTION_PACKETS_IN_RING))
        return;
    if (instance_)
        function_.destroy(instance_); // the node's destructor will not run
    throw Error(MAPI_INTERNAL_ERROR,
                std::string(function_.name) +
                    ": creates a ring, but its table has neither MAPI_FUNCTION_RESULTS_IN_RING nor "
                    "MAPI_FUNCTION_PACKETS_IN_RING nor a compose_result()");
}

const mapi_ring_calls Node::kRingCalls = ring_calls(make_ring);

void Node::take_single_packets(const mapi_function_setup *setup)
{
    static_cast<Node *>(setup->engine)->takes_single_packets_ = true;
}

Node::Node(const mapi_function &function, Arguments arguments, const mapi_driver_info &device,
           std::shared_ptr<DeviceTotals> totals, std::shared_ptr<Client> client,
           const FlowOptions &options)
    : function_(function), slice_(slice_of(function.name)),
      result_(std::make_shared<std::vector<uint64_t>>(Published::words_for(function.result_bytes))),
      client_(std::move(client)), quota_use_(client_->quota()), buffer_bytes_(options.buffer_bytes),
      published_memory_(
          std::make_shared<ArenaBlock>(std::make_shared<HeapArena>(), Arena::Side::kEngine,
                                       Published::memory_bytes(function.result_bytes))),
      published_(published_memory_->memory(), function.result_bytes),
      arguments_(std::move(arguments)), references_(make_references(arguments_)),
      reference_views_(list_views(references_)), flows_seen_(count_flows(arguments_)),
      flow_expression_(list_words(flows_seen_)), totals_(std::move(totals)),
      has_value_(!function.values || is_additive())
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    const std::vector<mapi_argument> views =
        borrow_arguments(arguments_, reference_views_.data(), flow_expression_.data());
    mapi_function_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.argument_count = uint32_t(views.size());
    setup.arguments = views.data();
    setup.result = result_->data();
    setup.device_flags = device.device_flags;
    setup.snaplen = device.snaplen;
    setup.link_type = device.link_type;
    setup.error_bytes = sizeof(text);
    setup.error = text;
    setup.allocate_result = allocate_result;
    setup.take_single_packets = take_single_packets;
    setup.engine = this;
    setup.ring = &kRingCalls;
    setup.interface_index = device.interface_index;
    setup.meter = &measured_;
    setup.snap_bytes = options.snap_bytes;
    setup.reserve_memory = reserve_memory;
    setup.common_object = common_object;
    if (!arguments_.empty() && arguments_.back().kind == kConfigLines)
        setup.config = arguments_.back().text.c_str();
    const int number = reserve_memory(&setup, bytes_of(arguments_))
                           ? MAPI_LIMIT_REACHED
                           : function.create(&setup, &instance_);
    if (number != 0 && wanted_bytes_ != 0)
        throw Error(MAPI_LIMIT_REACHED, std::string(function.name) + ": " + missing_memory());
    if (number != 0)
        throw Error(number,
                    std::string(function.name) + ": " + (*text ? text : "invalid arguments"));
    check_ring_is_read();
    for (const Argument &argument : arguments_)
        argument.keep_files();
    if (has_flag(MAPI_FUNCTION_RESULTS_IN_RING) && !ring_) // its arguments did not request one
        published_ = Published(published_memory_->memory(), 0);
    if (has_published_result() || is_copied())
        publish();
    client_ = nullptr;
}

Node::~Node()
{
    if (!instance_)
        return;
    // Wait for pending writes, which may fail; not for long, since its flow is already cancelled.
    while (!is_settled())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const mapi_function_drops last = drops();
    totals_->buffer_full += last.buffer_full;
    totals_->link_type += last.link_type;
    totals_->not_written += last.not_written;
    if (std::string text = failure(last); !text.empty())
        totals_->tell_failure(std::move(text));
    function_.destroy(instance_);
}

uint64_t Node::values(const mapi_batch &batch, uint64_t mask, uint64_t *values)
{
    if (mask == 0)
        return 0;
    if (function_.values) {
        const uint64_t valid = function_.values(instance_, &batch, mask, values);
        has_value_ |= valid != 0;
        return valid;
    }
    const unsigned last = 63u - unsigned(std::countl_zero(mask));
    values[last] = first_word();
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

void Node::flush()
{
    if (function_.flush)
        function_.flush(instance_);
}

void Node::tick(uint64_t now_ns)
{
    if (!function_.tick)
        return;
    function_.tick(instance_, now_ns);
    policy_.note_change();
}

void Node::publish_when_due()
{
    if (runs_every_batch())
        policy_.note_change();
    if (policy_.is_due(seen()))
        publish();
}

void Node::reset()
{
    function_.reset(instance_);
    if (has_published_result() || is_copied())
        publish();
}

std::vector<Node::AwaitedFlow> Node::awaited_flows()
{
    std::vector<AwaitedFlow> flows;
    for (const Argument &argument : arguments_) {
        for (const FlowBegun &flow : argument.flows)
            flows.push_back({flow.get(), &flows_seen_[flows.size()]});
    }
    return flows;
}

bool Node::refers_to(const Chain *chain, size_t position) const
{
    return std::any_of(references_.begin(), references_.end(), [&](const Reference &reference) {
        return reference.target.position == position &&
               reference.target.chain.lock().get() == chain;
    });
}

void Node::end()
{
    if (is_ending_.exchange(true))
        return;
    if (function_.end)
        function_.end(instance_);
    has_ended_ = true;
    if (ring_ && !function_.is_settled)
        ring_->writer().end();
    if (has_published_result() || is_copied())
        publish();
}

void Node::cancel()
{
    if (function_.cancel)
        function_.cancel(instance_);
    if (ring_)
        ring_->writer().cancel();
}

mapi_function_drops Node::drops() const
{
    mapi_function_drops drops = {};
    if (function_.drops)
        function_.drops(instance_, &drops);
    if (ring_)
        drops.buffer_full += ring_->writer().dropped();
    return drops;
}

std::string Node::failure(const mapi_function_drops &drops) const
{
    constexpr size_t kPathBytesMax = 200; // leaves room for the reason
    if (drops.write_error == 0)
        return "";
    std::string text = std::string(function_.name) + ": ";
    for (const Argument &argument : arguments_) {
        if (argument.kind == 'w' || argument.kind == 'o')
            text += (argument.text.size() > kPathBytesMax
                         ? "..." + argument.text.substr(argument.text.size() - kPathBytesMax)
                         : argument.text) +
                    ": ";
    }
    return text + (drops.write_reason ? drops.write_reason
                                      : std::generic_category().message(drops.write_error));
}
} // namespace mapi::engine
