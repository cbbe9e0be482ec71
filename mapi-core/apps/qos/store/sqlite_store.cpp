// SPDX-License-Identifier: MIT
// sqlite_store: a file of SQLite, also for several collectors at the same time.
#include "qos/store/sqlite_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "qos/store/tables.hpp"

namespace qos
{
namespace
{
constexpr int kBusyMs = 10000; // how long another program's transaction is waited for

// SQLite numbers and positions from 1; a statement is reset when its use ends.
class Statement
{
public:
    Statement(sqlite3 *database, const std::string &sql) : database_(database)
    {
        check(sqlite3_prepare_v2(database, sql.c_str(), int(sql.size()) + 1, &statement_, nullptr));
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement &) = delete;
    Statement &operator=(const Statement &) = delete;

    Statement &bind(int64_t number)
    {
        check(sqlite3_bind_int64(statement_, ++bound_, number));
        return *this;
    }
    Statement &bind(const std::string &text)
    {
        check(sqlite3_bind_text(statement_, ++bound_, text.c_str(), int(text.size()),
                                SQLITE_TRANSIENT));
        return *this;
    }
    // Whether there is a row.
    bool step()
    {
        const int code = sqlite3_step(statement_);
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            check(code);
        return code == SQLITE_ROW;
    }
    void run()
    {
        step();
        sqlite3_reset(statement_);
        bound_ = 0;
    }
    // Null: NULL.  Valid until the next step.
    const char *text(int column)
    {
        return reinterpret_cast<const char *>(sqlite3_column_text(statement_, column));
    }
    int64_t number(int column) { return sqlite3_column_int64(statement_, column); }

    void check(int code) const;

private:
    sqlite3 *database_;
    sqlite3_stmt *statement_ = nullptr;
    int bound_ = 0;
};

// What may be different later: another program's transaction, a full disk, a file system that is
// not mounted.
bool may_pass(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM: return true;
    default: return false;
    }
}

[[noreturn]] void fail(sqlite3 *database, int code)
{
    const std::string why = database ? sqlite3_errmsg(database) : sqlite3_errstr(code);
    if (may_pass(code))
        throw StoreAway(why);
    throw StoreError(why);
}

void Statement::check(int code) const
{
    if (code != SQLITE_OK)
        fail(database_, code);
}

class SqliteStore : public Store
{
public:
    SqliteStore(const std::string &path, Access access) : path_(path)
    {
        const int flags = access == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                   : SQLITE_OPEN_READONLY;
        const int code = sqlite3_open_v2(path.c_str(), &database_, flags, nullptr);
        try {
            if (code != SQLITE_OK)
                fail(database_, code);
            sqlite3_busy_timeout(database_, kBusyMs);
            if (access == Access::kWrite)
                execute(kCreateTables);
            check_version();
        } catch (...) {
            sqlite3_close_v2(database_);
            throw;
        }
    }
    ~SqliteStore() override { sqlite3_close_v2(database_); }

    void write(const Run &run, const Batch &batch) override
    {
        execute("BEGIN IMMEDIATE");
        try {
            write_rows(run, batch);
            execute("COMMIT");
        } catch (...) {
            sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
            throw;
        }
    }

    std::vector<Run> runs() override
    {
        Statement select(database_, run_select());
        std::vector<Run> runs;
        while (select.step()) {
            Run run;
            int column = 0;
            for (const RunColumn &number : kRunNumbers)
                run.*number.member = select.number(column++);
            const char *const point = select.text(column++);
            const char *const source = select.text(column++);
            run.point = point ? point : "";
            run.source = source ? source : "";
            run.is_complete = select.number(column) != 0;
            runs.push_back(run);
        }
        return runs;
    }

    uint64_t read(const Run &run, int64_t from_ns, int64_t below,
                  const std::function<void(const SelectedPacket &)> &take) override
    {
        Statement select(database_, kPacketSelect);
        select.bind(run.id).bind(from_ns).bind(below);
        uint64_t malformed = 0;
        while (select.step()) {
            PacketRow row;
            for (size_t i = 0; i < row.size(); ++i)
                row[i] = select.text(int(i));
            if (const auto packet = packet_of(row))
                take(*packet);
            else
                ++malformed;
        }
        return malformed;
    }

private:
    void execute(const char *sql)
    {
        const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
        if (code != SQLITE_OK)
            fail(database_, code);
    }

    void check_version()
    {
        Statement exists(database_, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'qos_schema'");
        exists.step();
        if (exists.number(0) == 0)
            throw StoreError("is not a store of mapi-qos");
        Statement select(database_, "SELECT MAX(version) FROM qos_schema");
        select.step();
        if (select.number(0) != kSchemaVersion)
            throw StoreError(fmt::format("has tables of version {}; this mapi-qos reads version {}",
                                         select.number(0), kSchemaVersion));
    }

    void write_rows(const Run &run, const Batch &batch)
    {
        Statement upsert(database_, run_upsert());
        for (const RunColumn &column : kRunNumbers)
            upsert.bind(run.*column.member);
        upsert.bind(run.point).bind(run.source).bind(int64_t(run.is_complete)).run();

        Statement flows(database_, "INSERT INTO qos_flows (run, number, version, protocol, source, "
                                   "source_port, destination, destination_port) VALUES "
                                   "(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
        for (const auto &[number, key] : batch.flows) {
            flows.bind(run.id).bind(number).bind(int64_t(key.version)).bind(int64_t(key.protocol));
            flows.bind(address_text(key.source, key.version)).bind(int64_t(key.source_port));
            flows.bind(address_text(key.destination, key.version));
            flows.bind(int64_t(key.destination_port)).run();
        }

        Statement packets(database_,
                          "INSERT INTO qos_packets (run, number, time_ns, digest, hash, flow, "
                          "bytes, hop_limit) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                          "ON CONFLICT DO NOTHING");
        int64_t number = batch.first_number;
        for (const auto &[packet, flow] : batch.packets) {
            packets.bind(run.id).bind(number++).bind(packet.time_ns).bind(int64_t(packet.digest));
            packets.bind(int64_t(packet.hash)).bind(flow).bind(int64_t(packet.bytes));
            packets.bind(int64_t(packet.hop_limit)).run();
        }
    }

    const std::string path_;
    sqlite3 *database_ = nullptr;
};
} // namespace

std::unique_ptr<Store> open_sqlite(const std::string &path, Access access)
{
    return std::make_unique<SqliteStore>(path, access);
}
} // namespace qos
