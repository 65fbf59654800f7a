#include "session/document/session_text.h"

#include "base/strings.h"
#include "session/document/one_line.h"

namespace jtrace::session {
namespace {

constexpr std::string_view kFirstLine = "session=1\n";
constexpr std::size_t kLongestInPool = 400;  // longest value; the pool has room for some hundred bytes

void append_line(std::string& text, std::string_view key, std::string_view value) {
  text.append(key).append("=").append(on_one_line(value)) += '\n';
}

std::string text_of(const TraceIdentity& identity, const TraceOptions& options, const ClockAnchor& anchor,
                    std::uint64_t start_time, const std::string& output, std::size_t longest_value) {
  std::string text(kFirstLine);
  append_line(text, "monotonic", std::to_string(anchor.monotonic));
  append_line(text, "realtime", std::to_string(anchor.realtime));
  append_line(text, "start", std::to_string(start_time));
  append_line(text, "output", output);
  text += to_lines(identity, longest_value);
  for (const EchoedOption& option : effective_options(options))
    if (option.key != "output") append_line(text, "option." + option.key, option.value);
  return text;
}

void read_line(Session& session, OptionReader& options, std::string_view key, const std::string& value) {
  const auto number = parse_decimal<std::uint64_t>(value).value_or(0);
  if (key == "monotonic") session.anchor.monotonic = number;
  else if (key == "realtime") session.anchor.realtime = number;
  else if (key == "start") session.start = number;
  else if (key == "output") session.output = value;
  else if (key == "filter") (void)options.give("filter", value);
  else if (key.starts_with("option.")) (void)options.give_echoed(key.substr(7), value);
}

}  // namespace

std::string session_text(const TraceIdentity& identity, const TraceOptions& options, const ClockAnchor& anchor,
                         std::uint64_t start_time, const std::string& output) {
  return text_of(identity, options, anchor, start_time, output, kLongestInPool);
}

std::string whole_session_text(const Session& session) {
  std::string text =
      text_of(session.identity, session.options, session.anchor, session.start, session.output, std::string::npos);
  append_line(text, "event_bits", std::to_string(session.options.events));
  for (const FilterRule& rule : session.options.filters) append_line(text, "filter", to_text(rule));
  return text;
}

Result<Session> read_session(std::string_view text) {
  if (!text.starts_with(kFirstLine)) return fail(ErrorCategory::kMalformed, "it does not name its trace");
  Session session;
  OptionReader reader;
  std::optional<std::uint64_t> event_bits;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, equals);
    const std::string value = from_one_line(line.substr(equals + 1));
    read_line(session, reader, key, value);
    read_line(session.identity, key, line.substr(equals + 1));
    if (key == "event_bits") event_bits = parse_decimal<std::uint64_t>(value);
  }
  if (auto options = reader.finish()) session.options = std::move(*options);
  if (event_bits) session.options.events = *event_bits;
  return session;
}

}  // namespace jtrace::session
