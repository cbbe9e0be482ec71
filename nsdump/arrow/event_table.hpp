// SPDX-License-Identifier: MIT
// arrow: events -> rows of their table.
#pragma once

#include "arrow/table.hpp"
#include "decode/event.hpp"
#include "decode/names.hpp"

namespace nsdump::arrow
{
class EventTable : public Table
{
public:
    explicit EventTable(const NsClock &clock);
    void add(const Event &event, NameId name, bool is_kernel);

private:
    void finish_batch(Batch &batch) override;

    NsClock clock_;
};
} // namespace nsdump::arrow
