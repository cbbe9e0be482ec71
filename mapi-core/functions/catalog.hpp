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
extern const mapi_function mapi_fn_dist;
extern const mapi_function mapi_fn_gap;
extern const mapi_function mapi_fn_hash;
extern const mapi_function mapi_fn_hashsamp;
extern const mapi_function mapi_fn_interface;
extern const mapi_function mapi_fn_pkt_counter;
extern const mapi_function mapi_fn_pktinfo;
extern const mapi_function mapi_fn_regexp;
extern const mapi_function mapi_fn_res2file;
extern const mapi_function mapi_fn_sample;
extern const mapi_function mapi_fn_sample_packets;
extern const mapi_function mapi_fn_startstop;
extern const mapi_function mapi_fn_stats;
extern const mapi_function mapi_fn_str_search;
extern const mapi_function mapi_fn_threshold;
extern const mapi_function mapi_fn_to_buffer;
extern const mapi_function mapi_fn_to_file;
}

namespace mapi::functions
{
std::span<const mapi_function *const> catalog();
} // namespace mapi::functions
