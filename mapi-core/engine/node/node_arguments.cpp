// SPDX-License-Identifier: MIT
// Node arguments: what a function gets of a client's arguments.
#include "engine/node/node_arguments.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace mapi::engine
{
namespace
{
using Reference = NodeArguments::Reference;

std::vector<Reference> make_references(const Arguments &arguments)
{
    std::vector<Reference> references;
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
std::vector<const mapi_reference *> list_views(const std::vector<Reference> &references)
{
    std::vector<const mapi_reference *> views;
    for (const Reference &reference : references)
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

// Of what operator== of Argument compares.
size_t hash_of(const Arguments &arguments)
{
    constexpr size_t kSpread = 0x9e3779b97f4a7c15;
    size_t hash = arguments.size();
    for (const Argument &argument : arguments) {
        hash = (hash ^ size_t(argument.kind) ^ size_t(argument.number)) * kSpread;
        hash = (hash ^ std::hash<std::string>()(argument.text)) * kSpread;
    }
    return hash;
}

bool is_text(char kind)
{
    switch (kind) {
    case MAPI_ARGUMENT_STRING:
    case MAPI_ARGUMENT_STRING_OR_NUMBER:
    case MAPI_ARGUMENT_PATH:
    case MAPI_ARGUMENT_FILE:
    case MAPI_ARGUMENT_ROTATION:
    case MAPI_ARGUMENT_OUTPUT: return true;
    default: return false;
    }
}
} // namespace

NodeArguments::NodeArguments(Arguments arguments)
    : arguments_(std::move(arguments)), hash_(hash_of(arguments_)),
      references_(make_references(arguments_)), views_(list_views(references_)),
      flows_seen_(count_flows(arguments_)), flow_words_(list_words(flows_seen_))
{
}

bool NodeArguments::refers_to(const Chain *chain, size_t position) const
{
    return std::any_of(references_.begin(), references_.end(), [&](const Reference &reference) {
        return reference.target.position == position &&
               reference.target.chain.lock().get() == chain;
    });
}

std::vector<NodeArguments::AwaitedFlow> NodeArguments::awaited_flows()
{
    std::vector<AwaitedFlow> flows;
    for (const Argument &argument : arguments_) {
        for (const FlowBegun &flow : argument.flows)
            flows.push_back({flow.get(), &flows_seen_[flows.size()]});
    }
    return flows;
}

std::vector<mapi_argument> NodeArguments::values() const
{
    const mapi_reference *const *views = views_.data();
    const uint64_t *const *flows = flow_words_.data();
    std::vector<mapi_argument> values;
    for (const Argument &argument : arguments_) {
        if (argument.kind == kConfigLines)
            break;
        values.push_back({is_text(argument.kind) ? argument.text.c_str() : nullptr, argument.number,
                          uint16_t(argument.kind), argument.targets.empty() ? nullptr : views,
                          argument.flows.empty() ? nullptr : flows,
                          argument.descriptors.empty() ? nullptr : argument.descriptors.data()});
        views += argument.targets.size();
        flows += argument.flows.size();
    }
    return values;
}

const char *NodeArguments::config_lines() const
{
    return !arguments_.empty() && arguments_.back().kind == kConfigLines
               ? arguments_.back().text.c_str()
               : nullptr;
}

uint64_t NodeArguments::most_bytes() const
{
    constexpr uint64_t kBytesPerTextByte = 16; // compiled code grows with its text
    uint64_t bytes = 0;
    for (const Argument &argument : arguments_)
        bytes +=
            argument.text.size() * kBytesPerTextByte + argument.targets.size() * sizeof(Reference);
    return bytes;
}

bool NodeArguments::has_text() const
{
    return std::any_of(arguments_.begin(), arguments_.end(),
                       [](const Argument &argument) { return !argument.text.empty(); });
}

void NodeArguments::keep_files() const
{
    for (const Argument &argument : arguments_)
        argument.keep_files();
}

std::string NodeArguments::written_paths() const
{
    constexpr size_t kPathBytesMax = 200; // leaves room for the reason of a failure
    std::string text;
    for (const Argument &argument : arguments_) {
        if (argument.kind != MAPI_ARGUMENT_FILE && argument.kind != MAPI_ARGUMENT_OUTPUT)
            continue;
        text += (argument.text.size() > kPathBytesMax
                     ? "..." + argument.text.substr(argument.text.size() - kPathBytesMax)
                     : argument.text) +
                ": ";
    }
    return text;
}
} // namespace mapi::engine
