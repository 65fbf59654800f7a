// Secrets in texts: names that mark them, and where the values are.
#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/strings.h"

namespace jtrace {
namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Splits "dbPassword", "DB_PASSWORD", "HTTPToken2" into lower-case words; digits belong to no word.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_lower(c) && !is_upper(c)) {
      if (!words.back().empty()) words.emplace_back();
      continue;
    }
    const bool after_lower = i > 0 && is_lower(name[i - 1]);
    const bool before_lower = i > 0 && i + 1 < name.size() && is_upper(name[i - 1]) && is_lower(name[i + 1]);
    if (is_upper(c) && (after_lower || before_lower) && !words.back().empty()) words.emplace_back();
    words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

using Range = std::pair<std::size_t, std::size_t>;

constexpr char kBetweenWords = '\0';  // where they are known: no word has it
bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == kBetweenWords; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_of_name(char c) {
  return is_lower(c) || is_upper(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

// Finds the secrets in a text from its begin to its end.
class SecretScan {
 public:
  explicit SecretScan(std::string_view text) : text_(text) {}
  std::vector<Range> run() {
    std::vector<Range> found;
    for (std::size_t at = 0; at < text_.size();) {
      const std::optional<Range> secret = at_place(at);
      if (secret) found.push_back(*secret);
      at = secret ? std::max(secret->second, at + 1) : at + 1;
    }
    return found;
  }

 private:
  std::optional<Range> at_place(std::size_t at) const {
    const bool begins_word = at == 0 || is_blank(text_[at - 1]);
    if (begins_word && text_[at] == '-')
      if (const auto found = of_option(at)) return found;
    if (text_.substr(at).starts_with("://")) return of_user(at + 3);
    return at == 0 || !is_of_name(text_[at - 1]) ? of_pair(at) : std::nullopt;
  }

  std::size_t word_end(std::size_t at) const { return end_by(at, is_blank); }
  template <class Ends>
  std::size_t end_by(std::size_t at, const Ends& ends) const {
    while (at < text_.size() && !ends(text_[at])) ++at;
    return at;
  }
  // Before the next blank that is followed by an option, because a value may contain blanks.
  std::size_t value_end(std::size_t at) const {
    if (const std::size_t end = text_.find(kBetweenWords, at); end != text_.npos) return end;
    for (std::size_t blank = text_.find(' ', at); blank != text_.npos; blank = text_.find(' ', blank + 1))
      if (blank + 1 < text_.size() && text_[blank + 1] == '-') return blank;
    return text_.size();
  }

  std::optional<Range> of_option(std::size_t at) const {
    const std::size_t end = word_end(at);
    const std::string_view word = text_.substr(at, end - at);
    const std::size_t name = word.starts_with("-D") || word.starts_with("--") ? 2 : 1;
    const std::size_t equals = std::min(word.find('='), word.size()), colon = std::min(word.find(':'), word.size());
    const std::string_view key = word.substr(name, std::min(equals, colon) - name);
    if (name == 2 && equals < word.size() && looks_secret(word.substr(name, equals - name)))
      return Range(at + equals + 1, value_end(at + equals + 1));
    // "--key" alone is as often a certificate's key as a name to look up; what is masked here can still be asked for.
    if (names_secret_field(key) || key == "key") {
      const std::size_t separator = std::min(equals, colon);
      if (separator < word.size()) return Range(at + separator + 1, value_end(at + separator + 1));
      return word.starts_with("-D") ? std::nullopt : next_word(end);
    }
    return of_login(word.substr(0, equals), equals < word.size() ? std::optional(at + equals + 1) : word_after(end));
  }
  // The word after the one that ends at `at`, unless it is an option.
  std::optional<std::size_t> word_after(std::size_t at) const {
    const std::size_t next = end_by(at, [](char c) { return !is_blank(c); });
    return next < text_.size() && text_[next] != '-' ? std::optional(next) : std::nullopt;
  }
  std::optional<Range> next_word(std::size_t at) const {
    const auto next = word_after(at);
    if (!next) return std::nullopt;
    const std::size_t known = text_.find(kBetweenWords, *next);
    return Range(*next, known != text_.npos ? known : word_end(*next));
  }
  // `name:secret`, as curl takes it.
  std::optional<Range> of_login(std::string_view option, std::optional<std::size_t> at) const {
    constexpr std::array<std::string_view, 3> kLogins = {"-u", "--user", "--proxy-user"};
    if (!at || !is_one_of(kLogins, option)) return std::nullopt;
    const std::size_t end = word_end(*at), colon = text_.find(':', *at);
    if (colon >= end || text_.substr(colon).starts_with("://")) return std::nullopt;
    return Range(colon + 1, end);
  }

  // `user:secret@` at the begin of an authority; the secret may contain an @.
  std::optional<Range> of_user(std::size_t at) const {
    const std::size_t end =
        end_by(at, [](char c) { return is_blank(c) || is_quote(c) || c == '/' || c == '?' || c == '#'; });
    const std::string_view authority = text_.substr(at, end - at);
    const std::size_t sign = authority.rfind('@'), colon = authority.find(':');
    if (sign == authority.npos || colon >= sign) return std::nullopt;
    return Range(at + colon + 1, at + sign);
  }

  // A name with its value; in the text of a Java or JSON string the quotes may have backslashes.
  std::optional<Range> of_pair(std::size_t at) const {
    std::size_t end = end_by(at, [](char c) { return !is_of_name(c); });
    if (end == at || !names_secret_field(text_.substr(at, end - at))) return std::nullopt;
    const std::size_t after = past_quote(end);
    const std::size_t separator = after == end ? end : end_by(after, [](char c) { return !is_blank(c); });
    if (separator >= text_.size() || (text_[separator] != '=' && text_[separator] != ':')) return std::nullopt;
    const std::size_t value = end_by(separator + 1, [](char c) { return !is_blank(c); });
    if (const std::size_t quoted = past_quote(value); quoted != value) return of_quoted(quoted);
    if (text_[separator] == ':' || value != separator + 1) return std::nullopt;
    return of_plain(value, at == 0 ? ' ' : text_[at - 1]);
  }
  std::size_t past_quote(std::size_t at) const {
    const std::size_t quote = at < text_.size() && text_[at] == '\\' ? at + 1 : at;
    return quote < text_.size() && is_quote(text_[quote]) ? quote + 1 : at;
  }
  std::optional<Range> of_quoted(std::size_t at) const {
    const char quote = text_[at - 1];
    const bool escaped = at >= 2 && text_[at - 2] == '\\';
    std::size_t end = at;
    for (; end < text_.size() && text_[end] != quote; ++end)
      if (text_[end] == '\\' && !(escaped && end + 1 < text_.size() && text_[end + 1] == quote)) ++end;
    end = std::min(end, text_.size());
    if (escaped && end > at && text_[end - 1] == '\\') --end;
    return Range(at, end);
  }
  // What ends it is what separates its pair from others: `&` in a query, `,` in a list, a blank elsewhere.
  std::optional<Range> of_plain(std::size_t at, char before) const {
    const bool in_query = before == '?' || before == '&' || before == ';', in_list = before == ',' || before == '=';
    const bool in_brackets = before == '(' || before == '{' || before == '[';
    const std::size_t end = end_by(at, [&](char c) {
      return is_blank(c) || is_quote(c) || (in_query && (c == '&' || c == ';')) ||
             ((in_list || in_brackets) && c == ',') || (in_brackets && (c == ')' || c == '}' || c == ']'));
    });
    const std::string_view value = text_.substr(at, end - at);
    if (value.empty() || value == "true" || value == "false") return std::nullopt;
    return Range(at, end);
  }

  std::string_view text_;
};

}  // namespace

bool names_secret_field(std::string_view field) {
  // A suffix for the representation does not matter: "passwordChars" is a password.
  constexpr std::array<std::string_view, 9> forms = {"value", "values", "text",  "string", "chars",
                                                     "bytes", "data",   "plain", "hash"};
  constexpr std::array<std::string_view, 12> nouns = {"password", "passwords",  "passwd",      "passphrase",
                                                      "pwd",      "secret",     "secrets",     "token",
                                                      "tokens",   "credential", "credentials", "passcode"};
  constexpr std::array<std::string_view, 2> keys = {"key", "keys"};
  constexpr std::array<std::string_view, 11> of_locks = {
      "api", "access", "secret", "private", "encryption", "signing", "license", "master", "shared", "auth", "session"};
  constexpr std::array<std::string_view, 4> written_as_one = {"apikey", "secretkey", "accesskey", "privatekey"};
  auto words = words_of(field);
  while (words.size() > 1 && is_one_of(forms, words.back())) words.pop_back();
  if (words.empty()) return false;
  if (is_one_of(nouns, words.back()) || is_one_of(written_as_one, words.back())) return true;
  return words.size() > 1 && is_one_of(keys, words.back()) && is_one_of(of_locks, words[words.size() - 2]);
}

std::vector<Range> find_secrets(std::string_view text) { return SecretScan(text).run(); }

std::string mask_secrets(std::string_view text) {
  std::string masked;
  std::size_t done = 0;
  for (const auto& [begin, end] : find_secrets(text)) {
    masked.append(text.substr(done, begin - done)).append("***");
    done = end;
  }
  return masked.append(text.substr(done));
}

std::string mask_secrets_of_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word) += kBetweenWords;
  text = mask_secrets(text);
  if (!text.empty()) text.pop_back();
  std::replace(text.begin(), text.end(), kBetweenWords, ' ');
  return text;
}

std::string mask_secrets_of_lines(std::string_view text) {
  std::string masked;
  for (const std::string_view line : split(text, '\n')) {
    if (line.data() != text.data()) masked += '\n';
    masked += mask_secrets(line);
  }
  return masked;
}

}  // namespace jtrace
