// SPDX-License-Identifier: MIT
// Which interfaces this process has programs on: one attachment each.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace mapi::drivers::xdp
{
class OwnInterface
{
public:
    // Waits for an attachment of this process that is just being destroyed.  Throws KernelRefusal
    // if it is not gone after `patience`.
    OwnInterface(const std::string &name, uint32_t index, std::chrono::milliseconds patience);
    ~OwnInterface();
    OwnInterface(const OwnInterface &) = delete;
    OwnInterface &operator=(const OwnInterface &) = delete;

private:
    const uint32_t index_;
};
} // namespace mapi::drivers::xdp
