// SPDX-License-Identifier: MIT
// Odd lengths: counts -> a remark for the user.
#include "drivers/formats/odd_lengths.hpp"

namespace mapi::drivers
{
void OddLengths::note(uint32_t caplen, uint32_t wire_len, uint32_t snaplen, uint64_t offset)
{
    if (caplen > wire_len)
        longer_than_wire_.note(offset);
    if (caplen > snaplen)
        longer_than_snaplen_.note(offset);
}

std::string OddLengths::message() const
{
    const auto text_of = [](const OddRecords &records, const std::string &than_what) {
        return records.text("record holds", "records hold", " more bytes than " + than_what);
    };
    std::string text;
    if (longer_than_wire_.any())
        text =
            text_of(longer_than_wire_, "the wire had") + "; they are counted with the wire length";
    if (longer_than_snaplen_.any())
        text += (text.empty() ? "" : "; ") + text_of(longer_than_snaplen_, "the snaplen allows") +
                "; they are counted, truncated to it";
    if (!text.empty())
        text += "; the file was written incorrectly or is damaged (copy or record it again)";
    return text;
}
} // namespace mapi::drivers
