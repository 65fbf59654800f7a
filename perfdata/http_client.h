// One POST over HTTP/1.1 with a limit of time, one connection a request. No TLS, and no DNS: a host is an address,
// localhost, or a name of /etc/hosts. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perfdata/http_reply.h"

namespace jtrace::perfdata {

struct HttpUrl {
  std::string host;  // without brackets
  std::uint16_t port = 80;
  std::string path;  // with the query; "/" if there is none

  std::string authority() const;  // "host:port", with the brackets of IPv6
  bool is_loopback() const;       // false for a name of /etc/hosts
};
// Errors: kUsage; https:// and user names in it are refused with a line of their own.
Result<HttpUrl> parse_http_url(const std::string& text);

// Whether the host has an address. Error: kNotFound.
Result<> check_host(const HttpUrl& url);

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;
// "Name: value" a line; blank ones and those that start with # are skipped. Error: kUsage, which does not show values.
Result<HttpHeaders> parse_header_lines(std::string_view text, std::string_view where);
// "name=value,name2=value2" with values in percent encoding (OTEL_EXPORTER_OTLP_HEADERS). Error: kUsage, likewise.
Result<HttpHeaders> parse_header_list(std::string_view text, std::string_view where);

struct HttpPost {
  HttpUrl url;
  HttpHeaders headers = {};
  std::string content_type = "application/json";
  std::chrono::milliseconds patience{10'000};  // for the whole exchange
};
// Waiting ends when `stop_fd` is readable (-1: none). Errors: kRefused (no connection), kTimeout, kMalformed (the
// answer is none), kNotFound (no such host), kSystem.
Result<HttpReply> http_post(const HttpPost& post, std::string_view body, int stop_fd = -1);

}  // namespace jtrace::perfdata
