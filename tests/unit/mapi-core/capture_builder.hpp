// SPDX-License-Identifier: MIT
// Capture builder: packets -> bytes of a pcap or pcapng file, in either byte order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace test_support
{
class CaptureBuilder
{
public:
    explicit CaptureBuilder(bool swapped = false) : swapped_(swapped) {}

    CaptureBuilder &u16(uint16_t value) { return put(value, 2); }
    CaptureBuilder &u32(uint32_t value) { return put(value, 4); }
    CaptureBuilder &text(const std::string &bytes)
    {
        bytes_ += bytes;
        return *this;
    }
    CaptureBuilder &swap_from_here()
    {
        swapped_ = !swapped_;
        return *this;
    }

    CaptureBuilder &pcap_header(uint32_t magic = 0xa1b2c3d4, uint32_t snaplen = 65535,
                                uint32_t link_type = 1)
    {
        return u32(magic).u16(2).u16(4).u32(0).u32(0).u32(snaplen).u32(link_type);
    }
    CaptureBuilder &pcap_record(const std::string &data, uint32_t wire_len, uint32_t s = 1,
                                uint32_t fraction = 0)
    {
        return u32(s).u32(fraction).u32(uint32_t(data.size())).u32(wire_len).text(data);
    }

    CaptureBuilder &block(uint32_t type, const std::string &body)
    {
        const std::string padding((4 - body.size() % 4) % 4, '\0');
        const uint32_t bytes = uint32_t(12 + body.size() + padding.size());
        return u32(type).u32(bytes).text(body).text(padding).u32(bytes);
    }
    CaptureBuilder &section()
    {
        return block(0x0a0d0d0a, part().u32(0x1a2b3c4d).u16(1).u16(0).u32(~0u).u32(~0u).bytes());
    }
    CaptureBuilder &interface(uint16_t link_type, uint32_t snaplen = 0,
                              const std::string &options = {})
    {
        return block(1, part().u16(link_type).u16(0).u32(snaplen).bytes() + options);
    }
    CaptureBuilder &enhanced(uint32_t interface, uint64_t ticks, const std::string &data,
                             uint32_t wire_len)
    {
        return block(6, part().u32(interface)
                                .u32(uint32_t(ticks >> 32))
                                .u32(uint32_t(ticks))
                                .u32(uint32_t(data.size()))
                                .u32(wire_len)
                                .bytes() +
                            data);
    }
    CaptureBuilder &simple(const std::string &data, uint32_t wire_len)
    {
        return block(3, part().u32(wire_len).bytes() + data);
    }
    CaptureBuilder &obsolete(uint16_t interface, uint64_t ticks, const std::string &data,
                             uint32_t wire_len)
    {
        return block(2, part().u16(interface)
                                .u16(0)
                                .u32(uint32_t(ticks >> 32))
                                .u32(uint32_t(ticks))
                                .u32(uint32_t(data.size()))
                                .u32(wire_len)
                                .bytes() +
                            data);
    }

    // An empty builder of the same byte order, for the contents of a block.
    CaptureBuilder part() const { return CaptureBuilder(swapped_); }
    const std::string &bytes() const { return bytes_; }

    std::string write(const std::filesystem::path &path) const
    {
        std::ofstream(path, std::ios::binary) << bytes_;
        return path.string();
    }

private:
    CaptureBuilder &put(uint32_t value, int size)
    {
        for (int i = 0; i < size; ++i) {
            const int place = swapped_ ? size - 1 - i : i;
            bytes_ += char(value >> (8 * place));
        }
        return *this;
    }

    bool swapped_; // big-endian
    std::string bytes_;
};

// An Ethernet frame with an IPv4 header, UDP ports and a payload.
inline std::string udp_frame(uint16_t source_port, uint16_t target_port, const std::string &payload)
{
    CaptureBuilder frame(true);
    frame.text(std::string(12, '\x02')).u16(0x0800);
    frame.u16(0x4500)
        .u16(uint16_t(28 + payload.size()))
        .u32(0)
        .u16(0x4011)
        .u16(0)
        .u32(0x0a000001)
        .u32(0x0a000002);
    frame.u16(source_port).u16(target_port).u16(uint16_t(8 + payload.size())).u16(0).text(payload);
    return frame.bytes();
}
} // namespace test_support
