// SPDX-License-Identifier: MIT
// Capture file: a file and the reader of its format -> packet batches.
#include "drivers/capture_file.hpp"

#include <mutex>

#include <mapi/errors.h>
#include <mapi/explain.h>

#include "drivers/capture_error.hpp"
#include "drivers/file_buffer.hpp"

namespace mapi::drivers
{
namespace
{
class CaptureFile
{
public:
    CaptureFile(OpenFormat open_format, const mapi_driver_setup &setup)
        : open_format_(open_format), file_(setup.path, setup.has_file ? setup.file : -1, setup.memory), format_(open_format(file_)), rounds_left_(setup.repeat)
    {
    }

    const mapi_driver_info &info() const { return format_->info(); }

    int read(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        uint32_t count = format_->read(file_, packets, limit, batch);
        while (count == 0 && start_next_round())
            count = format_->read(file_, packets, limit, batch);
        round_has_packets_ |= count > 0;
        return int(count);
    }

    int read_more(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        file_.hold(true);
        const uint32_t count = format_->read(file_, packets, limit, batch);
        file_.hold(false);
        return int(count);
    }

    void interrupt() { file_.interrupt(); }

    // What stopped the reading.  The counters are those of the whole life, also after a repetition.
    void note(const CaptureError &error)
    {
        const std::lock_guard lock(mutex_);
        stats_.bad_records += error.damage() == Damage::kRecord;
        stats_.truncated_records += error.damage() == Damage::kTruncated;
        stats_.unread_bytes = file_.rest_bytes();
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
    bool start_next_round()
    {
        // A file without packets repeated for ever would spin.
        if (rounds_left_ == 1 || !round_has_packets_)
            return false;
        if (!file_.rewind())
            throw CaptureError(Damage::kInput, file_.path() + ": is a pipe and cannot be repeated");
        if (rounds_left_ != 0)
            --rounds_left_;
        round_has_packets_ = false;
        earlier_interface_drops_ += format_->interface_drops();
        format_ = open_format_(file_);
        return true;
    }

    void note_end(const std::string &problem)
    {
        stats_.interface_drops = earlier_interface_drops_ + format_->interface_drops();
        std::string text = problem;
        const std::string remark = format_->remark();
        if (!remark.empty())
            text = text.empty() ? file_.path() + ": " + remark : text + "; before that, " + remark;
        mapi_explain(stats_.message, sizeof(stats_.message), text.c_str());
    }

    const OpenFormat open_format_;
    FileBuffer file_;
    std::unique_ptr<CaptureFormat> format_;
    uint64_t rounds_left_; // 0: without end
    bool round_has_packets_ = false;
    uint64_t earlier_interface_drops_ = 0; // of the rounds before this one
    std::mutex mutex_; // stats_, which other threads read
    mapi_driver_stats stats_ = {};
};

} // namespace

int open_capture_file(OpenFormat open_format, const mapi_driver_setup *setup, void **instance, mapi_driver_info *info)
{
    try {
        auto file = std::make_unique<CaptureFile>(open_format, *setup);
        *info = file->info();
        // A source without an end is like a wire: it does not wait for slow readers.
        if (setup->repeat == 0)
            info->device_flags &= ~uint32_t(MAPI_DEVICE_OFFLINE);
        *instance = file.release();
        return 0;
    } catch (const CaptureError &error) {
        mapi_explain(setup->error, setup->error_bytes, error.what());
        return error.damage() == Damage::kMemory ? MAPI_LIMIT_REACHED : error.damage() == Damage::kFile ? MAPI_ERROR_FILE : PCAP_OPEN_ERR;
    } catch (const std::exception &error) {
        mapi_explain(setup->error, setup->error_bytes, error.what());
        return PCAP_OPEN_ERR;
    }
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

// A held buffer gives no error.
int read_more_of_capture_file(void *instance, mapi_packet *packets, uint32_t limit, mapi_batch *batch)
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

void close_capture_file(void *instance)
{
    delete static_cast<CaptureFile *>(instance);
}
} // namespace mapi::drivers
