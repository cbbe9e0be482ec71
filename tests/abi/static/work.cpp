// SPDX-License-Identifier: MIT
// static: probes before, in and after main().
#include <string>

#include <nsprobe/probe.h>

namespace
{
struct Global {
    Global() { NET_SLICE_SCOPE(global); }
    ~Global() { NET_SLICE_SCOPE(global); }
} global;
} // namespace

int main(int argc, char **argv)
{
    std::string text;
    if (argc > 1 && NET_SLICE_CONF(argv[1]) != 0)
        return 3;
    for (unsigned i = 0; i < 1000; ++i) {
        NET_SLICE_SCOPE(work);
        text += std::to_string(i);
    }
    return text.empty();
}
