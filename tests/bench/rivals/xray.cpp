// SPDX-License-Identifier: MIT
// LLVM XRay in mode FDR (flight data recorder): entry and exit of a function.  xray.py counts the
// events in its log.
#include "rounds.hpp"

#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

extern "C" [[gnu::noinline, clang::xray_always_instrument]] void rival_event()
{
    __asm__ volatile("" ::: "memory");
}

[[gnu::noinline, clang::xray_never_instrument]] static void untraced()
{
    __asm__ volatile("" ::: "memory");
}

namespace
{
// The only non-default option: by default, calls below 5 us are not recorded, so none of these
// would be.
void start_log()
{
    if (__xray_log_select_mode("xray-fdr") != XRAY_REGISTRATION_OK ||
        __xray_log_init_mode("xray-fdr", "func_duration_threshold_us=0") != XRAY_LOG_INITIALIZED)
        rival::skip("XRay's mode FDR cannot start");
    if (__xray_patch() != SUCCESS)
        rival::skip("XRay cannot patch the program's code");
}

bool write_log()
{
    __xray_unpatch();
    return __xray_log_finalize() == XRAY_LOG_FINALIZED && __xray_log_flushLog() == XRAY_LOG_FLUSHED;
}
} // namespace

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    start_log();
    const rival::Cost cost = rival::measure(
        plan, [] { rival_event(); }, [] { untraced(); });
    if (!write_log()) {
        std::fprintf(stderr, "XRay did not write its log\n");
        return 1;
    }
    rival::print(
        {"rival_xray_ns", "LLVM XRay, FDR", "its own cost; does not count recycled events",
         "clang " + std::to_string(__clang_major__) +
             "; half a call: entry and exit are one event each; the call itself is subtracted",
         2},
        cost);
    return 0;
}
