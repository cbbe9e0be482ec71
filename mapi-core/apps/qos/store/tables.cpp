// SPDX-License-Identifier: MIT
// tables: SQL that both databases understand.
#include "qos/store/tables.hpp"

#include <cerrno>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace qos
{
namespace
{
// Nothing but a number in the given range is taken.
std::optional<int64_t> number_of(const char *text, int64_t least, int64_t most)
{
    if (!text || !*text)
        return std::nullopt;
    char *end = nullptr;
    errno = 0;
    const long long number = std::strtoll(text, &end, 10);
    if (*end != 0 || errno != 0 || number < least || number > most)
        return std::nullopt;
    return number;
}

template <class Number> bool read_number(const char *text, Number &to)
{
    const auto number = number_of(text, int64_t(std::numeric_limits<Number>::min()),
                                  int64_t(std::numeric_limits<Number>::max()));
    to = Number(number.value_or(0));
    return number.has_value();
}
} // namespace

const char *const kCreateTables =
    "CREATE TABLE IF NOT EXISTS qos_schema (version BIGINT NOT NULL PRIMARY KEY);"
    "INSERT INTO qos_schema (version) VALUES (1) ON CONFLICT (version) DO NOTHING;"
    "CREATE TABLE IF NOT EXISTS qos_runs (id BIGINT NOT NULL PRIMARY KEY, point TEXT NOT NULL,"
    " source TEXT NOT NULL, is_complete BIGINT NOT NULL, started_ns BIGINT NOT NULL,"
    " below BIGINT NOT NULL, key BIGINT NOT NULL, payload_bytes BIGINT NOT NULL,"
    " first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL, packets BIGINT NOT NULL,"
    " selected BIGINT NOT NULL, unread BIGINT NOT NULL, lost BIGINT NOT NULL,"
    " no_room BIGINT NOT NULL, malformed BIGINT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS qos_flows (run BIGINT NOT NULL, number BIGINT NOT NULL,"
    " version BIGINT NOT NULL, protocol BIGINT NOT NULL, source TEXT NOT NULL,"
    " source_port BIGINT NOT NULL, destination TEXT NOT NULL, destination_port BIGINT NOT NULL,"
    " PRIMARY KEY (run, number));"
    "CREATE TABLE IF NOT EXISTS qos_packets (run BIGINT NOT NULL, number BIGINT NOT NULL,"
    " time_ns BIGINT NOT NULL, digest BIGINT NOT NULL, hash BIGINT NOT NULL,"
    " flow BIGINT NOT NULL, bytes BIGINT NOT NULL, hop_limit BIGINT NOT NULL,"
    " PRIMARY KEY (run, time_ns, number));"; // a report may want only the last minutes

const std::array<RunColumn, 13> kRunNumbers = {{{"id", &Run::id},
                                                {"started_ns", &Run::started_ns},
                                                {"below", &Run::below},
                                                {"key", &Run::key},
                                                {"payload_bytes", &Run::payload_bytes},
                                                {"first_ns", &Run::first_ns},
                                                {"last_ns", &Run::last_ns},
                                                {"packets", &Run::packets},
                                                {"selected", &Run::selected},
                                                {"unread", &Run::unread},
                                                {"lost", &Run::lost},
                                                {"no_room", &Run::no_room},
                                                {"malformed", &Run::malformed}}};

const char *const kPacketSelect =
    "SELECT p.time_ns, p.digest, p.hash, p.bytes, p.hop_limit, f.version, f.protocol, f.source,"
    " f.source_port, f.destination, f.destination_port FROM qos_packets p LEFT JOIN qos_flows f"
    " ON f.run = p.run AND f.number = p.flow WHERE p.run = $1 AND p.time_ns >= $2 AND"
    " (p.hash < $3 OR p.hash > 4294967295 OR p.hash IS NULL)"; // malformed ones, too: they are
                                                               // counted

std::string run_select()
{
    std::string names;
    for (const RunColumn &column : kRunNumbers)
        names += fmt::format("{}, ", column.name);
    return "SELECT " + names + "point, source, is_complete FROM qos_runs ORDER BY started_ns, id";
}

std::string run_upsert()
{
    std::string names, values, updates;
    size_t number = 0;
    for (const RunColumn &column : kRunNumbers) {
        names += fmt::format("{}, ", column.name);
        values += fmt::format("${}, ", ++number);
        updates += fmt::format("{0} = excluded.{0}, ", column.name);
    }
    return fmt::format("INSERT INTO qos_runs ({}point, source, is_complete) VALUES ({}${}, ${}, "
                       "${}) ON CONFLICT (id) DO UPDATE SET {}is_complete = excluded.is_complete",
                       names, values, number + 1, number + 2, number + 3, updates);
}

// The year 2116: differences of differences of times have room.
constexpr int64_t kTimeMost = int64_t(1) << 62;

std::optional<SelectedPacket> packet_of(const PacketRow &row)
{
    SelectedPacket packet;
    int64_t digest = 0;
    FlowKey &flow = packet.flow;
    const bool has_numbers =
        read_number(row[0], packet.time_ns) && read_number(row[1], digest) &&
        read_number(row[2], packet.hash) && read_number(row[3], packet.bytes) &&
        read_number(row[4], packet.hop_limit) && read_number(row[5], flow.version) &&
        read_number(row[6], flow.protocol) && read_number(row[8], flow.source_port) &&
        read_number(row[10], flow.destination_port);
    if (!has_numbers || packet.time_ns < 0 || packet.time_ns > kTimeMost ||
        (flow.version != 4 && flow.version != 6) || !row[7] || !row[9])
        return std::nullopt;
    packet.digest = uint64_t(digest);
    const auto source = address_of(row[7], flow.version),
               destination = address_of(row[9], flow.version);
    if (!source || !destination)
        return std::nullopt;
    flow.source = *source;
    flow.destination = *destination;
    return packet;
}
} // namespace qos
