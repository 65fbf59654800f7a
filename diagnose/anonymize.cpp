#include "diagnose/anonymize.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/strings.h"

namespace jtrace::diagnose {
namespace {

constexpr const char* kHost = "HOST";
constexpr std::array<std::string_view, 5> kCommon = {"/", "/root", "/tmp", "root", "localhost"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Whether text[at, end) is no part of a longer word.
bool is_whole(std::string_view text, std::size_t at, std::size_t end) {
  return (at == 0 || !is_word(text[at]) || !(is_word(text[at - 1]) || text[at - 1] == '.')) &&
         (end == text.size() || !is_word(text[end]));
}

// `.example.com` or `.local` after a host's name; not `.name`, which a property or a class has too.
bool begins_domain(std::string_view text) {
  constexpr std::array<std::string_view, 6> kAlone = {".local",    ".lan",  ".internal",
                                                      ".intranet", ".corp", ".localdomain"};
  std::size_t labels = 0, at = 0;
  while (at + 1 < text.size() && text[at] == '.' && std::islower(static_cast<unsigned char>(text[at + 1])) != 0) {
    ++labels;
    for (++at; at < text.size() && (std::islower(static_cast<unsigned char>(text[at])) != 0 ||
                                    std::isdigit(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-');)
      ++at;
  }
  // What goes on with a dot and a letter is a class.
  const char last = at < text.size() ? text[at] : ' ', next = at + 1 < text.size() ? text[at + 1] : ' ';
  if (is_word(last) || last == '_' || last == '$' || last == '(' || (last == '.' && is_word(next))) return false;
  return labels >= 2 || std::find(kAlone.begin(), kAlone.end(), text.substr(0, at)) != kAlone.end();
}

// A host name of letters may be a part of names of classes and packages: jdk/internal/vm/Continuation, vm.Thread.
bool may_be_package(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_host(std::string_view text, std::size_t at, std::size_t end) {
  if (!is_whole(text, at, end)) return false;
  if (!may_be_package(text.substr(at, end - at))) return true;
  const std::string_view before = text.substr(0, at), after = text.substr(end);
  if (before.ends_with("//") || (before.ends_with('@') && at >= 2 && is_word(text[at - 2]))) return true;
  const auto is_joined = [](char c) { return c == '/' || c == '_' || c == '$'; };
  if (at > 0 && is_joined(text[at - 1]))
    return text[at - 1] == '/' && begins_domain(after);  // HTTP/vm.example.com@REALM
  if (after.size() < 2 || !(is_joined(after[0]) || after[0] == '.')) return true;
  // An InetAddress is a name, a slash and numbers. A full stop may end a sentence.
  if (after[0] == '/') return std::isdigit(static_cast<unsigned char>(after[1])) != 0;
  return after[0] == '.' && (!is_word(after[1]) || begins_domain(after));
}

std::string replaced(std::string_view text, const std::string& word, const std::string& by,
                     bool (*is_named)(std::string_view, std::size_t, std::size_t)) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(word, from)) != text.npos; from = at + word.size())
    out.append(text.substr(from, at - from)).append(is_named(text, at, at + word.size()) ? by : word);
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
                                 std::pair{names.host, kHost}, std::pair{names.user, "USER"}})
    if (word.size() > 1 && std::find(kCommon.begin(), kCommon.end(), word) == kCommon.end())
      words_.emplace_back(word, by);
  // The longest first: a working folder lies in the home folder of a user, whose name is part of both.
  std::stable_sort(words_.begin(), words_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string Anonymizer::applied_to(std::string_view text) {
  std::string named(text);
  for (const auto& [word, by] : words_) named = replaced(named, word, by, by == kHost ? is_host : is_whole);
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
