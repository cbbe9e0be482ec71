// SPDX-License-Identifier: MIT
// String search in a capture by plain Vectorscan.
#include "bare_strings.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include "figure.hpp"

namespace bench
{
namespace
{
constexpr size_t kFileHeaderBytes = 24;
constexpr size_t kRecordHeaderBytes = 16;
constexpr size_t kRoomBytes = size_t(256) << 10;  // for a record that starts in the previous piece
constexpr size_t kPieceBytes = size_t(128) << 10; // as in the driver

// The complete packets between two positions, and where the first incomplete one begins.
template <class Use> char *use_packets(char *at, const char *end, Use use)
{
    while (size_t(end - at) >= kRecordHeaderBytes) {
        uint32_t caplen = 0;
        memcpy(&caplen, at + 8, sizeof(caplen));
        if (size_t(end - at) - kRecordHeaderBytes < caplen)
            break;
        use(at + kRecordHeaderBytes, caplen);
        at += kRecordHeaderBytes + caplen;
    }
    return at;
}
} // namespace

BareStrings::BareStrings(const std::string &capture, const std::vector<std::string> &strings,
                         const std::vector<std::string> &patterns)
    : capture_(capture), buffer_(new char[kRoomBytes + 4096 + kPieceBytes]), hits_(strings.size())
{
    std::ifstream file(capture, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (bytes_.size() < kFileHeaderBytes)
        throw std::runtime_error(capture + ": not a capture");
    std::vector<const char *> starts;
    std::vector<size_t> lengths;
    std::vector<unsigned> ids;
    for (const std::string &text : strings) {
        starts.push_back(text.data());
        lengths.push_back(text.size());
        ids.push_back(unsigned(ids.size()));
    }
    const std::vector<unsigned> flags(strings.size(), HS_FLAG_SINGLEMATCH);
    hs_compile_error_t *error = nullptr;
    const double begin = cpu_s();
    if (hs_compile_lit_multi(starts.data(), flags.data(), ids.data(), lengths.data(),
                             unsigned(strings.size()), HS_MODE_BLOCK, nullptr, &database_,
                             &error) != HS_SUCCESS ||
        hs_alloc_scratch(database_, &scratch_) != HS_SUCCESS)
        throw std::runtime_error(error ? error->message : "out of memory");
    compile_s_ = cpu_s() - begin;

    std::vector<const mapi::match::StringMatcher *> pointers;
    for (const std::string &pattern : patterns) {
        matchers_.push_back(std::make_unique<mapi::match::StringMatcher>(pattern, 0, 0));
        pointers.push_back(matchers_.back().get());
    }
    set_ = mapi::match::StringMatcherSet::make(pointers);
    if (!set_)
        throw std::runtime_error("no StringMatcherSet for these strings");
}

BareStrings::~BareStrings()
{
    hs_free_scratch(scratch_);
    hs_free_database(database_);
}

int BareStrings::count(unsigned id, unsigned long long, unsigned long long, unsigned, void *hits)
{
    ++static_cast<uint64_t *>(hits)[id];
    return 0;
}

// Pieces are page-aligned, as in the file: unaligned copies are slow on some processors.
template <class Use, class EndPiece>
double BareStrings::go_through_file(Use use, EndPiece end_piece)
{
    std::fill(hits_.begin(), hits_.end(), 0);
    char *const pages = buffer_.get() + kRoomBytes;
    char *const piece = pages + (4096 - reinterpret_cast<uintptr_t>(pages) % 4096) % 4096;
    const double begin = cpu_s();
    const int file = open(capture_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        throw std::runtime_error(capture_ + ": cannot open");
    size_t rest = 0, skipped = kFileHeaderBytes;
    for (ssize_t got; (got = ::read(file, piece, kPieceBytes)) > 0; skipped = 0) {
        char *const end = piece + got;
        char *const left = use_packets(piece - rest + skipped, end, use);
        end_piece();
        rest = size_t(end - left);
        if (rest > kRoomBytes)
            throw std::runtime_error(capture_ + ": a record is too long");
        memmove(piece - rest, left, rest);
    }
    close(file);
    return cpu_s() - begin;
}

double BareStrings::scan()
{
    std::fill(hits_.begin(), hits_.end(), 0);
    const double begin = cpu_s();
    use_packets(bytes_.data() + kFileHeaderBytes, bytes_.data() + bytes_.size(),
                [this](const char *packet, uint32_t bytes) { scan(packet, bytes); });
    return cpu_s() - begin;
}

double BareStrings::read()
{
    return go_through_file([](const char *, uint32_t) {}, [] {});
}

double BareStrings::read_and_scan()
{
    return go_through_file([this](const char *packet, uint32_t bytes) { scan(packet, bytes); },
                           [] {});
}

double BareStrings::read_and_scan_copies()
{
    const auto scan_copy = [this](const char *packet, uint32_t bytes) {
        scan(padded_.copy(reinterpret_cast<const uint8_t *>(packet), bytes),
             bytes + mapi::match::PaddedText::kPadBytes);
    };
    return go_through_file(scan_copy, [] {});
}

double BareStrings::read_and_find()
{
    mapi_packet packets[MAPI_BATCH_MAX] = {};
    unsigned number = 0;
    const auto end_batch = [&] {
        if (number > 0)
            find(packets, number);
        number = 0;
    };
    const auto add = [&](const char *packet, uint32_t bytes) {
        packets[number].data = reinterpret_cast<const uint8_t *>(packet);
        packets[number].caplen = packets[number].wire_len = bytes;
        if (++number == MAPI_BATCH_MAX)
            end_batch();
    };
    return go_through_file(add, end_batch);
}

void BareStrings::find(const mapi_packet *packets, unsigned number)
{
    for (const mapi::match::PatternMatches &matches :
         set_->find(packets, ~uint64_t(0) >> (MAPI_BATCH_MAX - number)))
        hits_[matches.matcher] += uint64_t(__builtin_popcountll(matches.mask));
}
} // namespace bench
