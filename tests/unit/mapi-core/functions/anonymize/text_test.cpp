// SPDX-License-Identifier: MIT
// HTTP and FTP: which part of a message is which field, and what remains when it is removed.
#include <netinet/in.h>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;

namespace
{
std::string after(const std::string &rule, const std::string &segment, uint16_t source = 1025,
                  uint16_t destination = 80)
{
    const Bytes packet =
        treat(rule, ethernet(0x0800, ipv4(IPPROTO_TCP, tcp(text(segment), source, destination))))
            .bytes;
    return {packet.begin() + 14 + 40, packet.end()};
}

std::string to_server(const std::string &rule, const std::string &segment)
{
    return after("FTP," + rule, segment, 1025, 21);
}

std::string from_server(const std::string &rule, const std::string &segment)
{
    return after("FTP," + rule, segment, 21, 1025);
}

const std::string kRequest =
    "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nUser-Agent: x/1 (y)\r\nCookie: id=7\r\n\r\n";
const std::string kResponse =
    "HTTP/1.1 404 Not Found\r\nserver : nginx\r\nContent-Length: 4\r\n\r\noops";

std::string with(std::string text, const std::string &old, const std::string &other)
{
    return text.replace(text.find(old), old.size(), other);
}
} // namespace

TEST_CASE("parts of a request are found in their places", "[mapi-core][anonymize]")
{
    CHECK(after("HTTP,METHOD,REPLACE,PUT", kRequest) == with(kRequest, "GET", "PUT"));
    CHECK(after("HTTP,URI,REPLACE,/", kRequest) == with(kRequest, "/a?b=c", "/"));
    CHECK(after("HTTP,HTTP_VERSION,REPLACE,HTTP/9", kRequest) ==
          with(kRequest, "HTTP/1.1", "HTTP/9"));
    CHECK(after("HTTP,HOST,REPLACE,h", kRequest) == with(kRequest, "example.org", "h"));
    CHECK(after("HTTP,USER_AGENT,STRIP", kRequest) ==
          with(kRequest, "User-Agent: x/1 (y)\r\n", ""));
    CHECK(after("HTTP,USER_AGENT,STRIP,3", kRequest) == with(kRequest, "x/1 (y)", "x/1"));
    CHECK(after("HTTP,COOKIE,PATTERN_FILL,STR,-", kRequest) == with(kRequest, "id=7", "----"));
    CHECK(after("HTTP,SET_COOKIE,ZERO", kRequest) == kRequest);
    CHECK(after("HTTP,RESPONSE_CODE,ZERO", kRequest) == kRequest);
}

TEST_CASE("parts of a response are found in their places, whatever the case of a name",
          "[mapi-core][anonymize]")
{
    CHECK(after("HTTP,RESPONSE_CODE,REPLACE,200", kResponse) == with(kResponse, "404", "200"));
    CHECK(after("HTTP,RESP_CODE_DESCR,REPLACE,OK", kResponse) ==
          with(kResponse, "Not Found", "OK"));
    CHECK(after("HTTP,SERVER,REPLACE,s", kResponse) == with(kResponse, "nginx", "s"));
    CHECK(after("HTTP,PAYLOAD,REPLACE,-", kResponse) == with(kResponse, "oops", "-"));
    CHECK(after("HTTP,PAYLOAD,STRIP", kResponse) == with(kResponse, "oops", ""));
    CHECK(after("HTTP,HTTP_VERSION,STRIP", kResponse) == with(kResponse, "HTTP/1.1", ""));
    CHECK(after("HTTP,URI,ZERO", kResponse) == kResponse);
}

TEST_CASE("every header of MAPI 2's list is found by its name on the wire",
          "[mapi-core][anonymize]")
{
    using namespace mapi::anonymize;
    for (int i = int(Field::kUserAgent); i <= int(Field::kRefresh); ++i) {
        const std::string wire(wire_name_of(Field(i)));
        const std::string request =
            "GET / HTTP/1.0\r\n" + wire + ": value\r\nX-Other: value\r\n\r\n";
        INFO(wire);
        CHECK(after("HTTP," + std::string(name_of(Field(i))) + ",REPLACE,v", request) ==
              with(request, "value", "v"));
    }
}

TEST_CASE("pipelined messages are all treated", "[mapi-core][anonymize]")
{
    CHECK(after("HTTP,URI,REPLACE,/", kRequest + kRequest) ==
          with(with(kRequest + kRequest, "/a?b=c", "/"), "/a?b=c", "/"));
    CHECK(after("HTTP,COOKIE,STRIP", kRequest + kRequest) ==
          with(with(kRequest + kRequest, "Cookie: id=7\r\n", ""), "Cookie: id=7\r\n", ""));
    const std::string head =
        with(kResponse, "oops", "") + kResponse; // a response to HEAD has no body
    CHECK(after("HTTP,SERVER,REPLACE,s", head) == with(with(head, "nginx", "s"), "nginx", "s"));
    const std::string unchanged = "HTTP/1.1 304 Not Modified\r\n\r\n" + kResponse;
    CHECK(after("HTTP,SERVER,REPLACE,s", unchanged) == with(unchanged, "nginx", "s"));
}

TEST_CASE("a message that ends in another segment is treated as far as it is present",
          "[mapi-core][anonymize]")
{
    CHECK(after("HTTP,COOKIE,REPLACE,-", "GET / HTTP/1.1\r\nCookie: half of i") ==
          "GET / HTTP/1.1\r\nCookie: -");
    CHECK(after("HTTP,URI,REPLACE,-", "GET /half") == "GET -");
    CHECK(after("HTTP,PAYLOAD,ZERO", "HTTP/1.0 200 OK\r\n\r\nhalf") ==
          "HTTP/1.0 200 OK\r\n\r\n" + std::string(4, '\0'));
}

TEST_CASE("headers continued from the previous segment are hidden, also a partial first line",
          "[mapi-core][anonymize]")
{
    const std::string rest = "cret=1\r\nCookie: id=7\r\nHost: h\r\n\r\n";
    CHECK(after("HTTP,COOKIE,REPLACE,-", rest) ==
          std::string(6, '\0') + "\r\nCookie: -\r\nHost: h\r\n\r\n");
    CHECK(after("HTTP,COOKIE,REPLACE,-", rest, 80, 1025) ==
          std::string(6, '\0') + "\r\nCookie: -\r\nHost: h\r\n\r\n");
    CHECK(after("HTTP,COOKIE,STRIP", "cret=1\r\n\r\n") == std::string(6, '\0') + "\r\n\r\n");
    CHECK(after("HTTP,COOKIE,STRIP", "\r\nCookie: id=7\r\n\r\n" + kRequest) ==
          "\r\n\r\n" + with(kRequest, "Cookie: id=7\r\n", ""));
    CHECK(after("HTTP,URI,ZERO", rest) == rest);
    CHECK(after("HTTP,PAYLOAD,ZERO", rest + "abc", 80, 1025) == rest + std::string(3, '\0'));
    CHECK(after("HTTP,COOKIE,ZERO", rest, 1025, 4000) == rest); // not a port of HTTP
    CHECK(after("HTTP,COOKIE,ZERO", "<html>\r\n<body>\r\n") == "<html>\r\n<body>\r\n");
    CHECK(after("HTTP,COOKIE,ZERO", "all of one line") == "all of one line"); // cannot be known
}

TEST_CASE("a value that is folded over several lines is hidden to its end",
          "[mapi-core][anonymize]")
{
    const std::string folded =
        "GET / HTTP/1.1\r\nCookie: one\r\n two\r\n\tthree\r\nHost: h\r\n\r\n";
    CHECK(after("HTTP,COOKIE,REPLACE,-", folded) ==
          "GET / HTTP/1.1\r\nCookie: -\r\nHost: h\r\n\r\n");
    CHECK(after("HTTP,COOKIE,STRIP", folded) == "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(after("HTTP,HOST,REPLACE,-", with(folded, "\r\n", "\n")) ==
          with(with(folded, "\r\n", "\n"), ": h", ": -"));
}

TEST_CASE("HTTP is recognised by its keywords on any port, and other text is left unchanged",
          "[mapi-core][anonymize]")
{
    CHECK(after("HTTP,URI,REPLACE,/", kRequest, 4000, 8080) == with(kRequest, "/a?b=c", "/"));
    CHECK(after("HTTP,SRC_PORT,ZERO", "\r\nGET") == "\r\nGET");
    CHECK(after("HTTP,URI,ZERO", "GET key\r\n") == "GET key\r\n");
    CHECK(after("HTTP,PAYLOAD,ZERO", "SSH-2.0-x\r\n") == "SSH-2.0-x\r\n");
}

TEST_CASE("commands of FTP are recognised by their keywords, and their arguments are hidden",
          "[mapi-core][anonymize]")
{
    CHECK(to_server("USER,REPLACE,x", "USER joe\r\n") == "USER x\r\n");
    CHECK(to_server("PASS,ZERO", "pass a b\r\n") == std::string("pass \0\0\0\r\n", 10));
    CHECK(to_server("PASS,STRIP", "USER joe\r\nPASS secret\r\n") == "USER joe\r\n");
    CHECK(to_server("FTP_TYPE,REPLACE,A", "TYPE I\r\n") == "TYPE A\r\n");
    CHECK(to_server("PORT,REPLACE,-", "PORT 10,0,0,1,4,5\r\n") == "PORT -\r\n");
    CHECK(to_server("RETR,FILENAME_RANDOM", "RETR a.txt\r\n").substr(6) == ".txt\r\n");
    CHECK(to_server("PWD,ZERO", "PWD\r\n") == "PWD\r\n");
    CHECK(to_server("USER,ZERO", "USERS joe\r\n") == "USERS joe\r\n");
    CHECK(to_server("FTP_RESPONSE_ARG,ZERO", "USER joe\r\n") == "USER joe\r\n");
    CHECK(after("FTP,USER,ZERO", "USER joe\r\n") == "USER joe\r\n"); // port 80
}

TEST_CASE("every command of MAPI 2's list is found", "[mapi-core][anonymize]")
{
    using namespace mapi::anonymize;
    for (int i = int(Field::kUser); i <= int(Field::kSite); ++i) {
        const std::string word(wire_name_of(Field(i)));
        INFO(word);
        CHECK(to_server(std::string(name_of(Field(i))) + ",REPLACE,v",
                        "NOOP x\r\n" + word + " value\r\n")
                  .ends_with(word + " v\r\n"));
    }
}

TEST_CASE("codes and texts of FTP's replies are distinguished, over several lines",
          "[mapi-core][anonymize]")
{
    const std::string reply = "230-Hello joe\r\nmore\r\n230 Done\r\n";
    CHECK(from_server("FTP_RESPONSE_CODE,REPLACE,9", reply) == "9-Hello joe\r\nmore\r\n9 Done\r\n");
    CHECK(from_server("FTP_RESPONSE_ARG,REPLACE,.", reply) == "230-.\r\n.\r\n230 .\r\n");
    CHECK(from_server("USER,ZERO", "USER joe\r\n") == "USER joe\r\n");
    CHECK(from_server("PAYLOAD,STRIP", reply).empty());
}
