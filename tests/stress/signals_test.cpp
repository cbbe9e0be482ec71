// SPDX-License-Identifier: MIT
// Probes in handlers that interrupt probes: frequent signals abort thousands of sequences.
#include "work.hpp"

#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>

using namespace stress;

namespace
{
constexpr uint64_t kHandled = 4000;
std::atomic<uint64_t> handled; // by any thread, even while it is ending

void handler(int)
{
    write_unit(~0ull);
    handled.fetch_add(1, std::memory_order_relaxed);
}

void install(int number, int flags)
{
    struct sigaction action {
    };
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART | flags;
    sigaction(number, &action, nullptr);
}

// Signals from a timer and from another thread; handlers interrupt each other (SA_NODEFER: they
// nest).
void storm(const std::string &options)
{
    INFO(options);
    install(SIGUSR1, SA_NODEFER);
    install(SIGUSR2, 0);
    install(SIGALRM, 0);
    handled = 0;
    test_support::ProbeSession session(options);
    std::atomic<bool> done{false};
    std::atomic<int> ready{0};
    pthread_t target[2];
    const itimerval often{{0, 200}, {0, 200}};
    std::thread shooter([&] {
        while (ready < 2)
            ;
        for (int i = 0; !done; ++i) {
            pthread_kill(target[i % 2], i % 3 ? SIGUSR1 : SIGUSR2);
            if (i % 4 == 0)
                usleep(20);
        }
    });
    std::atomic<int> finished{0};
    setitimer(ITIMER_REAL, &often, nullptr);
    const auto issued = run_threads(2, [&](unsigned i) {
        target[i] = pthread_self();
        ++ready;
        uint64_t own = 0;
        while (handled < kHandled)
            own += write_units(100);
        ++finished;
        while (finished < 2)
            ; // the other thread still sends signals here
        if (i == 0)
            done = true, shooter.join();
        else
            while (!done)
                ;
        return own;
    });
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    const auto result = session.close();
    require_accounted(result, issued + handled * kUnitRecords);
    REQUIRE(is_whole(result.trace));
}
} // namespace

TEST_CASE("frequent signals with probes in the handlers cause no uncounted losses",
          "[stress][signals]")
{
    for (const auto &kind : kinds())
        for (const char *full :
             {" full=discard ring=1M", " full=overwrite ring=16K", " full=discard ring=4K"})
            storm("calibration=no " + kind + full);
}
