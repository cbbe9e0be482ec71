// SPDX-License-Identifier: MIT
// Function catalogue: one line for each built-in function.
#include "functions/catalog.hpp"

namespace mapi::functions
{
namespace
{
constexpr const mapi_function *kFunctions[] = {
    // filters
    &mapi_fn_bpf_filter,
    &mapi_fn_str_search,
    &mapi_fn_regexp,
    &mapi_fn_match,
    &mapi_fn_connection,
    &mapi_fn_connection_bits,
    &mapi_fn_rate_filter,
    &mapi_fn_interface,
    &mapi_fn_startstop,
    &mapi_fn_sync,
    &mapi_fn_sample,
    &mapi_fn_sample_packets,
    &mapi_fn_hashsamp,
    &mapi_fn_pktselect,
    &mapi_fn_track,
    &mapi_fn_track_ftp,
    &mapi_fn_track_dc,
    &mapi_fn_track_gnutella,
    &mapi_fn_track_edonkey,
    &mapi_fn_track_torrent,
    &mapi_fn_track_irc,
    &mapi_fn_track_skype,
    &mapi_fn_track_web,
    &mapi_fn_track_mapi,
    &mapi_fn_track_grid_ftp,
    &mapi_fn_track_ipoverip,
    // values
    &mapi_fn_pkt_counter,
    &mapi_fn_byte_counter,
    &mapi_fn_pktinfo,
    &mapi_fn_gap,
    &mapi_fn_hash,
    &mapi_fn_burst,
    &mapi_fn_perf_start,
    &mapi_fn_perf_stop,
    &mapi_fn_top,
    // computed from other functions' values
    &mapi_fn_binop,
    &mapi_fn_stats,
    &mapi_fn_dist,
    &mapi_fn_bucket,
    &mapi_fn_threshold,
    &mapi_fn_res2file,
    // flows
    &mapi_fn_expired_flows,
    &mapi_fn_flow_report,
    // modified packets
    &mapi_fn_anonymize,
    &mapi_fn_anonymizeip,
    &mapi_fn_cooking,
    &mapi_fn_uncook,
    // packet output
    &mapi_fn_to_buffer,
    &mapi_fn_to_file,
    &mapi_fn_inject,
};
} // namespace

std::span<const mapi_function *const> catalog()
{
    return kFunctions;
}
} // namespace mapi::functions
