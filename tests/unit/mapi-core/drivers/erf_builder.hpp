// SPDX-License-Identifier: MIT
// ERF builder: fields -> bytes of a record, valid or invalid.
#pragma once

#include <cstdint>
#include <string>

#include "mapi-core/capture_builder.hpp"

namespace test_support
{
struct Erf {
    uint8_t type = 2;
    uint8_t flags = 4;   // the length varies
    uint16_t losses = 0; // or colour
    uint16_t wire_len = 60;
    uint32_t seconds = 1500000000;
    uint32_t fraction = 0;
    int record_bytes = -1;       // -1: the actual size
    std::string extensions = {}; // 8 bytes each
    std::string frame = {};
    std::string padding = {};

    std::string bytes() const
    {
        std::string body = extensions;
        const uint8_t number = type & 0x7f;
        if (number == 2 || number == 11 || number == 16 || number == 20)
            body += std::string(2, '\0');
        if (number == 5 || number == 17)
            body += std::string(4, '\7');
        body += frame + padding;
        const size_t length = record_bytes < 0 ? 16 + body.size() : size_t(record_bytes);
        CaptureBuilder little, big(true);
        little.u32(fraction).u32(seconds).text({char(type), char(flags)});
        big.u16(uint16_t(length)).u16(losses).u16(wire_len);
        return little.bytes() + big.bytes() + body;
    }
};
} // namespace test_support
