// SPDX-License-Identifier: MIT
// What an attached program costs: its own runs while packets arrive, and those of a copy on some of
// these packets.
#pragma once

#include <cstdint>
#include <memory>

#include <mapi/driver_cost.h>

#include "drivers/xdp/cost/program_copy.hpp"
#include "drivers/xdp/interface/attachment.hpp"

namespace mapi::drivers::xdp
{
// All that measuring needs of a program, which may be replaced and destroyed meanwhile.
class ProgramCost
{
public:
    // setup: as for the program; its maps are not used.  Throws KernelRefusal.
    ProgramCost(const Program &program, const ProgramSetup &setup, uint32_t interface_index,
                Attachment::Mode mode);

    // Reads duration_ms and stop, and fills in the rest.  Throws KernelRefusal.
    void measure(mapi_driver_cost &cost);

private:
    void measure_runs(mapi_driver_cost &cost, int empty);
    void measure_net(mapi_driver_cost &cost, int empty);
    std::string why_no_packets() const;

    ipc::Descriptor program_;
    CopiedNodes nodes_;
    const ProgramSetup setup_;
    const uint32_t interface_index_;
    const Attachment::Mode mode_;
    std::vector<std::vector<uint8_t>> packets_;
};
} // namespace mapi::drivers::xdp
