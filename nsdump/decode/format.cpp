// SPDX-License-Identifier: MIT
// decode: file version -> its decoder.
#include "decode/format.hpp"

namespace nsdump
{
const Format *find_format(uint32_t version)
{
    switch (version) {
    case 1: return &kFormatV1;
    default: return nullptr;
    }
}
} // namespace nsdump
