// SPDX-License-Identifier: MIT
// IPFIX without libfixbuf: unavailable.
#include <stdexcept>

#include "functions/flow_report/message_encoder.hpp"

namespace mapi::functions
{
std::unique_ptr<MessageEncoder> make_ipfix(const ReportSettings &, const ReportTemplate &, bool,
                                           bool, SendMessage)
{
    throw std::runtime_error(
        "IPFIX: unavailable: built without libfixbuf (NETFLOW_V9 does not need it)");
}
} // namespace mapi::functions
