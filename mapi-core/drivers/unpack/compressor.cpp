// SPDX-License-Identifier: MIT
// Compressors: one line each; the build defines which libraries are available.
#include "drivers/unpack/compressor.hpp"

#include <cstring>

namespace mapi::drivers
{
namespace
{
constexpr Compressor kCompressors[] = {
    {"gzip", "zcat", "\x1f\x8b\x08", NETSLICE_GZIP ? make_gzip_decoder : nullptr},
    {"xz",
     "xzcat",
     {"\xfd"
      "7zXZ\0",
      6},
     NETSLICE_XZ ? make_xz_decoder : nullptr},
    {"zstd", "zstdcat", "\x28\xb5\x2f\xfd", NETSLICE_ZSTD ? make_zstd_decoder : nullptr},
    {"zstd", "zstdcat", "\x50\x2a\x4d\x18",
     NETSLICE_ZSTD ? make_zstd_decoder : nullptr}, // pzstd writes its sizes first
    {"bzip2", "bzcat", "BZh", NETSLICE_BZIP2 ? make_bzip2_decoder : nullptr},
    {"lz4", "lz4cat", "\x04\x22\x4d\x18", nullptr},
};
} // namespace

const Compressor *find_compressor(std::span<const uint8_t> first_bytes)
{
    for (const Compressor &compressor : kCompressors) {
        const std::string_view magic = compressor.magic;
        if (first_bytes.size() >= magic.size() &&
            memcmp(first_bytes.data(), magic.data(), magic.size()) == 0)
            return &compressor;
    }
    return nullptr;
}
} // namespace mapi::drivers
