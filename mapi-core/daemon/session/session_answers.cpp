// SPDX-License-Identifier: MIT
// Session answers: what the engine reports -> messages.
#include "daemon/session/session_answers.hpp"

namespace mapi::daemon
{
void show(int fid, const engine::FunctionMemory &memory, SharedArena &arena, ipc::Applied &applied)
{
    SharedPiece &engine = arena.piece(engine::Arena::Side::kEngine);
    applied.set_function(fid);
    applied.set_result_bytes(memory.result_bytes);
    applied.set_has_result(memory.result != nullptr);
    if (memory.result)
        applied.set_result_offset(engine.offset_of(memory.result));
    applied.set_has_results_in_ring(memory.has_results_in_ring);
    applied.set_has_packets_in_ring(memory.has_packets_in_ring);
    applied.set_is_composed(memory.is_composed);
    applied.set_is_since_last(memory.is_since_last);
    if (!memory.ring)
        return;
    const ring::RingPages &pages = memory.ring->writer().pages();
    auto &ring = *applied.mutable_ring();
    ring.set_writer_offset(engine.offset_of(pages.writer));
    ring.set_data_offset(engine.offset_of(pages.data));
    ring.set_data_bytes(pages.bytes);
    ring.set_reader_offset(arena.piece(engine::Arena::Side::kClient).offset_of(pages.reader));
    ring.set_reader_returns(memory.ring->reader_returns());
    ring.set_writer_waits(memory.ring->writer_waits());
}

void show(const mapi_flow_info_t &info, ipc::FlowInfo &message)
{
    message.set_device_id(info.devid);
    message.set_device(info.device);
    message.set_functions(info.num_functions);
    message.set_start_us(info.start_us);
    message.set_end_us(info.end_us);
    message.set_status(info.status);
}

void show(const mapi_function_info_t &info, ipc::FunctionInfo &message)
{
    message.set_name(info.name);
    message.set_packets(info.pkts);
    message.set_passed_packets(info.passed_pkts);
    message.set_dropped(info.dropped);
    message.set_time_jumps(info.time_jumps);
    message.set_unread_headers(info.unread_headers);
    message.set_given_up(info.given_up);
    message.set_result_bytes(info.result_size);
    message.set_shared_with(info.shared_with);
    message.set_place(info.place);
}

void show(const mapi_device_info_t &info, ipc::DeviceInfo &message)
{
    message.set_id(info.id);
    message.set_device(info.device);
    message.set_driver(info.name);
    message.set_alias(info.alias);
    message.set_description(info.description);
    message.set_link_speed_mbit(info.link_speed);
    message.set_link_type(info.link_type);
    message.set_mpls(info.mpls);
    message.set_vlan(info.vlan);
}

void show(const mapi_stat_t &stats, ipc::Statistics &message)
{
    message.set_host(stats.hostname);
    message.set_device(stats.dev);
    message.set_message(stats.message);
    message.set_received(stats.ps_recv);
    message.set_dropped(stats.ps_drop);
    message.set_interface_drops(stats.ps_ifdrop);
    message.set_received_bytes(stats.bytes_recv);
    message.set_bad_record(stats.drop_bad_record);
    message.set_truncated(stats.drop_truncated);
    message.set_buffer_full(stats.drop_buffer_full);
    message.set_link_type(stats.drop_link_type);
    message.set_not_written(stats.drop_not_written);
    message.set_kernel(stats.drop_kernel);
    message.set_no_flow(stats.drop_no_flow);
    message.set_unread_bytes(stats.unread_bytes);
    message.set_device_dropped(stats.device_drop);
    message.set_kernel_unreadable(stats.kernel_unreadable);
    message.set_kernel_late(stats.kernel_late);
    message.set_undecided(stats.undecided);
    message.set_remark(stats.remark);
}
} // namespace mapi::daemon
