// Addresses and headers of requests, as a user gives them.
#include <algorithm>
#include <cctype>

#include "base/strings.h"
#include "perfdata/http_client.h"

namespace jtrace::perfdata {
namespace {

tl::unexpected<Error> usage(std::string text, std::string help = {}) {
  return fail(ErrorCategory::kUsage, std::move(text), std::move(help));
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return (c >= ' ' && c != 127) || c == '\t'; });
}

// Those that the request has itself.
bool is_own(std::string_view name) {
  std::string low(name);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low == "host" || low == "content-length" || low == "content-type" || low == "transfer-encoding" ||
         low == "connection" || low == "expect";
}

Result<> add_header(HttpHeaders& headers, std::string_view name, std::string_view value, std::string_view where) {
  if (!is_name(name) || !is_printable(value)) return usage("not a header of HTTP in " + std::string(where));
  if (is_own(name)) return usage(std::string(where) + ": the header " + std::string(name) + " is the request's own");
  headers.emplace_back(name, value);
  return {};
}

std::optional<std::string> from_percents(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    int byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    if (error != std::errc() || end != text.data() + i + 3) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

// "host", "host:port", "[::1]:port".
bool read_authority(std::string_view text, HttpUrl& url) {
  std::size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return false;
    url.host = text.substr(1, end - 1);
    if (end + 1 == text.size()) colon = text.npos;
    else if (text[end + 1] != ':') return false;
  } else {
    url.host = text.substr(0, colon);
  }
  if (url.host.empty()) return false;
  if (colon == text.npos) return true;
  const auto port = parse_decimal<std::uint16_t>(text.substr(colon + 1));
  if (port) url.port = *port;
  return port && *port != 0;
}

}  // namespace

std::string HttpUrl::authority() const {
  const bool six = host.find(':') != host.npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool HttpUrl::is_loopback() const { return host == "localhost" || host == "::1" || host.starts_with("127."); }

Result<HttpUrl> parse_http_url(const std::string& text) {
  if (text.starts_with("https://"))
    return usage("https:// is not spoken here",
                 "send to a collector on this machine (http://127.0.0.1:4318), which can send on with TLS");
  constexpr std::string_view kScheme = "http://";
  const auto wrong = [&] {
    return usage("not an address to send to: '" + printable(text) + "'",
                 "for example http://127.0.0.1:4318/v1/metrics");
  };
  if (!text.starts_with(kScheme) || !is_printable(text) || text.find(' ') != text.npos) return wrong();
  const std::string_view rest = std::string_view(text).substr(kScheme.size());
  const std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != authority.npos)
    return usage("an address has no user and no password", "put them into a header (--headers FILE)");
  HttpUrl url;
  if (!read_authority(authority, url)) return wrong();
  url.path = rest.substr(slash, rest.find('#') == rest.npos ? rest.npos : rest.find('#') - slash);
  if (!url.path.starts_with('/')) url.path.insert(0, "/");
  return url;
}

Result<HttpHeaders> parse_header_lines(std::string_view text, std::string_view where) {
  HttpHeaders headers;
  for (const std::string_view each : split(text, '\n')) {
    const std::string_view line = trimmed(each);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(':');
    JTRACE_RETURN_IF_ERROR(
        add_header(headers, line.substr(0, colon), colon == line.npos ? "\n" : trimmed(line.substr(colon + 1)), where));
  }
  return headers;
}

Result<HttpHeaders> parse_header_list(std::string_view text, std::string_view where) {
  HttpHeaders headers;
  for (const std::string_view each : split(text, ',')) {
    if (trimmed(each).empty()) continue;
    const std::size_t equals = each.find('=');
    const auto value = equals == each.npos ? std::nullopt : from_percents(trimmed(each.substr(equals + 1)));
    JTRACE_RETURN_IF_ERROR(add_header(headers, trimmed(each.substr(0, equals)), value.value_or("\n"), where));
  }
  return headers;
}

}  // namespace jtrace::perfdata
