// SPDX-License-Identifier: MIT
// String search in a capture by plain Vectorscan, and with the steps that STR_SEARCH adds: CPU
// seconds of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hs/hs.h>

#include "match/text/padded_text.hpp"
#include "match/text/string_matcher.hpp"
#include "match/text/string_matcher_set.hpp"

namespace bench
{
class BareStrings
{
public:
    // The capture is a pcap file in this machine's byte order; patterns are strings in STR_SEARCH's
    // syntax.
    BareStrings(const std::string &capture, const std::vector<std::string> &strings,
                const std::vector<std::string> &patterns);
    ~BareStrings();
    BareStrings(const BareStrings &) = delete;
    BareStrings &operator=(const BareStrings &) = delete;

    // Time to create the database.
    double compile_s() const { return compile_s_; }
    // hs_scan() of packets in memory.
    double scan();
    // read() into one buffer like the driver, and visiting the records; then with hs_scan() of each
    // packet in place; with hs_scan() of padded copies, as STR_SEARCH makes them; and with
    // STR_SEARCH's own search: batches, copies, hits in a mask for each pattern.
    double read();
    double read_and_scan();
    double read_and_scan_copies();
    double read_and_find();

    // Hits of each string in the previous scan.
    const std::vector<uint64_t> &hits() const { return hits_; }

private:
    static int count(unsigned id, unsigned long long, unsigned long long, unsigned, void *hits);
    // end_piece(): the used part is about to be overwritten.
    template <class Use, class EndPiece> double go_through_file(Use use, EndPiece end_piece);
    void scan(const char *packet, size_t bytes)
    {
        hs_scan(database_, packet, unsigned(bytes), 0, scratch_, count, hits_.data());
    }
    void find(const mapi_packet *packets, unsigned number);

    const std::string capture_;
    std::vector<char> bytes_;
    std::unique_ptr<char[]> buffer_; // for pieces of the file
    std::vector<uint64_t> hits_;
    hs_database_t *database_ = nullptr;
    hs_scratch_t *scratch_ = nullptr;
    double compile_s_ = 0;
    mapi::match::PaddedText padded_;
    std::vector<std::unique_ptr<mapi::match::StringMatcher>> matchers_;
    std::unique_ptr<mapi::match::StringMatcherSet> set_;
};
} // namespace bench
