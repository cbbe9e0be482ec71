// SPDX-License-Identifier: MIT
// arrow: calls of the C interface -> passes; exceptions -> texts.
#include "arrow/netslice_arrow.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "arrow/table_pass.hpp"

using nsdump::arrow::PassOptions;
using nsdump::arrow::TableKind;
using nsdump::arrow::TablePass;

struct nsl_pass {
    nsl_pass(const char *path, PassOptions options)
        : pass(nsdump::open_file(path), std::move(options))
    {
    }
    TablePass pass;
    std::string error;
    std::string findings;
};

namespace
{
static_assert(NSL_TABLES == nsdump::arrow::kTableKinds);
static_assert(NSL_UNITS == int(TableKind::units) && NSL_LOSSES == int(TableKind::losses) &&
              NSL_EVENTS == int(TableKind::events));

void check_version(const nsl_options &given)
{
    if (given.struct_size != sizeof(nsl_options))
        throw std::invalid_argument(
            "nsl_options: struct_size must be sizeof(struct nsl_options) (rebuild the program "
            "with the header of this version)");
}

PassOptions options_of(const nsl_options &given)
{
    check_version(given);
    if (given.tables >> NSL_TABLES != 0)
        throw std::invalid_argument("nsl_options: unknown table (set only bits of enum nsl_table)");
    PassOptions options;
    for (size_t i = 0; i < options.tables.size(); ++i)
        options.tables[i] = (given.tables >> i & 1) != 0;
    if (given.calibration)
        options.calibration = nsdump::read_calibration(given.calibration);
    if (given.slice)
        options.slice = given.slice;
    if (given.unit)
        options.unit = *given.unit;
    options.limit = given.limit;
    if (given.from_ns)
        options.from_ns = *given.from_ns;
    if (given.to_ns)
        options.to_ns = *given.to_ns;
    return options;
}

void put_error(std::string_view text, char *error, size_t error_bytes)
{
    if (error_bytes == 0)
        return;
    const size_t bytes = std::min(text.size(), error_bytes - 1);
    std::copy_n(text.begin(), bytes, error);
    error[bytes] = '\0';
}

// Calls `work` and returns its result; `otherwise` if it throws.
template <class Result, class Work>
Result caught(std::string &error, Result otherwise, const Work &work) noexcept
{
    try {
        try {
            return work();
        } catch (const std::bad_alloc &) {
            error = "out of memory";
        } catch (const std::exception &exception) {
            error = exception.what();
        }
    } catch (...) { // no memory for the text, either
        error.clear();
    }
    return otherwise;
}

// The stream owns its pass.
struct Stream {
    std::unique_ptr<nsl_pass> pass;
    TableKind table;
};

Stream &stream_of(ArrowArrayStream *stream)
{
    return *static_cast<Stream *>(stream->private_data);
}

int stream_schema(ArrowArrayStream *stream, ArrowSchema *out)
{
    const Stream &of = stream_of(stream);
    return nsl_pass_schema(of.pass.get(), nsl_table(of.table), out);
}

int stream_next(ArrowArrayStream *stream, ArrowArray *out)
{
    const Stream &of = stream_of(stream);
    return caught(of.pass->error, EIO, [&] {
        if (of.pass->pass.next_rows(of.table, out) == TablePass::Next::end)
            *out = {}; // a released array means the end
        return 0;
    });
}

const char *stream_error(ArrowArrayStream *stream)
{
    return stream_of(stream).pass->error.c_str();
}

void release_stream(ArrowArrayStream *stream)
{
    delete static_cast<Stream *>(stream->private_data);
    stream->release = nullptr;
}

std::unique_ptr<nsl_pass> new_pass(const char *path, const nsl_options &options)
{
    return std::make_unique<nsl_pass>(path, options_of(options));
}
} // namespace

struct nsl_pass *nsl_pass_open(const char *path, const struct nsl_options *options, char *error,
                               size_t error_bytes)
{
    std::string text;
    nsl_pass *const pass =
        caught<nsl_pass *>(text, nullptr, [&] { return new_pass(path, *options).release(); });
    if (!pass)
        put_error(text, error, error_bytes);
    return pass;
}

void nsl_pass_close(struct nsl_pass *pass)
{
    delete pass;
}

int nsl_pass_schema(struct nsl_pass *pass, enum nsl_table table, struct ArrowSchema *out)
{
    return caught(pass->error, EINVAL, [&] {
        pass->pass.export_schema(TableKind(table), out);
        return 0;
    });
}

int nsl_pass_next(struct nsl_pass *pass, struct ArrowArray *out)
{
    return caught<int>(pass->error, NSL_FAILED, [&] {
        TableKind kind{};
        switch (pass->pass.next(kind, out)) {
        case TablePass::Next::batch: return int(kind);
        case TablePass::Next::nothing_yet: return int(NSL_NOTHING_YET);
        case TablePass::Next::end: break;
        }
        return int(NSL_END);
    });
}

const char *nsl_pass_error(const struct nsl_pass *pass)
{
    return pass->error.c_str();
}

uint64_t nsl_pass_position_bytes(const struct nsl_pass *pass)
{
    return pass->pass.position_bytes();
}

uint64_t nsl_pass_size_bytes(const struct nsl_pass *pass)
{
    return pass->pass.size_bytes();
}

const char *nsl_pass_findings(struct nsl_pass *pass)
{
    return caught<const char *>(pass->error, "", [&] {
        pass->findings.clear();
        for (const std::string &line : pass->pass.findings().lines)
            pass->findings += line + "\n";
        return pass->findings.c_str();
    });
}

int nsl_pass_has_findings(struct nsl_pass *pass)
{
    return caught(pass->error, 1, [&] { return int(pass->pass.findings().are_wrong); });
}

int nsl_stream(const char *path, const struct nsl_options *options, enum nsl_table table,
               struct ArrowArrayStream *out, char *error, size_t error_bytes)
{
    std::string text;
    const int result = caught(text, -1, [&] {
        if (unsigned(table) >= NSL_TABLES)
            throw std::invalid_argument("unknown table (give one of enum nsl_table)");
        check_version(*options);
        nsl_options one = *options;
        one.tables = 1u << table;
        auto pass = new_pass(path, one);
        *out = {};
        out->private_data = new Stream{std::move(pass), TableKind(table)};
        out->get_schema = stream_schema;
        out->get_next = stream_next;
        out->get_last_error = stream_error;
        out->release = release_stream;
        return 0;
    });
    if (result != 0)
        put_error(text, error, error_bytes);
    return result;
}
