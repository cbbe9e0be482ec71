// SPDX-License-Identifier: MIT
// RES2FILE: other functions' results, at intervals -> rows of a file.  Lets every packet pass.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <mapi/mapi.h>
#include <mapi/res2file.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/interval_clock.hpp"
#include "functions/output/record_writer.hpp"
#include "functions/values/interval.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kTypes, kFunctions, kHeader, kPath, kInterval, kReset };

constexpr uint64_t kSilenceBytes = uint64_t(64)
                                   << 20; // approximate limit for the rows of one pause

constexpr uint64_t kKeptBytes = 4096;
constexpr uint64_t kTextBytes = 128; // per number
constexpr uint64_t kRowsAtOnce = 3;  // in a growing string, and the next row

struct Column {
    int type;
    const mapi_reference *reference;
    uint64_t before = 0;             // value of the previous row
    std::vector<uint64_t> kept = {}; // whole result before the packet that ends an interval

    bool is_whole() const { return type == R2F_RAW || type == R2F_STATS; }
    // Larger results are written as they are after that packet.
    bool is_kept() const { return is_whole() && reference->bytes <= kKeptBytes; }
    void keep()
    {
        if (is_kept() && reference->words)
            kept.assign(reference->words, reference->words + (reference->bytes + 7) / 8);
    }
};

void append_value(std::string &to, int type, uint64_t value)
{
    char text[64];
    if (type == R2F_ULLSEC)
        snprintf(text, sizeof(text), "%.12Lf ", static_cast<long double>(value) / 4294967296.0L);
    else
        snprintf(text, sizeof(text), "%" PRIu64 " ", value);
    to += text;
}

void append_stats(std::string &to, const uint64_t *words)
{
    mapi_value_stats_t stats = {};
    char text[12000]; // long double has up to 4933 digits
    if (words)
        memcpy(&stats, words, sizeof(stats));
    snprintf(text, sizeof(text), "%" PRIu64 "  %Lf %Lf %" PRIu64 " %" PRIu64 " ", stats.count,
             stats.sum, stats.sum2, stats.exact_min, stats.exact_max);
    to += text;
}

// Word by word, since a result too large to be kept may change while a flow is closed.
void append_raw(std::string &to, const uint64_t *words, uint64_t bytes, uint64_t value)
{
    if (bytes <= sizeof(value) || !words) {
        bytes = sizeof(value);
        words = &value;
    }
    to.append(reinterpret_cast<const char *>(&bytes), sizeof(bytes));
    for (uint64_t i = 0; i < bytes; i += sizeof(value)) {
        const uint64_t word = __atomic_load_n(words + i / sizeof(value), __ATOMIC_RELAXED);
        to.append(reinterpret_cast<const char *>(&word), std::min(bytes - i, sizeof(value)));
    }
}

class ResultFile
{
public:
    ResultFile(const mapi_function_setup *setup, std::vector<Column> columns, Interval interval)
        : columns_(std::move(columns)), is_reset_(setup->arguments[kReset].number != 0),
          clock_(interval), writer_(int(setup->arguments[kPath].number), is_offline(setup))
    {
        writer_.set_header(std::string(setup->arguments[kHeader].text) + "\n");
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const auto i = uint32_t(std::countr_zero(rest));
            if (const uint64_t ended = clock_.ended(batch.packets[i].timestamp_ns))
                end_intervals(ended, i);
        }
        for (Column &column : columns_)
            column.keep();
        hand_over(1);
    }

    void tick(uint64_t now_ns)
    {
        if (const uint64_t ended = clock_.ended_in_silence(now_ns))
            end_intervals(ended, 0);
        hand_over(1);
    }

    // The last interval ends after the last packet.
    void end()
    {
        if (clock_.has_rest())
            add_row(0, mapi_reference_read_before);
        writer_.finish(bytes_, rows_);
    }

    RecordWriter &writer() { return writer_; }

    void drops(mapi_function_drops *drops) const
    {
        writer_.add_drops(drops);
        drops->time_jumps = clock_.time_jumps();
    }

private:
    using Read = int (*)(const mapi_reference *, uint32_t, uint64_t *);

    // Intervals without a packet also get a row.
    void end_intervals(uint64_t ended, uint32_t packet)
    {
        const Read read = clock_.is_timed() ? mapi_reference_read_before : mapi_reference_read;
        const size_t before = bytes_.size();
        add_row(packet, read);
        const uint64_t row_bytes = bytes_.size() - before;
        const uint64_t reported = clock_.reported(
            ended, std::clamp(kSilenceBytes / row_bytes, uint64_t(1), IntervalClock::kReportedMax));
        for (uint64_t i = 1; i < reported; ++i) {
            add_row(packet, read, is_reset_);
            hand_over(RecordWriter::kHandedBytes);
        }
        hand_over(RecordWriter::kHandedBytes);
    }

    void hand_over(size_t least_bytes)
    {
        if (bytes_.size() >= least_bytes)
            writer_.add(bytes_, std::exchange(rows_, 0));
    }

    // is_silent: the interval has no packets; single values are 0.
    void add_row(uint32_t packet, Read read, bool is_silent = false)
    {
        const bool is_before = read == mapi_reference_read_before;
        for (Column &column : columns_) {
            uint64_t value = 0;
            read(column.reference, packet, &value);
            const uint64_t reported = is_silent ? 0
                                      : is_reset_ && column.reference->is_count
                                          ? value - column.before
                                          : value;
            column.before = value;
            const uint64_t *words =
                is_before && column.is_kept() ? column.kept.data() : column.reference->words;
            if (column.type == R2F_STATS)
                append_stats(bytes_, words);
            else if (column.type == R2F_RAW)
                append_raw(bytes_, words, column.reference->bytes, reported);
            else
                append_value(bytes_, column.type, reported);
        }
        bytes_ += '\n';
        ++rows_;
    }

    std::vector<Column> columns_;
    const bool is_reset_;
    IntervalClock clock_;
    std::string bytes_; // of a batch
    uint64_t rows_ = 0;
    RecordWriter writer_;
};

bool fits(const Column &column)
{
    const mapi_reference &result = *column.reference;
    return column.type == R2F_STATS ? result.bytes == sizeof(mapi_value_stats_t) && !result.is_array
                                    : column.type == R2F_RAW || !column.reference->is_array;
}

// Parses "TYPE,TYPE", one for each function.  Returns 0 or an error number.
int read_columns(const mapi_function_setup *setup, std::vector<Column> &columns)
{
    const mapi_argument &functions = setup->arguments[kFunctions];
    const char *at = setup->arguments[kTypes].text;
    for (int64_t i = 0; i < functions.number; ++i) {
        const bool is_last = i + 1 == functions.number;
        if (at[0] < '0' + R2F_RAW || at[0] > '0' + R2F_STATS || at[1] != (is_last ? '\0' : ','))
            return refuse(
                setup, MFUNCT_INVALID_ARGUMENT_1,
                std::string("types \"") + setup->arguments[kTypes].text +
                    "\" are not a list of 0 (R2F_RAW), 1 (R2F_ULLSTR), 2 (R2F_ULLSEC) and "
                    "3 (R2F_STATS) with one entry per function");
        columns.push_back({at[0] - '0', functions.references[i]});
        if (!fits(columns.back()))
            return refuse(setup, MFUNCT_INVALID_ARGUMENT_2,
                          "result " + std::to_string(i + 1) +
                              " does not have the type of its column");
        at += 2;
    }
    return 0;
}

// Upper bound, including what is kept of the previous row.
uint64_t row_bytes(const std::vector<Column> &columns)
{
    uint64_t bytes = 0;
    for (const Column &column : columns)
        bytes += sizeof(Column) + (column.is_whole() ? column.reference->bytes : 0) + kTextBytes;
    return bytes;
}

int create(const mapi_function_setup *setup, void **instance)
{
    std::vector<Column> columns;
    const char *text = setup->arguments[kInterval].text;
    const auto interval = parse_save_interval(text);
    if (const int refused = read_columns(setup, columns))
        return refused;
    if (!interval)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_5,
                      std::string("\"") + text +
                          "\" is not an interval (a number of packets, a time such as 5ms or 2s, "
                          "or -1 for the end)");
    for (const Column &column : columns) {
        if (column.is_whole())
            setup->take_single_packets(setup);
    }
    if (const int refused =
            reserve_memory(setup, RecordWriter::kMemoryBytes + kRowsAtOnce * row_bytes(columns)))
        return refused;
    return create_object<ResultFile>(setup, instance, setup, std::move(columns), *interval);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<ResultFile *>(instance)->run(*batch, mask);
    return mask;
}

void drops(const void *instance, mapi_function_drops *drops)
{
    static_cast<const ResultFile *>(instance)->drops(drops);
}

constexpr mapi_function_ending kEnding = {
    .struct_size = sizeof(mapi_function_ending),
    .end = end_file<ResultFile>,
    .is_settled = is_file_settled<ResultFile>,
    .cancel = cancel_file<ResultFile>,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_res2file = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "RES2FILE",
    .description = "writes results of other functions to a file at intervals",
    .flags = MAPI_FUNCTION_PASSES_ALL |
             MAPI_FUNCTION_EVERY_BATCH, // EVERY_BATCH: other packets may change the results
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::ResultFile>,
    .arguments = {MAPI_ARGUMENT_STRING, MAPI_ARGUMENT_FUNCTIONS, MAPI_ARGUMENT_STRING,
                  MAPI_ARGUMENT_FILE, MAPI_ARGUMENT_STRING, MAPI_OPTIONAL | MAPI_ARGUMENT_BOOL},
    .tick = mapi::functions::tick<mapi::functions::ResultFile>,
    .drops = mapi::functions::drops,
    .ending = &mapi::functions::kEnding,
};
