// SPDX-License-Identifier: MIT
// ctf: the events of one CPU -> packets of a CTF stream, laid out as ctf_metadata.cpp says.
#include "export/ctf/ctf_stream.hpp"

#include <utility>

#include "export/ctf/ctf_metadata.hpp"

namespace nsdump
{
namespace
{
template <class Value> void append(std::string &bytes, Value value)
{
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

constexpr size_t kHeaderBytes = 4 + 16 + 4, kContextBytes = 6 * 8 + 4;
} // namespace

CtfStream::CtfStream(const CtfStreamInfo &info, Write write)
    : info_(info), write_(std::move(write)), packet_(kHeaderBytes + kContextBytes, '\0')
{
}

void CtfStream::add(const Event &event)
{
    const uint64_t ticks = event.ticks < last_ticks_ ? last_ticks_ : event.ticks;
    ticks_back_ += ticks != event.ticks;
    if (sequence_ == 0 && events_ == 0) {
        first_ticks_ = last_ticks_ = ticks;
        if (has_loss_) { // readers take the first packet's count as that before the recording
            const uint64_t lost = std::exchange(lost_, 0);
            end_packet();
            lost_ = lost;
        }
    }
    if (events_ == 0)
        first_ticks_ = ticks;
    last_ticks_ = ticks;
    ++events_;
    append(packet_, uint8_t(event.kind));
    append(packet_, ticks);
    append(packet_, event.thread_id);
    append(packet_, event.slice_id);
    append(packet_, event.slice_id); // its name
    append(packet_, event.word_count);
    packet_.append(reinterpret_cast<const char *>(event.words),
                   event.word_count * sizeof *event.words);
    if (packet_.size() >= kFullBytes)
        end_packet();
}

void CtfStream::set_lost(uint64_t records)
{
    if (records == lost_)
        return;
    if (events_ > 0)
        end_packet();
    lost_ = records;
    has_loss_ = true;
}

void CtfStream::end_packet()
{
    if (events_ == 0)
        first_ticks_ = last_ticks_;
    std::string head;
    append(head, kCtfMagic);
    head.append(reinterpret_cast<const char *>(info_.uuid.data()), info_.uuid.size());
    append(head, ctf_stream_id(info_.is_kernel));
    append(head, first_ticks_);
    append(head, last_ticks_);
    append(head, uint64_t{packet_.size()} * 8);
    append(head, uint64_t{packet_.size()} * 8);
    append(head, sequence_++);
    append(head, lost_);
    append(head, info_.cpu);
    packet_.replace(0, head.size(), head);
    write_(packet_);
    packet_.resize(head.size());
    events_ = 0;
    has_loss_ = false;
}

void CtfStream::finish()
{
    if (events_ > 0 || has_loss_ || sequence_ == 0)
        end_packet();
}
} // namespace nsdump
