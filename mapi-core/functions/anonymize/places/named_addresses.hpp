// SPDX-License-Identifier: MIT
// Named addresses: those that headers tell besides source and destination.
#pragma once

#include "anonymize/places/places.hpp"

namespace mapi::anonymize
{
// Of kSourceAddress: what a neighbour advertisement answers for.  Of kDestinationAddress: routes in options and routing headers,
// redirects, neighbour and router discovery, multicast listeners.
void find_named_addresses(Field field, const mapi_packet &packet, const Layers &layers, Places &places);
} // namespace mapi::anonymize
