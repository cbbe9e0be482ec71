// SPDX-License-Identifier: MIT
// Grace period: which readers a writer waits for.
#include "client/grace_period.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.hpp"

using namespace mapi::client;

namespace
{
void wait_until(const std::atomic<bool> &flag)
{
    while (!flag)
        std::this_thread::yield();
}

void read_once(int)
{
    const ReadSection section;
}
} // namespace

TEST_CASE("a writer waits for the read section that another thread is in", "[mapi-core][client]")
{
    std::atomic<bool> is_inside = false, may_leave = false, has_waited = false;
    std::thread reader([&] {
        const ReadSection section;
        is_inside = true;
        wait_until(may_leave);
        CHECK_FALSE(has_waited);
    });
    wait_until(is_inside);
    std::thread writer([&] {
        wait_for_readers();
        has_waited = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK_FALSE(has_waited);
    may_leave = true;
    reader.join();
    writer.join();
    CHECK(has_waited);
}

TEST_CASE("a signal handler's section does not end the one that it interrupts",
          "[mapi-core][client]")
{
    const ReadSection section;
    const uint32_t inside = own_reader->sections;
    signal(SIGUSR1, read_once);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    CHECK(own_reader->sections == inside);
    CHECK(inside == 1);
}

TEST_CASE("an object is not freed while a reader may still see it", "[mapi-core][client]")
{
    struct Thing {
        std::atomic<int> value = 1;
    };
    std::atomic<Thing *> shown = new Thing;
    std::atomic<bool> is_over = false;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            while (!is_over) {
                const ReadSection section;
                wrong += shown.load(std::memory_order_acquire)->value != 1;
            }
        });
    }
    for (int i = 0; i < 2000; ++i) {
        Thing *const before = shown.exchange(new Thing);
        wait_for_readers();
        before->value = 0;
        delete before;
    }
    is_over = true;
    for (std::thread &reader : readers)
        reader.join();
    delete shown;
    CHECK(wrong == 0);
}

TEST_CASE("a thread that has ended leaves its slot to the next one", "[mapi-core][client]")
{
    const auto place_of_a_thread = [] {
        ReaderThread *place = nullptr;
        std::thread([&] {
            const ReadSection section;
            place = own_reader;
        }).join();
        return place;
    };
    CHECK(place_of_a_thread() == place_of_a_thread());
}

TEST_CASE("a child does not wait for readers that only its parent has", "[mapi-core][client]")
{
    std::atomic<bool> is_inside = false, may_leave = false;
    std::thread reader([&] {
        const ReadSection section;
        is_inside = true;
        wait_until(may_leave);
    });
    wait_until(is_inside);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        wait_for_readers();
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    may_leave = true;
    reader.join();
}
