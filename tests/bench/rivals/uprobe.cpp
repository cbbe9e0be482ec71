// SPDX-License-Identifier: MIT
// A uprobe that writes a perf sample for each hit, on the one-byte nop of a USDT site and on a
// five-byte nop.
//
// perf_event_open() sets it, and the kernel removes it with the descriptor, however the program
// ends.
#include "rounds.hpp"

#include <atomic>
#include <fstream>
#include <sstream>

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Separate functions: newer kernels rewrite a five-byte nop into a call, which must not overwrite a
// caller's red zone.
__asm__(
    ".text\n"
    ".type site_usdt,@function\nsite_usdt: nop\n ret\n"
    ".balign 16\n.type site_nop5,@function\nsite_nop5: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret\n"
    ".balign 16\n.type site_bare,@function\nsite_bare: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret\n");
extern "C" void site_usdt();
extern "C" void site_nop5();
extern "C" void site_bare();

namespace
{
constexpr size_t kPageBytes = 4096;
constexpr size_t kDataBytes = 128 * kPageBytes; // the default of `perf record`

uint64_t file_offset(void (*site)())
{
    const auto address = reinterpret_cast<uint64_t>(site);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        uint64_t begin = 0, end = 0, offset = 0;
        char dash = 0;
        std::string rights;
        std::istringstream(line) >> std::hex >> begin >> dash >> end >> rights >> offset;
        if (begin <= address && address < end)
            return address - begin + offset;
    }
    rival::skip("/proc/self/maps does not show the program's own code");
}

int open_uprobe(void (*site)())
{
    int type = 0;
    if (!(std::ifstream("/sys/bus/event_source/devices/uprobe/type") >> type))
        rival::skip("the kernel has no uprobes for perf (CONFIG_UPROBE_EVENTS)");
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = uint32_t(type);
    attr.config1 = reinterpret_cast<uint64_t>("/proc/self/exe");
    attr.config2 = file_offset(site);
    attr.sample_period = 1;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    const int event = int(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0)
        rival::skip(std::string("perf_event_open of a uprobe: ") + std::strerror(errno));
    return event;
}

// Reads the ring like `perf record`, but only counts.
class SampleCounter
{
public:
    explicit SampleCounter(int event)
        : ring_(
              mmap(nullptr, kPageBytes + kDataBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0))
    {
        if (ring_ == MAP_FAILED)
            rival::skip(std::string("mmap of the samples: ") + std::strerror(errno));
        thread_ = std::thread([this] {
            while (!is_done_) {
                drain();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            drain();
        });
    }
    uint64_t finish()
    {
        is_done_ = true;
        thread_.join();
        munmap(ring_, kPageBytes + kDataBytes);
        return samples_;
    }

private:
    void drain()
    {
        auto *page = static_cast<perf_event_mmap_page *>(ring_);
        const char *data = static_cast<char *>(ring_) + kPageBytes;
        // pairs with the kernel's release of data_head: the samples below it are complete
        const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
        uint64_t tail = page->data_tail;
        while (tail != head) { // records are multiples of 8 bytes, so a header is never split by
                               // the ring's end
            const auto *record =
                reinterpret_cast<const perf_event_header *>(data + tail % kDataBytes);
            samples_ += record->type == PERF_RECORD_SAMPLE;
            tail += record->size;
        }
        __atomic_store_n(&page->data_tail, tail,
                         __ATOMIC_RELEASE); // pairs with the kernel's acquire before it reuses
    }

    void *ring_;
    std::thread thread_;
    std::atomic<bool> is_done_{false};
    uint64_t samples_ = 0;
};

template <void (*site)()>
void measure(const rival::Plan &plan, const char *figure, const char *name)
{
    const int event = open_uprobe(site);
    SampleCounter counter(event);
    const rival::Cost cost = rival::measure(
        plan, [] { site(); }, [] { site_bare(); });
    const uint64_t samples = counter.finish();
    close(event);
    rival::print({figure, name, "its own cost; counts lost events",
                  "perf samples with address, thread and time, ring of 512 KiB; the call of the "
                  "site is subtracted"},
                 cost, samples);
}
} // namespace

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    std::thread([&] { measure<site_usdt>(plan, "rival_uprobe_ns", "uprobe (USDT site)"); }).join();
    std::thread([&] {
        measure<site_nop5>(plan, "rival_uprobe_nop5_ns", "uprobe on a 5-byte nop");
    }).join();
    return 0;
}
