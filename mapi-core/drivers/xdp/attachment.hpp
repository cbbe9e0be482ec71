// SPDX-License-Identifier: MIT
// An interface's XDP program, attached through a link: it ends with this process, however that
// ends, and another program is never replaced.
#pragma once

#include <cstdint>
#include <string>

#include "ipc/descriptor.hpp"

namespace mapi::drivers::xdp
{
class Attachment
{
public:
    enum class Mode { kNative, kGeneric };

    // Throws KernelRefusal, which names a program that is there already.
    Attachment(const std::string &interface, uint32_t interface_index, int program);

    // In one step: each packet goes through one of the two programs.  Throws KernelRefusal, if for
    // example the interface is gone.
    void replace(int program);
    Mode mode() const { return mode_; }

private:
    const std::string interface_;
    ipc::Descriptor link_;
    Mode mode_ = Mode::kNative;
};

// Returns once no CPU runs a program any more that was replaced before the call.
void wait_for_running_programs();
} // namespace mapi::drivers::xdp
