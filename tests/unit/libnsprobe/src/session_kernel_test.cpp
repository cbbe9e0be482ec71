// SPDX-License-Identifier: MIT
// Kernel records in a program's own session: a recorder in the same process -> its chunks in the
// session's trace, from whenever it begins until whichever end comes first.
#include "support/probe_session.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include <nsprobe/probe.h>
#include <nsprobe/recorder.h>

extern "C" {
#include "session/process.h"
#include "sites/sites.h"
}

using test_support::ProbeSession;

namespace
{
constexpr uint32_t kRecords = 3;

// Writes its records when it begins, and its totals when it is asked to end.
class Kernel
{
public:
    Kernel() { REQUIRE(pipe2(ends_, O_CLOEXEC) == 0); }
    ~Kernel()
    {
        for (const int end : ends_)
            close(end);
    }
    Kernel(const Kernel &) = delete;
    Kernel &operator=(const Kernel &) = delete;

    nsp_session_kernel of() { return {sizeof(nsp_session_kernel), begin, this, release}; }
    int add()
    {
        const nsp_session_kernel kernel = of();
        return nsp_session_add_kernel(&kernel);
    }

    std::string rules, new_rules = "none";
    uint32_t thin_permille = 0;
    int refusal = 0, ended = 0, released = 0;
    std::atomic<int> selected = 0;

private:
    static int begin(void *given, const char *slices, uint32_t thin_permille,
                     nsp_kernel_source *source, char *words, size_t room)
    {
        auto &self = *static_cast<Kernel *>(given);
        snprintf(words, room, "no such kernel");
        self.rules = slices;
        self.thin_permille = thin_permille;
        *source = {self.ends_[0], end, select, &self};
        if (self.refusal == 0)
            self.write_records();
        return self.refusal;
    }
    static void end(void *of)
    {
        auto &self = *static_cast<Kernel *>(of);
        if (self.ended++ > 0)
            return;
        struct {
            nslice_file_kernel_totals head;
            nslice_file_footer_cpu row;
        } totals = {};
        totals.head.cpus = 1;
        totals.row.chunks = 1;
        totals.row.issued = kRecords + 1;
        totals.row.drained = kRecords;
        totals.row.lost[NSLICE_LOST_FULL] = 1;
        self.write(NSLICE_CHUNK_KERNEL_TOTALS, 0, &totals, sizeof totals);
    }
    static int select(void *of, const char *rules)
    {
        static_cast<Kernel *>(of)->new_rules = rules;
        ++static_cast<Kernel *>(of)->selected;
        return 0;
    }
    static void release(void *of) { ++static_cast<Kernel *>(of)->released; }

    void write(uint16_t kind, uint32_t records, const void *payload, size_t bytes)
    {
        nslice_chunk_header header = {};
        header.magic = NSLICE_CHUNK_MAGIC;
        header.kind = kind;
        header.header_bytes = sizeof header;
        header.payload_bytes = uint32_t(bytes);
        header.records = records;
        REQUIRE(::write(ends_[1], &header, sizeof header) == ssize_t(sizeof header));
        REQUIRE(::write(ends_[1], payload, bytes) == ssize_t(bytes));
    }
    void write_records()
    {
        const char info[] = "kernel.recorder=fake\n\0\0";
        write(NSLICE_CHUNK_INFO, 0, info, sizeof info);
        struct {
            nslice_file_site head;
            char name_and_file[16] = "receive\0net.c";
        } site = {{0xf100, NSLICE_KIND_START, 0, 1, 8, 6, 0}};
        write(NSLICE_CHUNK_KERNEL_SITES, 0, &site, sizeof site);
        std::vector<uint64_t> words;
        for (uint64_t i = 1; i <= kRecords; ++i)
            words.insert(words.end(), {i, uint64_t{0xf100} << NSLICE_HEAD_SLICE_SHIFT});
        write(NSLICE_CHUNK_KERNEL_RECORDS, kRecords, words.data(), 8 * words.size());
    }

    int ends_[2] = {-1, -1};
};

void one_slice()
{
    NET_SLICE_START(work);
    NET_SLICE_STOP(work);
}

// Of the process's own records; the reader does not know chunks of the kernel.
void require_whole(const test_support::SessionResult &result, uint64_t issued)
{
    REQUIRE(result.err == 0);
    REQUIRE(result.trace.has_footer);
    for (const std::string &problem : result.trace.problems)
        CHECK(problem.rfind("unknown chunk kind ", 0) == 0);
    REQUIRE(result.trace.issued() == issued);
    REQUIRE(result.trace.records.size() == issued);
}

// Payloads of the chunks of this kind.
std::vector<std::string> chunks(const std::filesystem::path &path, unsigned kind)
{
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::string> found;
    nslice_chunk_header header;
    for (size_t at = sizeof(nslice_file_header); at + sizeof header <= bytes.size();
         at += sizeof header + header.payload_bytes) {
        memcpy(&header, &bytes[at], sizeof header);
        if (header.kind == kind)
            found.push_back(bytes.substr(at + sizeof header, header.payload_bytes));
    }
    return found;
}

nslice_file_footer_cpu row_of(const std::filesystem::path &path)
{
    const auto totals = chunks(path, NSLICE_CHUNK_KERNEL_TOTALS);
    REQUIRE(totals.size() == 1);
    nslice_file_footer_cpu row;
    REQUIRE(totals[0].size() == sizeof(nslice_file_kernel_totals) + sizeof row);
    memcpy(&row, &totals[0][sizeof(nslice_file_kernel_totals)], sizeof row);
    return row;
}
} // namespace

TEST_CASE("kernel records that begin later than the session end with it, and are in its trace",
          "[libnsprobe][session_kernel]")
{
    Kernel kernel;
    ProbeSession session("calibration=no slices=work,receive thin=0.25");
    one_slice();
    REQUIRE(kernel.add() == 0);
    one_slice();
    CHECK(kernel.rules == "work,receive");
    CHECK(kernel.thin_permille == 250);
    CHECK(kernel.new_rules == "none"); // the rules have not changed
    const auto result = session.close();
    require_whole(result, 4);
    CHECK(result.trace.info.at("kernel.recorder") == "fake");
    CHECK(chunks(session.path(), NSLICE_CHUNK_KERNEL_RECORDS).size() == 1);
    CHECK(row_of(session.path()).issued == kRecords + 1);
    CHECK(kernel.ended > 0);
    CHECK(kernel.released == 1);
}

TEST_CASE("kernel records end before the session, which continues", "[libnsprobe][session_kernel]")
{
    Kernel kernel;
    ProbeSession session;
    REQUIRE(kernel.add() == 0);
    nsp_session_counts counts{};
    REQUIRE(nsp_session_end_kernel(&counts) == 0);
    CHECK(counts.issued == kRecords + 1);
    CHECK(counts.drained == kRecords);
    CHECK(counts.lost[NSLICE_LOST_FULL] == 1);
    CHECK(kernel.released == 1);
    CHECK(nsp_session_end_kernel(&counts) == -ENOENT);
    CHECK(counts.issued == 0);

    Kernel other;
    CHECK(other.add() == -EBUSY); // the file has room for the totals of one
    CHECK(other.released == 0);
    one_slice();
    require_whole(session.close(), 2);
    CHECK(row_of(session.path()).drained == kRecords);
    CHECK(kernel.released == 1);
}

TEST_CASE("each session may have kernel records of its own", "[libnsprobe][session_kernel]")
{
    for (int i = 0; i < 2; ++i) {
        Kernel kernel;
        ProbeSession session;
        REQUIRE(kernel.add() == 0);
        REQUIRE(session.close().err == 0);
        CHECK(row_of(session.path()).drained == kRecords);
    }
}

TEST_CASE("kernel records are refused with the reason", "[libnsprobe][session_kernel]")
{
    Kernel kernel;
    CHECK(kernel.add() == -ENOENT);
    CHECK(nsp_last_error() == std::string("no session is open (start the program with "
                                          "NETSLICE=output=FILE, or call nsp_session_open() "
                                          "before)"));
    CHECK(nsp_session_end_kernel(nullptr) == -ENOENT);
    nsp_session_kernel older = kernel.of();
    older.struct_size = 8;
    CHECK(nsp_session_add_kernel(&older) == -EINVAL);
    CHECK(nsp_session_add_kernel(nullptr) == -EINVAL);
    {
        ProbeSession flight_recorder("calibration=no full=overwrite");
        CHECK(kernel.add() == -ENOTSUP);
    }
    ProbeSession session;
    kernel.refusal = -EPERM;
    CHECK(kernel.add() == -EPERM);
    CHECK(nsp_last_error() == std::string("no such kernel"));
    kernel.refusal = 0;
    CHECK(kernel.released == 0);
    CHECK(kernel.add() == 0); // a refusal leaves the session as it was
    CHECK(session.close().err == 0);
}

TEST_CASE("new rules of the session apply to its kernel records", "[libnsprobe][session_kernel]")
{
    Kernel kernel;
    ProbeSession session;
    REQUIRE(kernel.add() == 0);
    REQUIRE(nsp_process_select("recei*") == 0);
    for (int i = 0; i < 5000 && kernel.selected == 0; ++i)
        usleep(1000); // the drain follows announcements
    REQUIRE(session.close().err == 0);
    CHECK(kernel.new_rules == "recei*");
}

TEST_CASE("a pattern that matches a name of the kernel is not reported as matching none",
          "[libnsprobe][session_kernel]")
{
    Kernel kernel;
    ProbeSession session("calibration=no slices=receive,none");
    one_slice();
    REQUIRE(kernel.add() == 0);
    REQUIRE(nsp_session_end_kernel(nullptr) == 0); // so that the drain has seen the names
    char text[512];
    nsp_sites_describe_unmatched(text, sizeof text);
    CHECK(text == std::string("slices: no slice or mark matches \"none\"; available: receive, "
                              "work\n"));
}

TEST_CASE("a child of fork() neither ends nor keeps its parent's kernel records",
          "[libnsprobe][session_kernel]")
{
    Kernel kernel;
    ProbeSession session;
    REQUIRE(kernel.add() == 0);
    int wait_for_parent[2];
    REQUIRE(pipe(wait_for_parent) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        char byte;
        close(wait_for_parent[1]);
        const bool is_refused = nsp_session_end_kernel(nullptr) == -ENOENT;
        const bool has_end = read(wait_for_parent[0], &byte, 1) == 0;
        _exit(is_refused && has_end && kernel.ended == 0 && kernel.released == 0 ? 0 : 1);
    }
    close(wait_for_parent[0]);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(session.close().err == 0); // while the child has the pipe
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    CHECK(row_of(session.path()).drained == kRecords);
    close(wait_for_parent[1]);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
