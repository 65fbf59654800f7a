#include "diagnose/anonymize.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/strings.h"

namespace jtrace::diagnose {
namespace {

constexpr std::array<std::string_view, 5> kCommon = {"/", "/root", "/tmp", "root", "localhost"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string replaced(std::string_view text, const std::string& word, const std::string& by) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(word, from)) != text.npos; from = at + word.size()) {
    const std::size_t end = at + word.size();
    const bool whole = (at == 0 || !is_word(word.front()) || !(is_word(text[at - 1]) || text[at - 1] == '.')) &&
                       (end == text.size() || !is_word(text[end]));
    out.append(text.substr(from, at - from)).append(whole ? by : word);
  }
  return out.append(text.substr(from));
}

// The length of the IPv4 address at the start of `text`; 0 if there is none.
std::size_t address_length(std::string_view text) {
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at >= text.size() || text[at++] != '.')) return 0;
    std::size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const auto value = parse_decimal<unsigned>(text.substr(at, end - at));
    if (!value || *value > 255 || end - at > 3) return 0;
    at = end;
  }
  // A fifth part, or letters: a version, not an address.
  if (at < text.size() && (is_word(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_word(text[at + 1]))))
    return 0;
  return at;
}

std::string home_of(std::string_view passwd, uid_t uid, std::string& user) {
  for (const std::string_view line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 6 || parse_decimal<uid_t>(fields[2]) != std::optional(uid)) continue;
    user = fields[0];
    return std::string(fields[5]);
  }
  return "";
}

}  // namespace

Anonymizer::Anonymizer(const Names& names) {
  for (const auto& [word, by] : {std::pair{names.work, "/WORK"}, std::pair{names.home, "/HOME"},
                                 std::pair{names.host, "HOST"}, std::pair{names.user, "USER"}})
    if (word.size() > 1 && std::find(kCommon.begin(), kCommon.end(), word) == kCommon.end())
      words_.emplace_back(word, by);
  // The longest first: a working folder lies in the home folder of a user, whose name is part of both.
  std::stable_sort(words_.begin(), words_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string Anonymizer::applied_to(std::string_view text) {
  std::string named(text);
  for (const auto& [word, by] : words_) named = replaced(named, word, by);
  std::string out;
  for (std::size_t at = 0; at < named.size();) {
    const bool begins = at == 0 || (!is_word(named[at - 1]) && named[at - 1] != '.');
    const std::string_view rest = std::string_view(named).substr(at);
    const std::size_t length = begins ? address_length(rest) : 0;
    const std::string_view address = rest.substr(0, length);
    if (length == 0 || address.starts_with("127.") || address == "0.0.0.0") {
      const std::size_t step = std::max<std::size_t>(length, 1);
      out += rest.substr(0, step);
      at += step;
      continue;
    }
    const std::size_t number = addresses_.emplace(address, addresses_.size() + 1).first->second;
    out += "ip-" + std::to_string(number);
    at += length;
  }
  return out;
}

Anonymizer::Names names_of(const target::Process& process) {
  Anonymizer::Names names;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) names.host = host.data();
  // The target's own file first: in a container its users are others.
  auto passwd = process.read_in_root("/etc/passwd");
  if (passwd) names.home = home_of(*passwd, process.uid(), names.user);
  std::string work(4096, '\0');
  const ssize_t length = ::readlinkat(process.proc_fd(), "cwd", work.data(), work.size());
  if (length > 0) names.work = process.path_inside(work.substr(0, static_cast<std::size_t>(length)));
  return names;
}

}  // namespace jtrace::diagnose
