// SPDX-License-Identifier: MIT
// Function catalogue: one line for each built-in function.
#include "functions/catalog.hpp"

namespace mapi::functions
{
namespace
{
constexpr const mapi_function *kFunctions[] = {
    // filters
    &mapi_fn_bpf_filter, &mapi_fn_str_search, &mapi_fn_regexp, &mapi_fn_interface, &mapi_fn_startstop,
    &mapi_fn_sample, &mapi_fn_sample_packets, &mapi_fn_hashsamp,
    // values
    &mapi_fn_pkt_counter, &mapi_fn_byte_counter, &mapi_fn_pktinfo, &mapi_fn_gap, &mapi_fn_hash, &mapi_fn_burst,
    // of other functions' values
    &mapi_fn_binop, &mapi_fn_stats, &mapi_fn_dist, &mapi_fn_bucket, &mapi_fn_threshold, &mapi_fn_res2file,
    // other packets
    &mapi_fn_anonymize, &mapi_fn_anonymizeip,
    // packets
    &mapi_fn_to_buffer, &mapi_fn_to_file,
};
} // namespace

std::span<const mapi_function *const> catalog()
{
    return kFunctions;
}
} // namespace mapi::functions
