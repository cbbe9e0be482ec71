// SPDX-License-Identifier: MIT
// Offsets and sizes of every shared structure, as numbers: a change here changes the ABI or the
// file version.
#include "support/catch.hpp"

#include <cstddef>

#include <nslice/control.h>
#include <nslice/session.h>

#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>
#include <nsprobe/file.h>
#include <nsprobe/session.h>

#define AT(type, field, offset) CHECK(offsetof(type, field) == (offset))

TEST_CASE("the record has a 16-byte header and up to six words", "[abi]")
{
    CHECK(NSLICE_ABI_VERSION == 1);
    CHECK(sizeof(nslice_record_head) == 16);
    AT(nslice_record_head, ticks, 0);
    AT(nslice_record_head, thread_id, 8);
    AT(nslice_record_head, slice_id, 12);
    AT(nslice_record_head, kind, 14);
    AT(nslice_record_head, words, 15);
    CHECK(NSLICE_MAX_RECORD_WORDS == 8);
    CHECK((NSLICE_KIND_START == 1 && NSLICE_KIND_STOP == 2 && NSLICE_KIND_MARK == 3 &&
           NSLICE_KIND_INIT == 4 && NSLICE_KIND_EXIT == 5));
}

TEST_CASE("the ring's meta page has producer, consumer and losses on separate cache lines", "[abi]")
{
    CHECK(sizeof(nslice_ring_meta) == 256);
    AT(nslice_ring_meta, magic, 0);
    AT(nslice_ring_meta, abi_version, 4);
    AT(nslice_ring_meta, kind, 6);
    AT(nslice_ring_meta, cpu, 8);
    AT(nslice_ring_meta, full, 12);
    AT(nslice_ring_meta, data_bytes, 16);
    AT(nslice_ring_meta, closing, 24);
    AT(nslice_ring_meta, refusals, 28);
    AT(nslice_ring_meta, head, 64);
    AT(nslice_ring_meta, limit, 72);
    AT(nslice_ring_meta, mask, 76);
    AT(nslice_ring_meta, tail, 128);
    AT(nslice_ring_meta, lost, 192);
    CHECK((NSLICE_LOST_FULL == 0 && NSLICE_LOST_OVERWRITTEN == 1 && NSLICE_LOST_BUSY == 2 &&
           NSLICE_LOST_CLOSED == 3 && NSLICE_LOST_WRITE == 4 && NSLICE_LOST_TORN == 5 &&
           NSLICE_LOST_CAUSES == 6 && NSLICE_LEFT_OUT_PAUSED == 6));
    CHECK((NSLICE_RING_OPEN == 0 && NSLICE_RING_CLOSING == 1 && NSLICE_RING_PAUSED == 2));
    CHECK((NSLICE_RING_RSEQ == 1 && NSLICE_RING_ATOMIC == 2 && NSLICE_RING_KERNEL == 3));
}

TEST_CASE("the file header and the chunk header are 64 bytes with their checksum last", "[abi]")
{
    CHECK(NSLICE_FILE_VERSION == 1);
    CHECK(sizeof(nslice_file_header) == 64);
    AT(nslice_file_header, version, 8);
    AT(nslice_file_header, header_bytes, 12);
    AT(nslice_file_header, byte_order, 16);
    AT(nslice_file_header, created_unix_ns, 24);
    AT(nslice_file_header, session_uuid, 32);
    AT(nslice_file_header, header_crc32c, 60);
    CHECK(sizeof(nslice_chunk_header) == 64);
    AT(nslice_chunk_header, kind, 4);
    AT(nslice_chunk_header, header_bytes, 6);
    AT(nslice_chunk_header, payload_bytes, 8);
    AT(nslice_chunk_header, payload_crc32c, 12);
    AT(nslice_chunk_header, sequence, 16);
    AT(nslice_chunk_header, cpu, 24);
    AT(nslice_chunk_header, records, 28);
    AT(nslice_chunk_header, lost_before, 32);
    AT(nslice_chunk_header, first_ticks, 40);
    AT(nslice_chunk_header, left_out_before, 48);
    AT(nslice_chunk_header, header_crc32c, 60);
    CHECK((NSLICE_CHUNK_INFO == 1 && NSLICE_CHUNK_SITES == 2 && NSLICE_CHUNK_CALIBRATION == 3 &&
           NSLICE_CHUNK_RECORDS == 4 && NSLICE_CHUNK_FOOTER == 5));
}

TEST_CASE("the layout of payload structures is unchanged", "[abi]")
{
    CHECK(sizeof(nslice_file_site) == 16);
    AT(nslice_file_site, flags, 3);
    AT(nslice_file_site, line, 4);
    AT(nslice_file_site, name_bytes, 8);
    AT(nslice_file_site, pid, 12);
    CHECK(sizeof(nslice_calibration_entry) == 48);
    AT(nslice_calibration_entry, kind, 4);
    AT(nslice_calibration_entry, field, 5);
    AT(nslice_calibration_entry, degrees, 6);
    AT(nslice_calibration_entry, samples, 8);
    AT(nslice_calibration_entry, inner, 16);
    AT(nslice_calibration_entry, outer, 32);
    CHECK(sizeof(nslice_file_calibration) == 56);
    AT(nslice_file_calibration, ticks, 8);
    AT(nslice_file_calibration, clock_step_ticks, 24);
    AT(nslice_file_calibration, pid, 40);
    CHECK(sizeof(nslice_file_footer) == 64);
    AT(nslice_file_footer, end, 4);
    AT(nslice_file_footer, end_calibration_offset, 24);
    AT(nslice_file_footer, dropped_sites, 32);
    AT(nslice_file_footer, info_chunks, 40);
    AT(nslice_file_footer, kernel_site_chunks, 60);
    CHECK(sizeof(nslice_file_footer_cpu) == 96);
    AT(nslice_file_footer_cpu, issued, 16);
    AT(nslice_file_footer_cpu, drained, 24);
    AT(nslice_file_footer_cpu, lost, 32);
    CHECK((NSLICE_END_CLOSED == 1 && NSLICE_END_INTERRUPTED == 2 && NSLICE_END_KILLED == 3 &&
           NSLICE_END_WRITE_ERROR == 4));
}

TEST_CASE("the layout of structures inside compiled programs is unchanged", "[abi]")
{
    CHECK(sizeof(nsp_site) == 32);
    AT(nsp_site, file, 8);
    AT(nsp_site, line, 16);
    AT(nsp_site, head_bits, 20);
    AT(nsp_site, mode, 24);
    CHECK(sizeof(nsp_slice) == 64);
    CHECK(sizeof(struct nsp_detail_state) == 128);
    AT(struct nsp_detail_state, mode, NSP_DETAIL_STATE_MODE);
    AT(struct nsp_detail_state, ordered, NSP_DETAIL_STATE_ORDERED);
    AT(struct nsp_detail_state, stride_bytes, NSP_DETAIL_STATE_STRIDE);
    AT(struct nsp_detail_state, rings, NSP_DETAIL_STATE_RINGS);
    AT(struct nsp_detail_state, rseq_offset, NSP_DETAIL_STATE_RSEQ);
    AT(struct nsp_detail_state, cpus, NSP_DETAIL_STATE_CPUS);
    AT(struct nsp_detail_state, general, NSP_DETAIL_STATE_GENERAL);
    AT(struct nsp_detail_state, counted, NSP_DETAIL_STATE_COUNTED);
    CHECK((NSP_DETAIL_STATE_RINGS == 16 && NSP_DETAIL_STATE_RSEQ == 24 &&
           NSP_DETAIL_STATE_CPUS == 32));
    CHECK((NSP_DETAIL_STATE_GENERAL == 64 && NSP_DETAIL_STATE_COUNTED == 72));
    CHECK(sizeof(nsp_session_config) == 104);
    AT(nsp_session_config, output, 8);
    AT(nsp_session_config, counters, 16);
    AT(nsp_session_config, ring_bytes, 40);
    AT(nsp_session_config, has_file, 68);
    AT(nsp_session_config, slices, 80);
    AT(nsp_session_config, file, 72);
    AT(nsp_session_config, counter_period, 96);
    CHECK(sizeof(nsp_session_counts) == 88);
}

TEST_CASE("the session's memory begins with a page of settings, then announcements, then the rings",
          "[abi]")
{
    CHECK(NSLICE_SESSION_VERSION == 2);
    CHECK(sizeof(nslice_session) == 2136);
    AT(nslice_session, ring_bytes, 32);
    AT(nslice_session, ring_kind, 40);
    AT(nslice_session, joined, 48);
    AT(nslice_session, announce_tail, 64);
    AT(nslice_session, counters, 80);
    AT(nslice_session, refusal, 336);
    AT(nslice_session, memory_reason, 848);
    CHECK(sizeof(nslice_announcement) == 8);
    CHECK(NSLICE_SESSION_RINGS_OFFSET == 4096 + (64u << 20));
    CHECK(NSLICE_SESSION_RING_OFFSET(2, 8192) == NSLICE_SESSION_RINGS_OFFSET + 2 * (4096 + 8192));
}

TEST_CASE("requests to the module begin with their size, and their layout is unchanged", "[abi]")
{
    CHECK(NSLICE_CONTROL_VERSION == 1);
    CHECK(sizeof(nslice_version_request) == 56);
    AT(nslice_version_request, release, 24);
    CHECK(sizeof(nslice_session_request) == 32);
    AT(nslice_session_request, ring_bytes, 8);
    AT(nslice_session_request, memory_bytes, 24);
    CHECK(sizeof(nslice_reader_request) == 16);
    CHECK(sizeof(nslice_session_entry) == 48);
    CHECK(sizeof(nslice_list_request) == 24);
    CHECK(sizeof(nslice_kernel_request) == 72);
    AT(nslice_kernel_request, counters_count, 12);
    AT(nslice_kernel_request, counters, 24);
    AT(nslice_kernel_request, groups_bytes, 40);
    AT(nslice_kernel_request, pid, 48);
    AT(nslice_kernel_request, slices, 56);
    AT(nslice_kernel_request, slices_bytes, 64);
    CHECK(sizeof(nslice_slices_request) == 24);
    CHECK(offsetof(nslice_slices_request, slices_bytes) == 16);
    CHECK(sizeof(nslice_kernel_counter) == 64);
    AT(nslice_kernel_counter, name, 24);
    CHECK(sizeof(nslice_text_request) == 24);
    CHECK(sizeof(nslice_measure_request) == 32);
    CHECK(offsetof(nslice_measure_request, cpu) == 24);
    CHECK(NSLICE_IOC_VERSION == 0xc038bd00);
    CHECK(NSLICE_IOC_SESSION == 0xc020bd01);
    CHECK(NSLICE_IOC_END == 0xbd02);
    CHECK(NSLICE_IOC_READER == 0xc010bd03);
    CHECK(NSLICE_IOC_LIST == 0xc018bd04);
    CHECK(NSLICE_IOC_KERNEL == 0xc048bd05);
    CHECK(NSLICE_IOC_GROUPS == 0xc018bd06);
    CHECK(NSLICE_IOC_SLICES == 0x4018bd08);
    CHECK(NSLICE_IOC_MEASURE == 0xc020bd07);
}

TEST_CASE("the kernel's chunks have their own kinds and ids", "[abi]")
{
    CHECK((NSLICE_CHUNK_KERNEL_RECORDS == 6 && NSLICE_CHUNK_KERNEL_TOTALS == 7 &&
           NSLICE_CHUNK_KERNEL_CALIBRATION == 8 && NSLICE_CHUNK_KERNEL_SITES == 9));
    CHECK(NSLICE_KERNEL_FIRST_ID == 0xf000);
    CHECK(sizeof(nslice_file_kernel_totals) == 16);
    CHECK(sizeof(nslice_kernel_calibration_entry) == 40);
    AT(nslice_kernel_calibration_entry, kind, 4);
    AT(nslice_kernel_calibration_entry, field, 5);
    AT(nslice_kernel_calibration_entry, batches, 6);
    AT(nslice_kernel_calibration_entry, inner_sum, 8);
    AT(nslice_kernel_calibration_entry, inner_squares, 16);
    AT(nslice_kernel_calibration_entry, outer_sum, 24);
    AT(nslice_kernel_calibration_entry, outer_squares, 32);
    CHECK(sizeof(nslice_file_kernel_calibration) == 24);
    AT(nslice_file_kernel_calibration, phase, 4);
    AT(nslice_file_kernel_calibration, ticks, 8);
    AT(nslice_file_kernel_calibration, mono_ns, 16);
    CHECK((NSLICE_SITE_INTERRUPT == 1 && NSLICE_SITE_SWITCH == 2 && NSLICE_SITE_IN_PROGRAM == 4));
    CHECK(NSLICE_ENTRY_IN_PROGRAM == 0x10);
    CHECK((NSLICE_ENTRY_OVERTAKING == 0x10 && NSLICE_ENTRY_ALONE == 0x80));
    CHECK((NSLICE_WAY_SHIFT == 5 && NSLICE_WAY_MASK == 0x60));
    CHECK((NSLICE_WAY_UPROBE_EMULATED == 1 && NSLICE_WAY_UPROBE_STEPPED == 2 &&
           NSLICE_WAY_UPROBE_OPTIMISED == 3));
    CHECK((NSLICE_WAY_SLED == 1 && NSLICE_WAY_ENTRY == 2));
}
