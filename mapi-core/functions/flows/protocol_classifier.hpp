// SPDX-License-Identifier: MIT
// Protocol classifier: a flow's IP packets -> which application protocol it is of, as nDPI tells.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mapi::functions
{
// Not for two threads at once; two of them do not touch each other.
class ProtocolClassifier
{
public:
    // Throws std::runtime_error: built without nDPI, or no memory.
    ProtocolClassifier();
    ~ProtocolClassifier();
    ProtocolClassifier(const ProtocolClassifier &) = delete;
    ProtocolClassifier &operator=(const ProtocolClassifier &) = delete;

    // What it takes at most with so many flows that are not decided.
    static uint64_t memory_bytes(size_t flows);

    // nDPI's names, by their numbers.
    const std::vector<std::string> &names() const { return names_; }

    // What is known of a flow.  Frees what it has of nDPI's.
    struct Flow {
        uint16_t master = 0;      // as HTTP; 0: not known
        uint16_t application = 0; // as the site that is spoken to by HTTP
        bool is_decided = false;  // no packet will change it
        uint16_t packets = 0;     // that were looked at
        struct Deleter {
            void operator()(void *state) const;
        };
        std::unique_ptr<void, Deleter> state{};

        bool is(uint16_t protocol) const { return protocol && (master == protocol || application == protocol); }
    };

    // `packet` is whole, from its IP header on.
    void look(Flow &flow, std::span<const uint8_t> packet, uint8_t ip_protocol, uint64_t time_ns);

private:
    struct Module;
    std::unique_ptr<Module> module_;
    std::vector<std::string> names_;
};
} // namespace mapi::functions
