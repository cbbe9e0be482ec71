// SPDX-License-Identifier: MIT
// Names of hypervisors, as cpuid has them and as they are shown.
#include "support/catch.hpp"

#include <cstdio>
#include <string>

#include <nsprobe/machine.h>

extern "C" {
#include "session/cpuinfo.h"
}

namespace
{
std::string one_copy(const char *name)
{
    char text[64];
    std::snprintf(text, sizeof text, "%s", name);
    nsp_shorten_repeated_name(text);
    return text;
}
} // namespace

TEST_CASE("a hypervisor that repeats its name in cpuid has it once", "[libnsprobe][machine]")
{
    CHECK(one_copy("KVMKVMKVM") == "KVM");
    CHECK(one_copy("TCGTCGTCGTCG") == "TCG");
    CHECK(one_copy("VMwareVMware") == "VMware");
    CHECK(one_copy("XenVMMXenVMM") == "XenVMM");
    CHECK(one_copy("bhyve bhyve ") == "bhyve");
}

TEST_CASE("other names of hypervisors are kept", "[libnsprobe][machine]")
{
    for (const char *name : {"Microsoft Hv", "QEMU", "KVM", "none", "yes", "", "Amazon EC2"})
        CHECK(one_copy(name) == name);
}

TEST_CASE("the machine's hypervisor is named once", "[libnsprobe][machine]")
{
    nsp_machine machine;
    nsp_machine_read(&machine);
    CHECK(std::string(machine.hypervisor) == one_copy(machine.hypervisor));
    CHECK(machine.hypervisor[0] != 0);
}
