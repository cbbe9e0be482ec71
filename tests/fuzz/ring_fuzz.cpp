// SPDX-License-Identifier: MIT
// Fuzz target: a ring whose reader writes anything into its page -> the writer stays within the
// ring's memory, and every record is there or counted; a correct reader gets what was written.
// Input: two bytes per step.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "ring/ring_reader.hpp"
#include "ring/ring_writer.hpp"

namespace
{
using namespace mapi::ring;
constexpr uint64_t kBytes = 1024;

// Data of exactly its length, so that an access beyond it is detected.
struct Ring {
    WriterPage writer_page;
    ReaderPage reader_page;
    std::unique_ptr<uint64_t[]> data = std::make_unique<uint64_t[]>(kBytes / 8);
    RingPages pages{&writer_page, &reader_page, reinterpret_cast<uint8_t *>(data.get()), kBytes};
};

void write_record(RingWriter &writer, uint32_t bytes, uint8_t fill,
                  std::deque<std::vector<uint8_t>> *written, uint64_t &dropped)
{
    void *const place = writer.reserve(bytes);
    if (!place) {
        ++dropped;
        return;
    }
    memset(place, fill, bytes);
    if (written)
        written->emplace_back(bytes, fill);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Ring honest, hostile;
    RingWriter honest_writer(honest.pages, {}), hostile_writer(hostile.pages, {false, 64});
    RingReader reader(honest.pages);
    std::deque<std::vector<uint8_t>> written;
    uint64_t honest_dropped = 0, hostile_dropped = 0;
    for (; size >= 2; data += 2, size -= 2) {
        const uint8_t what = data[0] % 8, value = data[1];
        if (what < 3) {
            const uint32_t bytes = uint32_t(value) * (what + 1);
            write_record(honest_writer, bytes, value, &written, honest_dropped);
            write_record(hostile_writer, bytes, value, nullptr, hostile_dropped);
        } else if (what == 3) {
            honest_writer.publish();
            hostile_writer.publish();
        } else if (what == 4) {
            for (Record record; (record = reader.next()).data;) {
                if (written.empty() || record.bytes != written.front().size() ||
                    (record.bytes > 0 &&
                     memcmp(record.data, written.front().data(), record.bytes) != 0))
                    abort();
                written.pop_front();
            }
            reader.release();
        } else if (what == 5) {
            hostile.reader_page.tail = uint64_t(int64_t(int8_t(value))) * 8;
        } else if (what == 6) {
            hostile.reader_page.tail += value;
        } else {
            hostile.reader_page.wants = value;
        }
    }
    if (honest_writer.dropped() != honest_dropped || hostile_writer.dropped() != hostile_dropped)
        abort();
    return 0;
}
