// SPDX-License-Identifier: MIT
// arrow: columns and batches -> structures of the C data interface, which own their memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrow/c_data.h"
#include "arrow/column.hpp"
#include "arrow/dictionary.hpp"

namespace nsdump::arrow
{
using Metadata = std::vector<std::pair<std::string, std::string>>;

// `out` is to be released by its receiver.
void export_schema(std::span<const Column> columns, const Metadata &metadata, ArrowSchema *out);
void export_batch(Batch batch, std::span<const Column> columns,
                  const std::shared_ptr<const Texts> &names, ArrowArray *out);
} // namespace nsdump::arrow
