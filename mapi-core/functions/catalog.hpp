// SPDX-License-Identifier: MIT
// Function catalogue: the list of built-in functions.
#pragma once

#include <span>

#include <mapi/function.h>

extern "C" {
extern const mapi_function mapi_fn_anonymize;
extern const mapi_function mapi_fn_anonymizeip;
extern const mapi_function mapi_fn_binop;
extern const mapi_function mapi_fn_bpf_filter;
extern const mapi_function mapi_fn_bucket;
extern const mapi_function mapi_fn_burst;
extern const mapi_function mapi_fn_byte_counter;
extern const mapi_function mapi_fn_cooking;
extern const mapi_function mapi_fn_dist;
extern const mapi_function mapi_fn_expired_flows;
extern const mapi_function mapi_fn_flow_report;
extern const mapi_function mapi_fn_gap;
extern const mapi_function mapi_fn_hash;
extern const mapi_function mapi_fn_hashsamp;
extern const mapi_function mapi_fn_inject;
extern const mapi_function mapi_fn_interface;
extern const mapi_function mapi_fn_match;
extern const mapi_function mapi_fn_perf_start;
extern const mapi_function mapi_fn_perf_stop;
extern const mapi_function mapi_fn_pkt_counter;
extern const mapi_function mapi_fn_pktinfo;
extern const mapi_function mapi_fn_pktselect;
extern const mapi_function mapi_fn_regexp;
extern const mapi_function mapi_fn_res2file;
extern const mapi_function mapi_fn_sample;
extern const mapi_function mapi_fn_sample_packets;
extern const mapi_function mapi_fn_startstop;
extern const mapi_function mapi_fn_stats;
extern const mapi_function mapi_fn_str_search;
extern const mapi_function mapi_fn_connection;
extern const mapi_function mapi_fn_connection_bits;
extern const mapi_function mapi_fn_rate_filter;
extern const mapi_function mapi_fn_sync;
extern const mapi_function mapi_fn_threshold;
extern const mapi_function mapi_fn_to_buffer;
extern const mapi_function mapi_fn_to_file;
extern const mapi_function mapi_fn_top;
extern const mapi_function mapi_fn_track;
extern const mapi_function mapi_fn_track_dc;
extern const mapi_function mapi_fn_track_edonkey;
extern const mapi_function mapi_fn_track_ftp;
extern const mapi_function mapi_fn_track_gnutella;
extern const mapi_function mapi_fn_track_grid_ftp;
extern const mapi_function mapi_fn_track_ipoverip;
extern const mapi_function mapi_fn_track_irc;
extern const mapi_function mapi_fn_track_mapi;
extern const mapi_function mapi_fn_track_skype;
extern const mapi_function mapi_fn_track_torrent;
extern const mapi_function mapi_fn_track_web;
extern const mapi_function mapi_fn_uncook;
}

namespace mapi::functions
{
std::span<const mapi_function *const> catalog();
} // namespace mapi::functions
