// SPDX-License-Identifier: MIT
// Port: an interface -> packets that arrive there, and a way to send there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "frame.hpp"
#include "ipc/descriptor.hpp"
#include "mapi_gen/interface.hpp"

namespace impair
{
struct Arrival {
    std::span<uint8_t> frame; // until the next call of receive()
    uint64_t real_ns = 0;     // when the kernel got it; 0: unknown
    bool is_merged = false;   // longer than a frame on a wire: an offload merged packets
};

class Port
{
public:
    using Take = std::function<void(const Arrival &)>;

    // Throws mapi_gen::Refusal.
    explicit Port(const std::string &name);
    ~Port();
    Port(Port &&) noexcept;
    Port &operator=(Port &&) = delete;

    const mapi_gen::Interface &interface() const { return interface_; }
    int number() const { return receiving_.number(); }

    // Packets that wait, up to a batch; does not wait itself.  Returns how many.
    size_t receive(const Take &take);
    // Returns 0 or errno.
    int send(std::span<const uint8_t> frame);

    // The errno with which the interface went away; 0: it is there.
    int gone() const { return gone_; }
    // Packets that the socket had no room for so far.
    uint64_t missed();

private:
    struct Batch;

    mapi_gen::Interface interface_;
    mapi::ipc::Descriptor receiving_, sending_;
    std::unique_ptr<Batch> batch_;
    uint64_t missed_ = 0;
    int gone_ = 0;
};
} // namespace impair
