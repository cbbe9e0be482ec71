// SPDX-License-Identifier: MIT
// Capture file: one or several files and the reader of their format -> packet batches.
#include "drivers/capture_file.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <mapi/errors.h>
#include <mapi/explain.h>

#include "drivers/bytes/file_buffer.hpp"
#include "drivers/capture_error.hpp"
#include "drivers/capture_source.hpp"
#include "drivers/formats/loss_count.hpp"

namespace mapi::drivers
{
namespace
{
class CaptureFile
{
public:
    CaptureFile(OpenFormat open_format, const mapi_driver_setup &setup)
        : open_format_(open_format), memory_(setup.memory), rounds_left_(setup.repeat)
    {
        sources_.emplace_back(setup);
        open(0);
    }

    const mapi_driver_info &info() const { return format_->info(); }

    // Throws CaptureError.
    void append(const mapi_driver_setup &setup)
    {
        CaptureSource source(setup);
        for (const CaptureSource *one :
             {&std::as_const(sources_.front()), &std::as_const(source)}) {
            if (one->is_stream())
                throw CaptureError(Damage::kOpen, shown_path(one->path()) +
                                                      ": is not a regular file, as each of several "
                                                      "captures must be (save it to a file first)");
        }
        FileBuffer file(source.path(), source.descriptor(), memory_);
        source.first_ns = first_time(file, *open_format_(file));
        sources_.push_back(std::move(source));
    }

    int read(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        if (sources_.size() > 1 && !is_sorted_)
            sort();
        uint32_t count = 0;
        do {
            count = read_source(packets, limit, batch);
        } while (count == 0 && (start_next_source() || start_next_round()));
        round_has_packets_ |= count > 0;
        return int(count);
    }

    int read_more(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        file_->hold(true);
        const uint32_t count = format_->read(*file_, packets, limit, batch);
        file_->hold(false);
        return int(count);
    }

    void set_prefilter(const mapi_prefilter *prefilter) { prefilter_->set(prefilter); }

    void interrupt()
    {
        const std::lock_guard lock(mutex_);
        is_interrupted_ = true;
        file_->interrupt();
    }

    // Records why reading of a source stopped.  The counters cover the whole lifetime, including
    // repetitions.
    void note(const CaptureError &error)
    {
        const std::lock_guard lock(mutex_);
        stats_.bad_records += error.damage() == Damage::kRecord;
        stats_.truncated_records += error.damage() == Damage::kTruncated;
        stats_.unread_bytes += file_->rest_bytes();
        note_end(error.what());
    }

    void note_finish()
    {
        const std::lock_guard lock(mutex_);
        note_end({});
    }

    void copy_stats(mapi_driver_stats *stats)
    {
        const std::lock_guard lock(mutex_);
        *stats = stats_;
    }

private:
    // With several sources, a damaged one does not prevent reading the others.
    uint32_t read_source(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        if (at_ + 1 == sources_.size())
            return format_->read(*file_, packets, limit, batch);
        try {
            const uint32_t count = format_->read(*file_, packets, limit, batch);
            if (count == 0)
                note_finish();
            return count;
        } catch (const CaptureError &error) {
            if (error.damage() == Damage::kMemory || is_interrupted_)
                throw;
            note(error);
            return 0;
        }
    }

    bool start_next_source()
    {
        if (at_ + 1 == sources_.size())
            return false;
        earlier_interface_drops_ =
            sum_of_losses(earlier_interface_drops_, format_->interface_drops());
        open(at_ + 1);
        return true;
    }

    bool start_next_round()
    {
        // A file without packets, repeated forever, would spin.
        if (rounds_left_ == 1 || !round_has_packets_)
            return false;
        if (sources_.size() == 1 && !file_->rewind())
            throw CaptureError(Damage::kInput,
                               file_->path() + ": is a pipe, which cannot be read more than once");
        if (rounds_left_ != 0)
            --rounds_left_;
        round_has_packets_ = false;
        earlier_interface_drops_ =
            sum_of_losses(earlier_interface_drops_, format_->interface_drops());
        if (sources_.size() == 1)
            format_ = open_format_(*file_);
        else
            open(0);
        return true;
    }

    void open(size_t at)
    {
        at_ = at;
        auto file =
            std::make_unique<FileBuffer>(sources_[at].path(), sources_[at].descriptor(), memory_);
        file->use_prefilter(prefilter_);
        auto format = open_format_(*file);
        const std::lock_guard lock(mutex_);
        file_ = std::move(file);
        format_ = std::move(format);
        if (is_interrupted_)
            file_->interrupt();
    }

    // 0 if it has no readable packet.
    static uint64_t first_time(FileBuffer &file, CaptureFormat &format)
    {
        mapi_packet packet = {};
        mapi_batch batch = {};
        try {
            return format.read(file, &packet, 1, batch) > 0 ? packet.timestamp_ns : 0;
        } catch (const CaptureError &) { // reported when the file is read
            return 0;
        }
    }

    // In the order of their first packets.
    void sort()
    {
        is_sorted_ = true;
        FileBuffer first(sources_[0].path(), sources_[0].descriptor(), memory_);
        sources_[0].first_ns = first_time(first, *open_format_(first));
        std::stable_sort(sources_.begin(), sources_.end(),
                         [](const CaptureSource &one, const CaptureSource &other) {
                             return one.first_ns < other.first_ns;
                         });
        open(0);
    }

    // Under mutex_.  With several sources, each one's message is added once.
    void note_end(const std::string &problem)
    {
        stats_.interface_drops =
            sum_of_losses(earlier_interface_drops_, format_->interface_drops());
        std::string text = problem;
        const std::string remark = format_->message();
        if (!remark.empty())
            text = text.empty() ? file_->path() + ": " + remark : text + "; before that, " + remark;
        if (text.empty() || reported_.find(text) != std::string::npos)
            return;
        if (!reported_.empty() &&
            reported_.size() + text.size() > sizeof(stats_.message) - kUntoldBytes)
            ++untold_;
        else
            reported_ += (reported_.empty() ? "" : "; ") + text;
        const std::string untold =
            untold_ ? "; " + std::to_string(untold_) + " more captures have messages" : "";
        mapi_explain(stats_.message, sizeof(stats_.message), (reported_ + untold).c_str());
    }

    static constexpr size_t kUntoldBytes = 64; // room for the number of messages that did not fit

    const OpenFormat open_format_;
    const mapi_memory *const memory_;
    std::vector<CaptureSource> sources_;
    size_t at_ = 0; // index of the current source
    bool is_sorted_ = false;
    const std::shared_ptr<PrefilterSlot> prefilter_ = std::make_shared<PrefilterSlot>();
    std::unique_ptr<FileBuffer> file_; // changed under mutex_
    std::unique_ptr<CaptureFormat> format_;
    uint64_t rounds_left_; // 0: forever
    bool round_has_packets_ = false;
    uint64_t earlier_interface_drops_ = 0; // of earlier sources and rounds
    std::atomic<bool> is_interrupted_ = false;
    std::mutex mutex_; // stats_, which other threads read, and file_
    mapi_driver_stats stats_ = {};
    std::string reported_;
    size_t untold_ = 0;
};

// 0, or an error number with its text in setup->error.
template <class Call> int guard(const mapi_driver_setup *setup, Call call)
{
    try {
        call();
        return 0;
    } catch (const CaptureError &error) {
        mapi_explain(setup->error, setup->error_bytes, error.what());
        return error.damage() == Damage::kMemory ? MAPI_LIMIT_REACHED
               : error.damage() == Damage::kFile ? MAPI_ERROR_FILE
                                                 : PCAP_OPEN_ERR;
    } catch (const std::exception &error) {
        mapi_explain(setup->error, setup->error_bytes, error.what());
        return PCAP_OPEN_ERR;
    }
}
} // namespace

int open_capture_file(OpenFormat open_format, const mapi_driver_setup *setup, void **instance,
                      mapi_driver_info *info)
{
    return guard(setup, [&] {
        auto file = std::make_unique<CaptureFile>(open_format, *setup);
        *info = file->info();
        // An endless source is like a wire: it does not wait for slow readers.
        if (setup->repeat == 0)
            info->device_flags &= ~uint32_t(MAPI_DEVICE_OFFLINE);
        *instance = file.release();
    });
}

int append_capture_file(void *instance, const mapi_driver_setup *setup)
{
    return guard(setup, [&] { static_cast<CaptureFile *>(instance)->append(*setup); });
}

int read_capture_file(void *instance, mapi_packet *packets, uint32_t limit, mapi_batch *batch)
{
    auto *file = static_cast<CaptureFile *>(instance);
    try {
        const int count = file->read(packets, limit, *batch);
        if (count == 0)
            file->note_finish();
        return count;
    } catch (const CaptureError &error) {
        file->note(error);
    } catch (const std::exception &error) {
        file->note(CaptureError(Damage::kInput, error.what()));
    }
    return -1;
}

// With a held buffer there are no errors.
int read_more_of_capture_file(void *instance, mapi_packet *packets, uint32_t limit,
                              mapi_batch *batch)
{
    return static_cast<CaptureFile *>(instance)->read_more(packets, limit, *batch);
}

void copy_capture_file_stats(void *instance, mapi_driver_stats *stats)
{
    static_cast<CaptureFile *>(instance)->copy_stats(stats);
}

void interrupt_capture_file(void *instance)
{
    static_cast<CaptureFile *>(instance)->interrupt();
}

void set_prefilter_of_capture_file(void *instance, const mapi_prefilter *prefilter)
{
    static_cast<CaptureFile *>(instance)->set_prefilter(prefilter);
}

void close_capture_file(void *instance)
{
    delete static_cast<CaptureFile *>(instance);
}
} // namespace mapi::drivers
