// SPDX-License-Identifier: MIT
// What one client holds is counted, refused beyond its limits by name, and released with its
// holder.
#include "daemon/session/client_quotas.hpp"

#include <unistd.h>

#include "engine/error.hpp"
#include "support/catch.hpp"

using mapi::daemon::ClientQuotas;
using mapi::daemon::Limits;
using mapi::daemon::Peer;
using mapi::daemon::QuotaUses;
using mapi::daemon::Users;

namespace
{
Limits few()
{
    Limits limits;
    limits.flows = 2;
    limits.functions = 3;
    limits.files = 5;
    return limits;
}

template <class Call> std::string refusal(Call call)
{
    try {
        call();
        return "";
    } catch (const mapi::Error &error) {
        CHECK(error.number() == MAPI_LIMIT_REACHED);
        return error.what();
    }
}
} // namespace

TEST_CASE("a request beyond a limit is refused with the count, the limit and its name",
          "[mapi-core][daemon]")
{
    const ClientQuotas quotas(few());
    QuotaUses held = quotas.nothing();
    for (int i = 0; i < 2; ++i)
        quotas.add_place(held);
    CHECK(refusal([&] { quotas.add_place(held); }) ==
          "the client has 2 flows and captures; mapid's limit is 2 (--max-flows)");
    for (int i = 0; i < 3; ++i)
        quotas.add_function(held);
    CHECK_THAT(refusal([&] { quotas.add_function(held); }),
               Catch::Contains("3 functions") && Catch::Contains("(--max-functions)"));
    quotas.add_files(held, 4);
    CHECK_THAT(refusal([&] { quotas.add_files(held, 2); }),
               Catch::Contains("4 files open") && Catch::Contains("LimitNOFILE="));
    quotas.add_files(held, 1);
    quotas.add_written(held, 256);
    CHECK_THAT(refusal([&] { quotas.add_written(held, 1); }),
               Catch::Contains("256 functions that write or send"));
}

TEST_CASE("what a holder had is available again when it is destroyed, also after a transfer",
          "[mapi-core][daemon]")
{
    const ClientQuotas quotas(few());
    {
        QuotaUses flow = quotas.nothing();
        quotas.add_place(flow);
        {
            QuotaUses function = quotas.nothing();
            quotas.add_function(function);
            quotas.add_files(function, 5);
            flow.take_over(std::move(function));
        }
        QuotaUses other = quotas.nothing();
        CHECK_FALSE(refusal([&] { quotas.add_files(other, 1); }).empty());
    }
    QuotaUses again = quotas.nothing();
    quotas.add_files(again, 5);
    quotas.add_function(again);
}

TEST_CASE("all clients of a user share a limit, which another user's clients do not reduce",
          "[mapi-core][daemon]")
{
    Limits limits = few();
    limits.function_bytes = 100;
    limits.user_bytes = 150;
    limits.user_files = 7;
    Users users(limits);
    const Peer nobody{1, 65534, {65534}}, somebody{2, 65533, {65533}};
    const ClientQuotas one(limits, users.of(nobody)), other(limits, users.of(nobody)),
        of_somebody(limits, users.of(somebody));
    QuotaUses held = one.nothing(), more = other.nothing(), elsewhere = of_somebody.nothing();

    one.add_files(held, 5);
    CHECK(refusal([&] { one.add_files(held, 1); }) ==
          "the client has 5 files open in mapid; mapid's limit is 5 (a share of LimitNOFILE=)");
    CHECK(refusal([&] { other.add_files(more, 3); }) ==
          "user 65534 has 5 files open in mapid; mapid's limit is 7 (a share of LimitNOFILE=)");
    other.add_files(more, 2); // what was refused is not counted
    of_somebody.add_files(elsewhere, 5);

    CHECK(one.memory()->take(100));
    CHECK_FALSE(other.memory()->take(51));
    CHECK(other.memory()->short_of(51).name() == "--max-user-memory");
    CHECK(other.memory()->short_of(101).name() == "--max-function-memory");
    CHECK(other.memory()->take(50));
    CHECK(users.of(nobody).memory->used() == 150);
    one.memory()->give_back(100);
    CHECK(users.of(nobody).memory->used() == 50);
    other.memory()->give_back(50);
}

TEST_CASE("root and mapid's own user have no per-user limit", "[mapi-core][daemon]")
{
    Limits limits = few();
    limits.user_files = 1;
    Users users(limits);

    CHECK(users.of({1, 0, {0}}).files->take(1000));
    CHECK(users.of({1, geteuid(), {0}}).files->take(1000));
}

TEST_CASE("options are counted and their length is limited", "[mapi-core][daemon]")
{
    ClientQuotas quotas(few());
    CHECK_THROWS_WITH(quotas.add_option(4097), Catch::Contains("4096 bytes"));
    for (int i = 0; i < 4096; ++i)
        quotas.add_option(10);
    CHECK_THAT(refusal([&] { quotas.add_option(10); }), Catch::Contains("4096 options"));
}

TEST_CASE("a flow and an option use memory of the client, and a flow releases it",
          "[mapi-core][daemon]")
{
    Limits limits = few();
    limits.function_bytes = 20000;
    ClientQuotas quotas(limits);
    {
        QuotaUses held = quotas.nothing();
        quotas.add_place(held);
        CHECK(quotas.memory()->used() == 8192);
        quotas.add_place(held);
        CHECK(quotas.memory()->used() == 16384);
        CHECK(refusal([&] { quotas.add_option(4000); }) ==
              "the client has 16384 bytes of memory for flows, functions and captures; mapid's "
              "limit is 20000 (--max-function-memory)");
    }
    CHECK(quotas.memory()->used() == 0);
    quotas.add_option(4000);
    CHECK(quotas.memory()->used() == 4128);
}
