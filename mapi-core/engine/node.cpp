// SPDX-License-Identifier: MIT
// Node: one function with its arguments.
#include "engine/node.hpp"

#include "engine/error.hpp"
#include "engine/slices.hpp"

namespace mapi::engine
{
namespace
{
std::vector<Node::Reference> make_references(const Arguments &arguments)
{
    std::vector<Node::Reference> references;
    for (const Argument &argument : arguments) {
        if (argument.kind != 'f')
            continue;
        references.push_back({argument.target});
        references.back().view.is_count = argument.target.is_count;
    }
    return references;
}

std::vector<mapi_argument> borrow_arguments(const Arguments &arguments, const std::vector<Node::Reference> &references)
{
    std::vector<mapi_argument> views;
    size_t referred = 0;
    for (const Argument &argument : arguments)
        views.push_back({argument.kind == 's' ? argument.text.c_str() : nullptr, argument.number, argument.kind,
                         argument.kind == 'f' ? &references[referred++].view : nullptr});
    return views;
}

uint64_t *allocate_result(const mapi_function_setup *setup, uint32_t bytes)
{
    const bool is_fine = bytes > 0 && bytes <= MAPI_RESULT_BYTES_MAX;
    return is_fine ? static_cast<Published *>(setup->engine)->allocate_in_place(bytes) : nullptr;
}
} // namespace

Node::Node(const mapi_function &function, Arguments arguments, const mapi_driver_info &device,
           std::shared_ptr<DropTotals> totals)
    : function_(function), slice_(slice_of(function.name)), result_(Published::words_for(function.result_bytes)),
      published_(function.result_bytes), arguments_(std::move(arguments)), references_(make_references(arguments_)), totals_(std::move(totals)),
      has_value_(!function.values || is_additive())
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    const std::vector<mapi_argument> views = borrow_arguments(arguments_, references_);
    mapi_function_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.argument_count = uint32_t(views.size());
    setup.arguments = views.data();
    setup.result = result_.data();
    setup.device_flags = device.device_flags;
    setup.snaplen = device.snaplen;
    setup.link_type = device.link_type;
    setup.error_bytes = sizeof(text);
    setup.error = text;
    setup.allocate_result = allocate_result;
    setup.engine = &published_;
    if (const int number = function.create(&setup, &instance_); number != 0)
        throw Error(number, std::string(function.name) + ": " + (*text ? text : "refused its arguments"));
}

Node::~Node()
{
    if (!instance_)
        return;
    const mapi_function_drops last = drops();
    totals_->buffer_full += last.buffer_full;
    totals_->link_type += last.link_type;
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

void Node::end()
{
    if (function_.end)
        function_.end(instance_);
}

void Node::cancel()
{
    if (function_.cancel)
        function_.cancel(instance_);
}

mapi_function_drops Node::drops() const
{
    mapi_function_drops drops = {};
    if (function_.drops)
        function_.drops(instance_, &drops);
    return drops;
}
} // namespace mapi::engine
