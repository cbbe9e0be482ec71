// SPDX-License-Identifier: MIT
// Reads a trace file into memory and lists all violations of FORMAT.md; independent of the decoder.
#include "support/record_reader.hpp"

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

#include "support/trace_builder.hpp"

namespace test_support
{
namespace
{
struct Reader {
    Trace trace;
    std::map<uint32_t, uint64_t> sequences, last_ticks, decoded;

    void problem(const std::string &text)
    {
        if (trace.problems.size() < 10)
            trace.problems.push_back(text);
    }

    void info(const char *text, size_t bytes)
    {
        std::istringstream lines{std::string(text, strnlen(text, bytes))};
        for (std::string line; std::getline(lines, line);)
            trace.info[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
    }

    void sites(const char *at, size_t bytes)
    {
        for (const char *end = at + bytes; at + sizeof(nslice_file_site) <= end;) {
            nslice_file_site site;
            std::memcpy(&site, at, sizeof site);
            const char *name = at + sizeof site, *file = name + site.name_bytes;
            if (file + site.file_bytes > end)
                return problem("a site's strings leave its chunk");
            trace.sites[site.slice_id] = {name, file, site.line, site.kind};
            at += (sizeof site + site.name_bytes + site.file_bytes + 7) & ~size_t{7};
        }
    }

    void calibration(const char *at, size_t bytes)
    {
        Calibration one;
        std::memcpy(&one.head, at, sizeof one.head);
        if (bytes != sizeof one.head + one.head.entries * sizeof(nslice_calibration_entry))
            return problem("a calibration's entries do not fill its chunk");
        one.entries.resize(one.head.entries);
        if (!one.entries.empty())
            std::memcpy(one.entries.data(), at + sizeof one.head, bytes - sizeof one.head);
        trace.calibrations.push_back(one);
    }

    void epochs(const char *at, size_t bytes)
    {
        for (const char *end = at + bytes; at < end;) {
            nslice_file_epoch head;
            if (at + sizeof head > end)
                return problem("an epoch leaves its chunk");
            std::memcpy(&head, at, sizeof head);
            Epoch one{head.begin_ticks, head.end_ticks, head.pid, std::vector<uint16_t>(head.ids)};
            at += sizeof head;
            if (at + head.ids * sizeof(uint16_t) > end)
                return problem("an epoch's ids leave its chunk");
            if (!one.off.empty())
                std::memcpy(one.off.data(), at, head.ids * sizeof(uint16_t));
            at += (head.ids * sizeof(uint16_t) + 7) & ~size_t{7};
            trace.epochs.push_back(one);
        }
    }

    void one_record(const nslice_record_head &head, uint32_t cpu, const char *words)
    {
        Record record{head.ticks, cpu, head.thread_id, head.slice_id, head.kind, head.words, {}};
        std::memcpy(record.word, words, head.words * 8u);
        if (head.kind < NSLICE_KIND_START || head.kind > NSLICE_KIND_EXIT || head.thread_id == 0)
            problem("a torn record on cpu " + std::to_string(cpu));
        if (head.ticks < last_ticks[cpu])
            problem("ticks go back on cpu " + std::to_string(cpu));
        if (head.slice_id && !trace.sites.contains(head.slice_id))
            problem("a record before its site: slice " + std::to_string(head.slice_id));
        last_ticks[cpu] = head.ticks;
        trace.records.push_back(record);
    }

    void records(const nslice_chunk_header &chunk, const char *at, size_t bytes)
    {
        const char *end = at + bytes;
        uint32_t count = 0;
        if (chunk.sequence != sequences[chunk.cpu]++)
            problem("a chunk of cpu " + std::to_string(chunk.cpu) + " is missing");
        while (at + sizeof(nslice_record_head) <= end) {
            nslice_record_head head;
            std::memcpy(&head, at, sizeof head);
            at += sizeof head;
            if (head.words > NSLICE_MAX_WORDS || at + head.words * 8u > end)
                return problem("a record leaves its chunk");
            if (count++ == 0 && head.ticks != chunk.first_ticks)
                problem("first_ticks is not that of the first record");
            one_record(head, chunk.cpu, at);
            at += head.words * 8u;
        }
        if (at != end || count != chunk.records)
            problem("a chunk says " + std::to_string(chunk.records) + " records and holds " +
                    std::to_string(count));
        decoded[chunk.cpu] += count;
    }

    void footer(const char *at, size_t bytes)
    {
        std::memcpy(&trace.footer, at, sizeof trace.footer);
        if (bytes != sizeof trace.footer + trace.footer.cpus * sizeof(nslice_file_footer_cpu))
            return problem("the footer's rows do not fill it");
        trace.has_footer = true;
        trace.cpus.resize(trace.footer.cpus);
        if (!trace.cpus.empty())
            std::memcpy(trace.cpus.data(), at + sizeof trace.footer, bytes - sizeof trace.footer);
        for (const auto &row : trace.cpus) {
            const auto lost =
                std::accumulate(std::begin(row.lost), std::end(row.lost), uint64_t{0});
            if (row.issued != row.drained + lost)
                problem("cpu " + std::to_string(row.cpu) + ": issued " +
                        std::to_string(row.issued) + ", drained " + std::to_string(row.drained) +
                        ", lost " + std::to_string(lost));
            if (row.drained != decoded[row.cpu] || row.chunks != sequences[row.cpu])
                problem("cpu " + std::to_string(row.cpu) +
                        ": the footer counts what the chunks do not hold");
            decoded.erase(row.cpu);
        }
        for (const auto &[cpu, count] : decoded)
            if (count > 0)
                problem("cpu " + std::to_string(cpu) + " has records but no row in the footer");
    }

    void chunk(const nslice_chunk_header &header, const char *payload)
    {
        switch (header.kind) {
        case NSLICE_CHUNK_INFO: return info(payload, header.payload_bytes);
        case NSLICE_CHUNK_SITES: return sites(payload, header.payload_bytes);
        case NSLICE_CHUNK_CALIBRATION: return calibration(payload, header.payload_bytes);
        case NSLICE_CHUNK_EPOCHS: return epochs(payload, header.payload_bytes);
        case NSLICE_CHUNK_RECORDS: return records(header, payload, header.payload_bytes);
        case NSLICE_CHUNK_FOOTER: return footer(payload, header.payload_bytes);
        default: return problem("unknown chunk kind " + std::to_string(header.kind));
        }
    }

    void file(const std::string &bytes)
    {
        nslice_file_header head{};
        if (bytes.size() < sizeof head)
            return problem("shorter than a header");
        std::memcpy(&head, bytes.data(), sizeof head);
        if (std::memcmp(head.magic, NSLICE_FILE_MAGIC, 8) != 0 ||
            head.version != NSLICE_FILE_VERSION ||
            head.header_crc32c != slow_crc32c(&head, offsetof(nslice_file_header, header_crc32c)))
            problem("the file header is wrong");
        size_t at = sizeof head;
        while (at < bytes.size()) {
            nslice_chunk_header header;
            if (trace.has_footer || at + sizeof header > bytes.size())
                return problem("bytes after the last chunk");
            std::memcpy(&header, bytes.data() + at, sizeof header);
            if (header.magic != NSLICE_CHUNK_MAGIC ||
                at + sizeof header + header.payload_bytes > bytes.size() ||
                header.header_crc32c !=
                    slow_crc32c(&header, offsetof(nslice_chunk_header, header_crc32c)))
                return problem("no whole chunk at byte " + std::to_string(at));
            const char *payload = bytes.data() + at + sizeof header;
            if (header.payload_crc32c != slow_crc32c(payload, header.payload_bytes))
                problem("checksum of the chunk at byte " + std::to_string(at));
            chunk(header, payload);
            at += sizeof header + header.payload_bytes;
        }
    }
};
} // namespace

uint64_t Trace::issued() const
{
    return std::accumulate(cpus.begin(), cpus.end(), uint64_t{0},
                           [](auto sum, auto &row) { return sum + row.issued; });
}

uint64_t Trace::drained() const
{
    return std::accumulate(cpus.begin(), cpus.end(), uint64_t{0},
                           [](auto sum, auto &row) { return sum + row.drained; });
}

uint64_t Trace::lost(nslice_lost cause) const
{
    return std::accumulate(cpus.begin(), cpus.end(), uint64_t{0},
                           [=](auto sum, auto &row) { return sum + row.lost[cause]; });
}

uint64_t Trace::lost() const
{
    uint64_t sum = 0;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        sum += lost(static_cast<nslice_lost>(cause));
    return sum;
}

const std::string &Trace::name(const Record &record) const
{
    static const std::string none;
    const auto found = sites.find(record.slice);
    return found == sites.end() ? none : found->second.name;
}

std::string Trace::complaint() const
{
    std::string all;
    for (const auto &one : problems)
        all += one + "; ";
    return all;
}

Trace read_trace(const std::filesystem::path &path)
{
    std::ifstream in(path, std::ios::binary);
    Reader reader;
    if (!in)
        reader.problem("cannot open " + path.string());
    else
        reader.file(std::string(std::istreambuf_iterator<char>(in), {}));
    return reader.trace;
}
} // namespace test_support
