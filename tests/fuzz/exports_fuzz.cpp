// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a trace -> one of the outputs of nsdump, without a crash, in JSON
// that is valid and in UTF-8.
//
// Four bytes come before the trace: the output, the range of time, the weight of stacks, and what
// is selected.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "analyse/analyse.hpp"
#include "arrow/table_pass.hpp"
#include "cli/export/formats.hpp"
#include "common/command/output.hpp"
#include "decode/error.hpp"
#include "export/exporter.hpp"
#include "export/summary.hpp"
#include "fuzz/sealed_trace.hpp"

namespace
{
namespace fs = std::filesystem;
using nsdump::ExportFormat;
using nsdump::ExportOptions;
using Bytes = std::vector<std::byte>;

constexpr size_t kHeadBytes = 4;

enum class Check { none, text, json, json_lines };
struct Output {
    const ExportFormat *format;
    const char *what;
    Check check;
};
const Output kOutputs[] = {
    {&nsdump::kCsv, "stats", Check::text},         {&nsdump::kCsv, "events", Check::text},
    {&nsdump::kCsv, "slices", Check::text},        {&nsdump::kJson, "stats", Check::json},
    {&nsdump::kJson, "events", Check::json_lines}, {&nsdump::kJson, "slices", Check::json_lines},
    {&nsdump::kCtf, "events", Check::none},        {&nsdump::kPerfetto, "slices", Check::none},
    {&nsdump::kChrome, "slices", Check::json},     {&nsdump::kFolded, "stacks", Check::text},
    {&nsdump::kSpeedscope, "stacks", Check::json}, {&nsdump::kFlameGraph, "stacks", Check::text},
};
// Outputs that no command writes in this process.
constexpr size_t kTables = std::size(kOutputs), kTexts = kTables + 1, kAllOutputs = kTexts + 1;
static_assert(kAllOutputs == 14); // as EXPORTS in corpus.py

constexpr struct {
    const char *from, *to;
} kRanges[] = {{"", ""}, {"", ""}, {"1us", ""}, {"", "2us"}, {"500ns", "1ms"}, {"1ms", "1h"}};
constexpr struct {
    std::optional<int64_t> from_ns, to_ns;
} kTableRanges[] = {{{}, {}},        {1000, {}}, {{}, 2000},
                    {-5, 1'000'000}, {7, 6},     {INT64_MIN, INT64_MAX},
                    {INT64_MAX, {}}};
constexpr const char *kWeights[] = {"net-ns", "net-ticks", "raw-ns", "instructions",
                                    "kernel:cycles"};

// A folder of this process for the trace and the output.
class Folder
{
public:
    Folder() : path_((fs::temp_directory_path() / "exports_fuzz.XXXXXX").string())
    {
        if (!mkdtemp(path_.data()))
            std::abort();
    }
    ~Folder()
    {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string file(const char *name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

std::unique_ptr<nsdump::ByteSource> source_of(const Bytes &bytes)
{
    return nsdump::bytes_in_memory(bytes, "fuzz.nsl");
}

void require(bool is_right)
{
    if (!is_right)
        std::abort();
}

// dump() throws for what is not UTF-8.
bool is_text(const std::string &text)
{
    return nlohmann::json(text).dump().size() > text.size();
}

void check(const std::string &path, Check how)
{
    if (how == Check::none)
        return;
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (how == Check::text)
        require(is_text(text));
    if (how == Check::json)
        require(nlohmann::json::accept(text));
    if (how == Check::json_lines) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            require(nlohmann::json::accept(line));
    }
}

// The name of a slice of the trace, or one that it may lack.
std::string name_for(const Bytes &trace, size_t choice)
{
    const nsdump::TraceFile file(source_of(trace));
    const size_t known = file.names().size();
    return choice % (known + 1) < known ? file.names()[nsdump::NameId(choice % (known + 1))].text
                                        : "#7";
}

void write(const Output &output, const uint8_t *head, const Bytes &trace)
{
    static const Folder folder;
    ExportOptions options;
    options.trace = folder.file("trace.nsl");
    options.format = output.format->name;
    options.what = output.what;
    options.output = folder.file("output");
    const auto &range = kRanges[head[1] % std::size(kRanges)];
    options.selection.range = {range.from, range.to};
    options.weight = kWeights[head[2] % std::size(kWeights)];
    options.is_quiet = true;
    const size_t selects = head[3] % 4, choice = head[3] / 4;
    if (selects == 1)
        options.selection.unit = choice;
    if (selects == 2)
        options.selection.slice = name_for(trace, choice);
    if (selects == 3)
        options.limit = choice;
    std::ofstream(options.trace, std::ios::binary)
        .write(reinterpret_cast<const char *>(trace.data()), std::streamsize(trace.size()));
    output.format->write(options);
    check(options.output, output.check);
    fs::remove_all(options.output);
}

void make_tables(const uint8_t *head, const Bytes &trace)
{
    namespace arrow = nsdump::arrow;
    arrow::PassOptions options;
    options.tables.fill(true);
    if (head[3] % 4 == 1)
        options.unit = head[3] / 4;
    if (head[3] % 4 == 2)
        options.slice = name_for(trace, head[3] / 4);
    const auto &range = kTableRanges[head[1] % std::size(kTableRanges)];
    options.from_ns = range.from_ns;
    options.to_ns = range.to_ns;
    std::optional<arrow::TablePass> made;
    try {
        made.emplace(source_of(trace), options);
    } catch (const std::invalid_argument &) {
        return; // the range, such as one of a trace without a clock
    }
    arrow::TablePass &pass = *made;
    for (size_t kind = 0; kind < arrow::kTableKinds; ++kind) {
        ArrowSchema schema;
        pass.export_schema(arrow::TableKind(kind), &schema);
        schema.release(&schema);
    }
    arrow::TableKind kind{};
    ArrowArray rows;
    for (auto next = arrow::TablePass::Next::nothing_yet; next != arrow::TablePass::Next::end;) {
        next = pass.next(kind, &rows);
        if (next == arrow::TablePass::Next::batch)
            rows.release(&rows);
    }
    pass.findings();
}

void make_texts(const uint8_t *head, const Bytes &trace)
{
    nsdump::TraceFile file(source_of(trace));
    nsdump::AnalyseOptions options;
    options.explains = true;
    options.threads = 1;
    const nsdump::StatsReport report = nsdump::analyse_trace(file, options);
    nsdump::stats_text(report);
    nsdump::stats_summary(report, {head[1], head[2], head[3] % 2 == 1});
    size_t left = 8; // some traces have thousands
    for (const nsdump::SliceReport &slice : report.slices) {
        if (!slice.thinning) // such as the kernel's
            continue;
        if (left-- == 0)
            break;
        nsdump::explain_text(slice);
        require(nlohmann::json::accept(nsdump::explain_json(slice)));
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < kHeadBytes)
        return 0;
    Bytes trace(size - kHeadBytes);
    if (!trace.empty())
        std::memcpy(trace.data(), data + kHeadBytes, trace.size());
    if (data[size - 1] % 4 != 0)
        fuzz::seal(trace);
    const size_t output = data[0] % kAllOutputs;
    try {
        if (output == kTables)
            make_tables(data, trace);
        else if (output == kTexts)
            make_texts(data, trace);
        else
            write(kOutputs[output], data, trace);
    } catch (const nsdump::TraceError &) {
        // refused with a message, as is an unknown name or weight
    } catch (const command::UsageError &) {
    }
    return 0;
}
