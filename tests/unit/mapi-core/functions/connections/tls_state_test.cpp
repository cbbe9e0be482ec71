// SPDX-License-Identifier: MIT
// TLS state: crafted records, also damaged ones, as the SSL preprocessor of Snort 2.9 reads them.
#include "functions/connections/tls_state.hpp"
#include "support/catch.hpp"

#include "unit/mapi-core/functions/frame_bytes.hpp"

namespace
{
using namespace mapi::connections::tls;
using namespace frame_bytes;

constexpr uint32_t kShown = kVersions | kOfPayload;

Bytes record(uint8_t type, uint8_t minor, const Bytes &content)
{
    return Bytes{type, 3, minor} + half(content.size()) + content;
}

Bytes message(uint8_t type, const Bytes &content)
{
    return Bytes{type, 0} + half(content.size()) + content;
}

Bytes hello(uint8_t type, uint8_t minor)
{
    return message(type, Bytes{3, minor} + Bytes(40, 7));
}

const Bytes kClientHelloRecord = record(22, 3, hello(1, 3));
const Bytes kServerHelloRecord = record(22, 3, hello(2, 3));

uint32_t facts_of(const Bytes &payload, bool is_from_client)
{
    State state;
    state.read(payload, is_from_client);
    return state.facts() & kShown;
}
} // namespace

TEST_CASE("handshake messages count from the side that sends them", "[connections]")
{
    CHECK(facts_of(kClientHelloRecord, true) == (kTls12 | kClientHello));
    CHECK(facts_of(kServerHelloRecord, false) == (kTls12 | kServerHello));
    CHECK(facts_of(record(22, 2, message(16, Bytes(9, 1))), true) == (kTls11 | kClientKey));
    CHECK(facts_of(record(22, 1, message(12, Bytes(9, 1))), false) == (kTls10 | kServerKey));
    CHECK((facts_of(kClientHelloRecord, false) & kClientHello) == 0);
    CHECK((facts_of(kServerHelloRecord, true) & kServerHello) == 0);
    const Bytes flight = record(22, 0, hello(2, 0) + message(11, Bytes(9, 1))) +
                         record(22, 0, message(12, Bytes(9, 1)));
    CHECK(facts_of(flight, false) == (kSsl3 | kServerHello | kServerKey));
}

TEST_CASE("versions of record and hello that differ are unknown", "[connections]")
{
    CHECK(facts_of(record(22, 1, hello(1, 3)), true) ==
          (kTls10 | kTls12 | kClientHello | kUnknown));
    CHECK(facts_of(record(23, 9, Bytes(9, 1)), true) == kUnknown);
    CHECK(facts_of(Bytes{22, 3, 3}, true) == kUnknown);
    CHECK(facts_of(text("GET / HTTP/1.1\r\n\r\n"), true) & kUnknown);
}

TEST_CASE("versions stay, messages and unknown are those of the last payload", "[connections]")
{
    State state;
    state.read(record(22, 1, hello(1, 1)), true);
    state.read(kServerHelloRecord, false);
    CHECK((state.facts() & kShown) == (kTls10 | kTls12 | kServerHello));
    state.read(record(20, 3, Bytes(1, 1)), true);
    CHECK((state.facts() & kShown) == (kTls10 | kTls12));
    state.read(text("\x01\x02garbage"), true);
    CHECK((state.facts() & kShown) == (kTls10 | kTls12 | kUnknown));
}

TEST_CASE("a cut record continues in the side's next payload", "[connections]")
{
    const Bytes both = record(22, 3, hello(2, 3)) + record(22, 3, message(11, Bytes(90, 0xc1)));
    const Bytes first(both.begin(), both.end() - 60), second(both.end() - 60, both.end());
    State state;
    state.read(first, false);
    state.read(kClientHelloRecord, true);
    CHECK((state.facts() & kShown) == (kTls12 | kClientHello));
    state.read(second + record(22, 3, message(12, Bytes(9, 1))), false);
    CHECK((state.facts() & kShown) == (kTls12 | kServerKey));
    // Without the first part it looks like SSL 2.
    CHECK((facts_of(second, false) & kTls12) == 0);
}

TEST_CASE("SSL 2 is recognized by its hellos", "[connections]")
{
    const Bytes hello2 = hex("80 1c 01 00 02 0003 0000 0010") + Bytes(19, 7);
    CHECK(facts_of(hello2, true) == (kSsl2 | kClientHello));
    CHECK(facts_of(hex("80 09 04 00 01 00 02 00 00 00 00"), false) == (kSsl2 | kServerHello));
    CHECK(facts_of(hex("80 09 09 00 01 00 02 00 00 00 00"), false) == kUnknown);
    // Its hello may offer a later version, which the server takes.
    State state;
    state.read(hex("80 1c 01 03 01 0003 0000 0010") + Bytes(19, 7), true);
    CHECK((state.facts() & kShown) == (kSsl2 | kClientHello));
    state.read(kServerHelloRecord, false);
    CHECK((state.facts() & kShown) == (kTls12 | kServerHello));
}

TEST_CASE("what follows a hello that is done is never SSL 2", "[connections]")
{
    State state;
    state.read(kServerHelloRecord + record(22, 3, message(14, {})), false);
    state.read(hex("80 1c 01 00 02 0003 0000 0010") + Bytes(19, 7), true);
    CHECK((state.facts() & kShown) == (kTls12 | kUnknown));
}

TEST_CASE("cut and hostile payloads are read within their bytes", "[connections]")
{
    const Bytes whole = kServerHelloRecord + record(22, 3, message(11, Bytes(90, 1))) +
                        record(20, 3, Bytes(1, 1)) + record(22, 3, Bytes(16, 9));
    State state;
    for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
        const Bytes cut(whole.begin(), whole.begin() + long(bytes)); // so that a sanitizer sees
        state.read(cut, bytes % 2);
        CHECK((facts_of(cut, false) & (kClientHello | kClientKey | kTls11)) == 0);
    }
    uint32_t random = 1;
    for (int i = 0; i < 2000; ++i) {
        Bytes noise = whole;
        for (uint8_t &byte : noise) {
            random = random * 1664525 + 1013904223;
            if (random >> 28 == 0)
                byte = uint8_t(random >> 16);
        }
        state.read(noise, i % 2);
    }
    CHECK(state.facts() & kRead);
}
