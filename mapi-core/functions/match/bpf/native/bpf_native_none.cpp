// SPDX-License-Identifier: MIT
// Replacement without a code generator: every filter is interpreted.
#include "bpf_native.hpp"

namespace mapi::match
{
std::unique_ptr<NativeFilter> NativeFilter::make(std::span<const bpf_insn>)
{
    return nullptr;
}

NativeFilter::~NativeFilter() = default;
} // namespace mapi::match
