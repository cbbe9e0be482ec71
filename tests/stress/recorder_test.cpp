// SPDX-License-Identifier: MIT
// Recorded programs that fork, exec, or are killed at any moment: what was committed is in the
// trace.
#include "work.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <random>
#include <utility>

#include <nsprobe/recorder.h>

#include "victim.h"

using namespace stress;
using Clock = std::chrono::steady_clock;

namespace
{
struct Recorded {
    nsp_session_counts counts{};
    test_support::Trace trace;
    uint64_t issued_by_program = 0;
    uint64_t writers = 0;
    uint32_t joined = 0;
    std::string refusal;
    int status = 0;
};

class Recording
{
public:
    Recording(nslice_ring_kind kind, nslice_ring_full full, uint64_t ring_bytes)
    {
        const std::string output = trace_path().string();
        nsp_session_config config{};
        config.struct_size = sizeof config;
        config.output = output.c_str();
        config.ring_kind = kind;
        config.full = full;
        config.ring_bytes = ring_bytes;
        config.no_calibration = 1;
        REQUIRE(nsp_recorder_open(&config, &recorder_) == 0);
        const int fd = open(counts_path().c_str(), O_RDWR | O_CREAT, 0600);
        REQUIRE(ftruncate(fd, sizeof(victim_counts)) == 0);
        counts_ = static_cast<victim_counts *>(
            mmap(nullptr, sizeof(victim_counts), PROT_READ, MAP_SHARED, fd, 0));
        close(fd);
    }
    ~Recording() { munmap(counts_, sizeof(victim_counts)); }

    // From now on, each pass is followed by a pause or ends one.
    void pause_often() { pauses_ = true; }

    // Starts the victim; kills it after `lifetime`, or waits for it to end if that is zero.
    Recorded run(const char *what, const char *times, std::chrono::microseconds lifetime)
    {
        Recorded result;
        const pid_t child = fork();
        if (child == 0) {
            if (nsp_recorder_prepare_exec(recorder_))
                _exit(126);
            execl(VICTIM, VICTIM, what, counts_path().c_str(), times, nullptr);
            _exit(127);
        }
        const auto until = Clock::now() + std::chrono::seconds(30);
        auto kill_at = until;
        while (waitpid(child, &result.status, WNOHANG) == 0) {
            if (lifetime.count() && counts_->writers > 0 && kill_at == until)
                kill_at = Clock::now() + lifetime;
            if (Clock::now() >= kill_at)
                kill(child, SIGKILL);
            if (nsp_recorder_pass(recorder_) < 65536)
                usleep(200);
            if (pauses_) {
                const bool was_paused = std::exchange(is_paused_, !is_paused_);
                CHECK((was_paused ? nsp_recorder_resume : nsp_recorder_pause)(recorder_) == 0);
            }
        }
        nsp_recorder_status status{};
        nsp_recorder_status_read(recorder_, &status);
        result.joined = status.joined;
        INFO(nsp_last_error());
        result.refusal = status.refused ? status.refusal : "";
        CHECK(nsp_recorder_close(recorder_, NSLICE_END_KILLED, &result.counts) ==
              (result.joined ? 0 : -ENODATA));
        CHECK(std::filesystem::exists(trace_path()) == (result.joined > 0));
        if (result.joined)
            result.trace = test_support::read_trace(trace_path());
        result.writers = counts_->writers;
        for (uint64_t i = 0; i < result.writers; ++i)
            result.issued_by_program += counts_->writer[i].issued;
        return result;
    }

private:
    std::filesystem::path trace_path() const { return dir_ / "t.nsl"; }
    std::filesystem::path counts_path() const { return dir_ / "counts"; }

    test_support::TempDir dir_;
    nsp_recorder *recorder_ = nullptr;
    bool pauses_ = false, is_paused_ = false;
    victim_counts *counts_ = nullptr;
};

std::vector<nslice_ring_kind> ring_kinds()
{
    if (has_rseq())
        return {NSLICE_RING_RSEQ, NSLICE_RING_ATOMIC};
    return {NSLICE_RING_ATOMIC};
}

uint64_t left_out(const Recorded &result)
{
    const auto total = result.trace.info.find("session.paused_records");
    return total == result.trace.info.end() ? 0 : std::stoull(total->second);
}

void check_books(const Recorded &result, uint64_t slack)
{
    REQUIRE(result.trace.complaint() == "");
    REQUIRE(result.trace.has_footer);
    REQUIRE(is_whole(result.trace));
    CHECK(result.counts.issued == result.counts.drained + test_support::lost_sum(result.counts));
    CHECK(result.trace.records.size() == result.counts.drained);
    const uint64_t tried = result.counts.issued + left_out(result);
    CHECK(tried >= result.issued_by_program);
    CHECK(tried <= result.issued_by_program + slack);
}

// From the ticks of each stop to those of the start after it.
std::map<uint64_t, uint64_t> pauses_of(const Recorded &result)
{
    std::map<uint64_t, uint64_t> pauses;
    uint64_t stopped = 0;
    for (int number = 1;; ++number) {
        const auto line = result.trace.info.find("session.switch." + std::to_string(number));
        if (line == result.trace.info.end())
            break;
        const uint64_t ticks = std::stoull(line->second.substr(line->second.find("ns ") + 3));
        if (line->second.starts_with("stop"))
            stopped = ticks;
        else
            pauses[std::exchange(stopped, 0)] = ticks;
    }
    if (stopped)
        pauses[stopped] = ~uint64_t{0};
    return pauses;
}

uint64_t most_records_in_a_pause(const Recorded &result)
{
    const std::map<uint64_t, uint64_t> pauses = pauses_of(result);
    std::map<uint64_t, uint64_t> records;
    uint64_t most = 0;
    for (const auto &record : result.trace.records) {
        const auto after = pauses.upper_bound(record.ticks);
        if (after != pauses.begin() && record.ticks < std::prev(after)->second)
            most = std::max(most, ++records[std::prev(after)->first]);
    }
    return most;
}
} // namespace

TEST_CASE("everything that a killed program has committed is drained, and nothing is torn",
          "[stress][recorder]")
{
    std::mt19937 random(std::random_device{}());
    for (const auto kind : ring_kinds())
        for (const auto full : {NSLICE_FULL_DISCARD, NSLICE_FULL_OVERWRITE})
            for (int round = 0; round < 12; ++round) {
                Recording recording(kind, full, round % 2 ? 1 << 20 : 1 << 13);
                const auto result =
                    recording.run("run", "0", std::chrono::microseconds(random() % 15000 + 1));
                INFO("kind " << kind << ", full " << full << ", round " << round);
                CHECK(WIFSIGNALED(result.status));
                check_books(result, result.writers);
                CHECK(result.counts.issued > 0);
                if (kind == NSLICE_RING_RSEQ)
                    CHECK(result.counts.lost[NSLICE_LOST_TORN] == 0);
            }
}

TEST_CASE("each record is drained, lost or left out in a pause, and pauses have none",
          "[stress][recorder]")
{
    for (const auto kind : ring_kinds()) {
        uint64_t all_left_out = 0, all_drained = 0;
        size_t pauses = 0;
        for (int round = 0; round < 12; ++round) {
            Recording recording(kind, NSLICE_FULL_DISCARD, round % 2 ? 1 << 20 : 1 << 13);
            recording.pause_often();
            const auto result = recording.run("run", "0", std::chrono::milliseconds(30));
            INFO("kind " << kind << ", round " << round);
            check_books(result, result.writers);
            // A thread may have been about to write when the pause began.
            CHECK(most_records_in_a_pause(result) <= result.writers);
            all_left_out += left_out(result);
            all_drained += result.counts.drained;
            pauses += pauses_of(result).size();
        }
        CHECK(all_left_out > 0);
        CHECK(all_drained > 0);
        CHECK(pauses > 12);
    }
}

TEST_CASE("children of a recorded program continue to write into its trace", "[stress][recorder]")
{
    for (const auto kind : ring_kinds()) {
        Recording recording(kind, NSLICE_FULL_DISCARD, 4 << 20);
        const auto result = recording.run("fork", "40", {});
        CHECK(result.status == 0);
        CHECK(result.writers == 80);
        check_books(result, 0);
        CHECK(result.counts.issued == (40 * 300 + 40 * 10) * 5u);
        std::vector<uint32_t> threads;
        for (const auto &record : result.trace.records)
            threads.push_back(record.thread);
        std::sort(threads.begin(), threads.end());
        CHECK(std::unique(threads.begin(), threads.end()) - threads.begin() == 41);
    }
}

TEST_CASE("a recorded program that calls exec stays in the trace", "[stress][recorder]")
{
    for (const auto kind : ring_kinds()) {
        Recording recording(kind, NSLICE_FULL_DISCARD, 4 << 20);
        const auto result = recording.run("exec", "10", {});
        CHECK(result.status == 0);
        CHECK(result.joined == 11);
        check_books(result, 0);
        CHECK(result.counts.issued == 11 * 200 * 5u);
    }
}

TEST_CASE("a program without rseq cannot write rings that require it, and reports that",
          "[stress][recorder]")
{
    if (!has_rseq())
        return;
    Recording recording(NSLICE_RING_RSEQ, NSLICE_FULL_DISCARD, 1 << 20);
    setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
    const auto result = recording.run("exec", "0", {});
    unsetenv("GLIBC_TUNABLES");
    CHECK(result.status == 0);
    CHECK(result.joined == 0);
    CHECK_THAT(result.refusal, Catch::Contains("no rseq") && Catch::Contains("kind=atomic"));
}

TEST_CASE("without rseq, rings that require it are refused before a program starts",
          "[stress][recorder]")
{
    if (has_rseq())
        return;
    test_support::TempDir dir;
    const std::string output = dir / "t.nsl";
    nsp_session_config config{};
    config.struct_size = sizeof config;
    config.output = output.c_str();
    config.ring_kind = NSLICE_RING_RSEQ;
    nsp_recorder *recorder;
    CHECK(nsp_recorder_open(&config, &recorder) == -ENOTSUP);
    CHECK_THAT(nsp_last_error(), Catch::Contains("no rseq") && Catch::Contains("kind=atomic"));
    CHECK_FALSE(std::filesystem::exists(output));
}
