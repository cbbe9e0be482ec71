// SPDX-License-Identifier: MIT
// tables: what both databases have in common: the tables, and rows -> structs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "qos/store/store.hpp"

namespace qos
{
constexpr int64_t kSchemaVersion = 1;

// Understood by SQLite and PostgreSQL.
extern const char *const kCreateTables;

struct RunColumn {
    const char *name;
    int64_t Run::*member; // all columns but point, source and is_complete
};
extern const std::array<RunColumn, 13> kRunNumbers;

// "INSERT ... ON CONFLICT (id) DO UPDATE ...": kRunNumbers, then point, source, is_complete as $1
// on.
std::string run_upsert();
std::string run_select(); // the same columns

// A row of the packets joined with its flow, as text; a null pointer is NULL.
constexpr size_t kPacketColumns = 11;
extern const char *const kPacketSelect; // $1: run, $2: from_ns, $3: below
using PacketRow = std::array<const char *, kPacketColumns>;
// nullopt if a column is missing or out of its range.
std::optional<SelectedPacket> packet_of(const PacketRow &row);
} // namespace qos
