// SPDX-License-Identifier: MIT
// HTTP in one packet: its parts, and the URI without encodings.
#include "match/rule/http_parts.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"

#include "rule_packet.hpp"

using rule_test::matches;

namespace
{
std::string normalized(std::string_view raw)
{
    std::vector<uint8_t> uri;
    mapi::match::rule::normalize_uri({reinterpret_cast<const uint8_t *>(raw.data()), raw.size()},
                                     uri);
    return {uri.begin(), uri.end()};
}

constexpr const char *kRequest = "POST /a%2fb/../c//d?x=%41 HTTP/1.1\r\nHost: h.example\r\n"
                                 "Cookie: id=7\r\nContent-Length: 4\r\n\r\nbody";
constexpr const char *kResponse = "HTTP/1.1 404 Not Found\r\nServer: s\r\nSet-Cookie: k=v\r\n"
                                  "Content-Length: 5\r\n\r\nhello";
} // namespace

TEST_CASE("a URI is normalized as the server would read it", "[match][rule]")
{
    CHECK(normalized("/a/b") == "/a/b");
    CHECK(normalized("/%63gi-bin/%2e%2e/x") == "/x");
    CHECK(normalized("/a/./b//c\\d") == "/a/b/c/d");
    CHECK(normalized("/../../x") == "/x");
    CHECK(normalized("/a?b=/../%20//") == "/a?b=/../ //");
    CHECK(normalized("/%zz%") == "/%zz%");
    CHECK(normalized("http://h//x") == "http://h/x");
    CHECK(normalized("") == "");
}

TEST_CASE("contents look at the parts of an HTTP request", "[match][rule]")
{
    if (!mapi::match::rule::kReadsHttp)
        return test_support::skip("built without libhtp");
    for (const char *options :
         {"content:\"/a/c/d?x=A\"; http_uri;", "uricontent:\"/c/d\";",
          "content:\"%2fb/..\"; http_raw_uri;", "content:\"POST\"; http_method;",
          "content:\"Host|3a| h.example\"; http_header;", "content:\"id=7\"; http_cookie;",
          "content:\"body\"; http_client_body; depth:4;", "pcre:\"/^\\/a\\/c/U\";",
          "content:!\"x=B\"; http_uri;", "urilen:10,norm;", "urilen:20;",
          "content:\"/c\"; http_uri; content:\"d\"; http_uri; within:2;",
          "content:\"/c\"; http_uri; isdataat:2,relative;"}) {
        INFO(options);
        CHECK(matches(options, kRequest));
    }
    for (const char *options : {"content:\"%2f\"; http_uri;", "content:\"id=7\"; http_header;",
                                "content:\"404\"; http_stat_code;", "file_data; content:\"body\";",
                                "content:!\"404\"; http_stat_code;", "urilen:>20;"}) {
        INFO(options);
        CHECK_FALSE(matches(options, kRequest));
    }
}

TEST_CASE("contents look at the parts of an HTTP response", "[match][rule]")
{
    if (!mapi::match::rule::kReadsHttp)
        return test_support::skip("built without libhtp");
    for (const char *options :
         {"content:\"404\"; http_stat_code;", "content:\"Not Found\"; http_stat_msg;",
          "content:\"k=v\"; http_cookie;", "content:\"Server\"; http_header;",
          "file_data; content:\"hello\"; depth:5;", "file_data; content:\"ello\"; distance:1;",
          "file_data; content:\"hello\"; pkt_data; content:\"HTTP\"; depth:4;"}) {
        INFO(options);
        CHECK(matches(options, kResponse));
    }
    CHECK_FALSE(matches("content:\"/\"; http_uri;", kResponse));
    CHECK_FALSE(matches("file_data; content:\"HTTP\";", kResponse));
}

TEST_CASE("a request without an end has the parts that are there", "[match][rule]")
{
    if (!mapi::match::rule::kReadsHttp)
        return test_support::skip("built without libhtp");
    CHECK(matches("content:\"/cgi-bin/phf\"; http_uri;", "GET /cgi-bin/phf"));
    CHECK(matches("content:\"/cgi-bin/phf\"; http_uri;", "GET /cgi-bin/phf HTTP/1.0\r\nHost: x"));
    CHECK_FALSE(matches("content:!\"x\"; http_uri;", "220 ftp.example ready\r\n"));
}
