// SPDX-License-Identifier: MIT
// Strings searched in a capture by Vectorscan alone, and by the steps that STR_SEARCH adds: CPU seconds of each.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <hs/hs.h>

#include "match/text/padded_text.hpp"
#include "match/text/string_matcher.hpp"
#include "match/text/string_matcher_set.hpp"

namespace bench
{
// Of all threads: others on the machine change it least.
inline double cpu_s()
{
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

class BareStrings
{
public:
    // The capture is a pcap file of this machine's byte order; patterns are the strings in STR_SEARCH's syntax.
    BareStrings(const std::string &capture, const std::vector<std::string> &strings, const std::vector<std::string> &patterns);
    ~BareStrings();
    BareStrings(const BareStrings &) = delete;
    BareStrings &operator=(const BareStrings &) = delete;

    // Of the database.
    double compile_s() const { return compile_s_; }
    // hs_scan() of packets in memory.
    double scan();
    // read() into one buffer as the driver reads, and records gone through; then with hs_scan() of each packet where it lies; with that of
    // copies with bytes behind them as STR_SEARCH makes; and with STR_SEARCH's own search: batches, copies, hits into a mask for each pattern.
    double read();
    double read_and_scan();
    double read_and_scan_copies();
    double read_and_find();

    // Of each string, of the scan before.
    const std::vector<uint64_t> &hits() const { return hits_; }

private:
    static int count(unsigned id, unsigned long long, unsigned long long, unsigned, void *hits);
    // end_piece(): what was used is about to be overwritten.
    template <class Use, class EndPiece> double go_through_file(Use use, EndPiece end_piece);
    void scan(const char *packet, size_t bytes) { hs_scan(database_, packet, unsigned(bytes), 0, scratch_, count, hits_.data()); }
    void find(const mapi_packet *packets, unsigned number);

    const std::string capture_;
    std::vector<char> bytes_;
    std::unique_ptr<char[]> buffer_; // of the file's pieces
    std::vector<uint64_t> hits_;
    hs_database_t *database_ = nullptr;
    hs_scratch_t *scratch_ = nullptr;
    double compile_s_ = 0;
    mapi::match::PaddedText padded_;
    std::vector<std::unique_ptr<mapi::match::StringMatcher>> matchers_;
    std::unique_ptr<mapi::match::StringMatcherSet> set_;
};
} // namespace bench
