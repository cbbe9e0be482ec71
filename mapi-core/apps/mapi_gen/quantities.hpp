// SPDX-License-Identifier: MIT
// quantities: words of the command line -> numbers, addresses, lists of CPUs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapi_gen
{
using Mac = std::array<uint8_t, 6>;

// All return nothing if the text is not one.
std::optional<double> read_rate(const std::string &text);   // "14.88M"; positive, units of 1000
std::optional<Mac> read_mac(const std::string &text);       // "02:00:00:00:00:01"
std::optional<uint32_t> read_ipv4(const std::string &text); // in host byte order
// "0,2-3": in the order given, each once.
std::optional<std::vector<unsigned>> read_cpus(const std::string &text);
} // namespace mapi_gen
