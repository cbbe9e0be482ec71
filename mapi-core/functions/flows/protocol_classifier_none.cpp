// SPDX-License-Identifier: MIT
// Protocol classifier: unavailable without nDPI.
#include "functions/flows/protocol_classifier.hpp"

#include <stdexcept>

namespace mapi::functions
{
struct ProtocolClassifier::Module {
};

ProtocolClassifier::ProtocolClassifier()
{
    throw std::runtime_error(
        "unavailable: built without nDPI (install its development files and rebuild)");
}

ProtocolClassifier::~ProtocolClassifier() = default;

uint64_t ProtocolClassifier::memory_bytes(size_t)
{
    return 0;
}

void ProtocolClassifier::Flow::Deleter::operator()(void *) const {}

void ProtocolClassifier::look(Flow &, std::span<const uint8_t>, uint8_t, uint64_t) {}
} // namespace mapi::functions
