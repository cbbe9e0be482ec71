// SPDX-License-Identifier: MIT
// filter: a rule's header -> the BPF filter of the packets that Snort tries the rule on.
#pragma once

#include <optional>
#include <string>

#include "header.hpp"

namespace snort2sids
{
// Equal headers have equal texts, whatever variables and lists they were written with.  Nothing if
// no packet can match.  With `sees_vlans`, packets with one or two VLAN tags are accepted, too.
std::optional<std::string> filter_of(const Header &header, bool sees_vlans = false);
} // namespace snort2sids
