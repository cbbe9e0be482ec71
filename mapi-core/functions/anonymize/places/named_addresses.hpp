// SPDX-License-Identifier: MIT
// Named addresses: addresses in headers other than source and destination.
#pragma once

#include "anonymize/places/places.hpp"

namespace mapi::anonymize
{
// For kSourceAddress: the address a neighbour advertisement answers for.  For kDestinationAddress:
// routes in options and routing headers, redirects, neighbour and router discovery, multicast
// listeners.
void find_named_addresses(Field field, const mapi_packet &packet, const Layers &layers,
                          Places &places);
} // namespace mapi::anonymize
