// SPDX-License-Identifier: MIT
// Protocol classifier: a flow's IP packets -> its application protocol, as identified by nDPI.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mapi::functions
{
// Not thread-safe; separate objects are independent.
class ProtocolClassifier
{
public:
    // Throws std::runtime_error if built without nDPI or out of memory.
    ProtocolClassifier();
    ~ProtocolClassifier();
    ProtocolClassifier(const ProtocolClassifier &) = delete;
    ProtocolClassifier &operator=(const ProtocolClassifier &) = delete;

    // Upper bound of its memory with that many undecided flows.
    static uint64_t memory_bytes(size_t flows);

    // nDPI's names, indexed by protocol number.
    const std::vector<std::string> &names() const { return names_; }

    // What is known of a flow.  Frees nDPI's state of the flow.
    struct Flow {
        uint16_t master = 0;      // such as HTTP; 0: unknown
        uint16_t application = 0; // such as the site accessed by HTTP
        bool is_decided = false;  // no further packet will change it
        uint16_t packets = 0;     // examined so far
        struct Deleter {
            void operator()(void *state) const;
        };
        std::unique_ptr<void, Deleter> state{};

        bool is(uint16_t protocol) const
        {
            return protocol && (master == protocol || application == protocol);
        }
    };

    // `packet` is complete, starting at its IP header.
    void look(Flow &flow, std::span<const uint8_t> packet, uint8_t ip_protocol, uint64_t time_ns);

private:
    struct Module;
    std::unique_ptr<Module> module_;
    std::vector<std::string> names_;
};
} // namespace mapi::functions
