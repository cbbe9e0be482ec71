// SPDX-License-Identifier: MIT
// postgresql_store: one connection, which is made again when it was lost.
#include "qos/store/postgresql_store.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "qos/store/tables.hpp"

namespace qos
{
namespace
{
constexpr const char *kConnectSeconds = "5"; // unless the address or the environment says more

// libpq ends its messages with line feeds, and may have several lines.
std::string one_line(std::string text)
{
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    for (size_t at = 0; (at = text.find('\n', at)) != text.npos;)
        text.replace(at, 1, "; ");
    return text;
}

// Classes of SQLSTATE that may be different later: connection, resources, intervention by an
// operator, system, deadlocks.
bool may_pass(const std::string &state)
{
    for (const char *const prefix : {"08", "53", "57", "58", "40", "25006"})
        if (state.starts_with(prefix))
            return true;
    return state.empty();
}

struct Cleared {
    void operator()(PGresult *result) const { PQclear(result); }
    void operator()(PGconn *connection) const { PQfinish(connection); }
};
using Result = std::unique_ptr<PGresult, Cleared>;
using Values = std::vector<std::string>;

// An array as PostgreSQL reads it; the values need no quotes.
class Array
{
public:
    void add(const std::string &value) { text_ += (text_.empty() ? "{" : ",") + value; }
    void add(int64_t number) { add(std::to_string(number)); }
    std::string text() const { return text_.empty() ? "{}" : text_ + "}"; }

private:
    std::string text_;
};

class PostgresqlStore : public Store
{
public:
    PostgresqlStore(std::string address, Access access)
        : address_(std::move(address)), access_(access)
    {
        connect();
    }

    void write(const Run &run, const Batch &batch) override
    {
        connect();
        try {
            execute("BEGIN");
            write_rows(run, batch);
            execute("COMMIT");
        } catch (const StoreAway &) {
            connection_.reset();
            throw;
        } catch (...) {
            PQclear(PQexec(connection_.get(), "ROLLBACK"));
            throw;
        }
    }

    std::vector<Run> runs() override
    {
        const Result found = query(run_select(), {});
        std::vector<Run> runs;
        for (int row = 0; row < PQntuples(found.get()); ++row) {
            Run run;
            int column = 0;
            for (const RunColumn &number : kRunNumbers)
                run.*number.member = std::atoll(PQgetvalue(found.get(), row, column++));
            run.point = PQgetvalue(found.get(), row, column++);
            run.source = PQgetvalue(found.get(), row, column++);
            run.is_complete = std::atoll(PQgetvalue(found.get(), row, column)) != 0;
            runs.push_back(run);
        }
        return runs;
    }

    // Row by row: a run may be larger than memory.
    uint64_t read(const Run &run, int64_t from_ns, int64_t below,
                  const std::function<void(const SelectedPacket &)> &take) override
    {
        send(kPacketSelect,
             {std::to_string(run.id), std::to_string(from_ns), std::to_string(below)});
        PQsetSingleRowMode(connection_.get());
        uint64_t malformed = 0;
        while (const Result result{PQgetResult(connection_.get())}) {
            const ExecStatusType status = PQresultStatus(result.get());
            if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK)
                fail(result.get());
            for (int row = 0; row < PQntuples(result.get()); ++row) {
                PacketRow columns;
                for (size_t i = 0; i < columns.size(); ++i)
                    columns[i] = PQgetisnull(result.get(), row, int(i))
                                     ? nullptr
                                     : PQgetvalue(result.get(), row, int(i));
                if (const auto packet = packet_of(columns))
                    take(*packet);
                else
                    ++malformed;
            }
        }
        return malformed;
    }

private:
    void connect()
    {
        if (connection_ && PQstatus(connection_.get()) == CONNECTION_OK)
            return;
        const char *const names[] = {"connect_timeout", "dbname", "fallback_application_name",
                                     nullptr};
        const char *const values[] = {kConnectSeconds, address_.c_str(), "mapi-qos", nullptr};
        connection_.reset(PQconnectdbParams(names, values, 1));
        if (!connection_)
            throw StoreAway("out of memory");
        if (PQstatus(connection_.get()) != CONNECTION_OK) {
            const std::string why = one_line(PQerrorMessage(connection_.get()));
            connection_.reset();
            throw StoreAway(why);
        }
        PQsetNoticeProcessor(
            connection_.get(), [](void *, const char *) {}, nullptr);
        if (access_ == Access::kWrite && !has_tables())
            create_tables();
        check_version();
    }

    bool has_tables()
    {
        return !PQgetisnull(query("SELECT to_regclass('qos_schema')", {}).get(), 0, 0);
    }

    // Two collectors that create them at the same time would fail.
    void create_tables()
    {
        execute("BEGIN");
        query("SELECT pg_advisory_xact_lock(hashtext('qos_schema'))", {});
        execute(kCreateTables);
        execute("COMMIT");
    }

    void check_version()
    {
        if (!has_tables())
            throw StoreError("is not a store of mapi-qos");
        const Result found = query("SELECT MAX(version) FROM qos_schema", {});
        const long long version = std::atoll(PQgetvalue(found.get(), 0, 0));
        if (version != kSchemaVersion)
            throw StoreError(fmt::format("has tables of version {}; this mapi-qos reads version {}",
                                         version, kSchemaVersion));
    }

    [[noreturn]] void fail(const PGresult *result)
    {
        const char *const state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
        const std::string why = one_line(PQerrorMessage(connection_.get()));
        if (may_pass(state ? state : ""))
            throw StoreAway(why);
        throw StoreError(why);
    }

    void execute(const char *sql)
    {
        const Result result(PQexec(connection_.get(), sql));
        if (PQresultStatus(result.get()) != PGRES_COMMAND_OK)
            fail(result.get());
    }

    static std::vector<const char *> pointers(const Values &values)
    {
        std::vector<const char *> pointers;
        for (const std::string &value : values)
            pointers.push_back(value.c_str());
        return pointers;
    }

    Result query(const std::string &sql, const Values &values)
    {
        Result result(PQexecParams(connection_.get(), sql.c_str(), int(values.size()), nullptr,
                                   pointers(values).data(), nullptr, nullptr, 0));
        const ExecStatusType status = PQresultStatus(result.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            fail(result.get());
        return result;
    }

    void send(const std::string &sql, const Values &values)
    {
        if (PQsendQueryParams(connection_.get(), sql.c_str(), int(values.size()), nullptr,
                              pointers(values).data(), nullptr, nullptr, 0) != 1)
            fail(nullptr);
    }

    void write_rows(const Run &run, const Batch &batch)
    {
        Values values;
        for (const RunColumn &column : kRunNumbers)
            values.push_back(std::to_string(run.*column.member));
        values.insert(values.end(), {run.point, run.source, run.is_complete ? "1" : "0"});
        query(run_upsert(), values);
        const std::string id = std::to_string(run.id);

        std::array<Array, 7> flows;
        for (const auto &[number, key] : batch.flows) {
            flows[0].add(number);
            flows[1].add(key.version);
            flows[2].add(key.protocol);
            flows[3].add(address_text(key.source, key.version));
            flows[4].add(key.source_port);
            flows[5].add(address_text(key.destination, key.version));
            flows[6].add(key.destination_port);
        }
        if (!batch.flows.empty())
            insert("INSERT INTO qos_flows (run, number, version, protocol, source, source_port, "
                   "destination, destination_port) SELECT $1::bigint, * FROM unnest($2::bigint[], "
                   "$3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], "
                   "$8::bigint[]) ON CONFLICT DO NOTHING",
                   id, flows);

        std::array<Array, 7> packets;
        int64_t number = batch.first_number;
        for (const auto &[packet, flow] : batch.packets) {
            packets[0].add(number++);
            packets[1].add(packet.time_ns);
            packets[2].add(int64_t(packet.digest));
            packets[3].add(packet.hash);
            packets[4].add(flow);
            packets[5].add(packet.bytes);
            packets[6].add(packet.hop_limit);
        }
        if (!batch.packets.empty())
            insert("INSERT INTO qos_packets (run, number, time_ns, digest, hash, flow, bytes, "
                   "hop_limit) SELECT $1::bigint, * FROM unnest($2::bigint[], $3::bigint[], "
                   "$4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]) "
                   "ON CONFLICT DO NOTHING",
                   id, packets);
    }

    void insert(const char *sql, const std::string &id, const std::array<Array, 7> &columns)
    {
        Values values = {id};
        for (const Array &column : columns)
            values.push_back(column.text());
        query(sql, values);
    }

    const std::string address_;
    const Access access_;
    std::unique_ptr<PGconn, Cleared> connection_;
};
} // namespace

std::unique_ptr<Store> open_postgresql(const std::string &address, Access access)
{
    return std::make_unique<PostgresqlStore>(address, access);
}
} // namespace qos
