// SPDX-License-Identifier: MIT
// An interface's programs, attached through links: they end with this process, however that ends,
// and another program is never replaced.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "drivers/xdp/interface/own_interface.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::drivers::xdp
{
class Attachment
{
public:
    enum class Mode { kNative, kGeneric };

    // outgoing: the program for outgoing packets, or -1; patience: for an attachment of this
    // process that is just being destroyed.  Throws KernelRefusal, which names a program that is
    // there already.
    Attachment(const std::string &interface, uint32_t interface_index, int program, int outgoing,
               std::chrono::milliseconds patience);

    // One direction after the other, each in one step: each packet goes through one of the two
    // programs.  outgoing: as above.  Throws KernelRefusal, if for example the interface is gone.
    void replace(int program, int outgoing);
    Mode mode() const { return mode_; }

private:
    void attach(int program);
    void attach_outgoing(int program);
    void update(const ipc::Descriptor &link, const char *description, int program);

    const std::string interface_;
    const uint32_t interface_index_;
    const OwnInterface own_; // before the links: given back once they are closed
    ipc::Descriptor link_;
    ipc::Descriptor outgoing_link_; // closed: it has none
    Mode mode_ = Mode::kNative;
};

// Returns once no CPU runs a program any more that was replaced before the call.
void wait_for_running_programs();
} // namespace mapi::drivers::xdp
