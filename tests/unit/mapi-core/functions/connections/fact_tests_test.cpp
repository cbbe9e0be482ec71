// SPDX-License-Identifier: MIT
// Tests of what a connection has had: their text, and which facts they accept.
#include "functions/connections/fact_tests.hpp"
#include "functions/connections/tls_state.hpp"
#include "support/catch.hpp"

namespace
{
using namespace mapi::connections;

bool accepts(std::string_view text, const Facts &facts)
{
    const auto test = read_fact_test({text, 0});
    REQUIRE(test);
    return std::visit([&](const auto &one) { return one.accepts(facts); }, *test);
}

Facts tls_facts(uint32_t set)
{
    Facts facts;
    facts.tls = tls::kRead | set;
    return facts;
}

Facts sizes(uint32_t client, uint32_t server)
{
    Facts facts;
    facts.has_bytes = true;
    facts.bytes = {client, server};
    return facts;
}

std::string refusal_of(std::string_view text)
{
    try {
        return read_fact_test({text, 0}) ? "accepted" : "another";
    } catch (const TextError &error) {
        return error.what();
    }
}
} // namespace

TEST_CASE("one of several versions or states is enough", "[connections]")
{
    CHECK(accepts("ssl_version:sslv3,tls1.0", tls_facts(tls::kTls10)));
    CHECK_FALSE(accepts("ssl_version:sslv3,tls1.0", tls_facts(tls::kTls12)));
    CHECK(accepts("ssl_state: client_hello , unknown", tls_facts(tls::kUnknown)));
    CHECK_FALSE(accepts("ssl_state:server_keyx", tls_facts(tls::kServerHello)));
}

TEST_CASE("a negated version or state is one that a TLS connection lacks", "[connections]")
{
    CHECK(accepts("ssl_version:!sslv3", tls_facts(tls::kTls10)));
    CHECK_FALSE(accepts("ssl_version:!sslv3", tls_facts(tls::kSsl3 | tls::kTls10)));
    CHECK_FALSE(accepts("ssl_version:!sslv3", {})); // no TLS
    CHECK(accepts("ssl_state:!client_hello,server_hello", tls_facts(tls::kServerHello)));
    CHECK_FALSE(accepts("ssl_state:!client_hello,server_hello", tls_facts(tls::kClientHello)));
}

TEST_CASE("stream_size compares the bytes of a side", "[connections]")
{
    CHECK(accepts("stream_size:client,>,9", sizes(10, 1)));
    CHECK_FALSE(accepts("stream_size:server,>,9", sizes(10, 1)));
    CHECK(accepts("stream_size:either,>=,10", sizes(1, 10)));
    CHECK_FALSE(accepts("stream_size:both,>=,10", sizes(1, 10)));
    CHECK(accepts("stream_size:client,=,7", sizes(7, 0)));
    CHECK(accepts("stream_size:client,!=,7", sizes(8, 0)));
    CHECK(accepts("stream_size:client,<,7", sizes(6, 0)));
    CHECK_FALSE(accepts("stream_size:client,<=,6", sizes(7, 0)));
    CHECK_FALSE(accepts("stream_size:client,>=,0", {})); // the begin was not seen
}

TEST_CASE("a mistake in a test is reported with its place", "[connections]")
{
    CHECK(refusal_of("isset:a") == "another");
    CHECK(refusal_of("established,to_server") == "another");
    CHECK(refusal_of("ssl_version:tls1.0, tls1.3") ==
          "at 20: \"tls1.3\" is none of sslv2, sslv3, tls1.0, tls1.1, tls1.2");
    CHECK(refusal_of("ssl_state:!x").starts_with("at 11: \"x\" is none of client_hello, "));
    CHECK(refusal_of("stream_size:client,>") ==
          "at 12: a side, an operator and a number of bytes are expected");
    CHECK(refusal_of("stream_size:all,>,1") ==
          "at 12: \"all\" is none of client, server, both, either");
    CHECK(refusal_of("stream_size:both,~,1") == "at 17: \"~\" is none of <, <=, =, !=, >=, >");
    CHECK(refusal_of("stream_size:both,>,-1") == "at 19: \"-1\" is not a number of bytes");
}
