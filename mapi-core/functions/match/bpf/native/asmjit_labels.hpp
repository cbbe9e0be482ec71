// SPDX-License-Identifier: MIT
// The labels of a BPF emitter as labels of asmjit.
#pragma once

#include <asmjit/core.h>

#include <cstddef>
#include <vector>

#include "bpf_emitter.hpp"

namespace mapi::match
{
class AsmjitLabels
{
public:
    AsmjitLabels(asmjit::BaseEmitter &emitter, size_t count)
    {
        labels_.reserve(count);
        while (labels_.size() < count)
            labels_.push_back(emitter.newLabel());
    }

    const asmjit::Label &operator[](BpfLabel label) const { return labels_[label.number]; }

private:
    std::vector<asmjit::Label> labels_;
};
} // namespace mapi::match
