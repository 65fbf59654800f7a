// The rows of option_table(): how each option is read into TraceOptions, and echoed.
#include <limits>

#include "base/clock.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "session/options/options.h"
#include "session/options/text_check.h"
#include "trace/record/event_names.h"
#include "trace/record/layout.h"
#include "trace/record/start_options.h"

namespace jtrace::session {

namespace {

using Items = std::vector<std::string>;

// Until then it is not known whether a contention is written.
constexpr std::uint64_t kLongestContention = 60 * kNanosPerSecond;

std::string seconds_text(std::uint64_t ns) {
  std::string text = std::to_string(ns / kNanosPerSecond);
  if (ns % kNanosPerSecond == 0) return text;
  std::string fraction = std::to_string(kNanosPerSecond + ns % kNanosPerSecond).substr(1);
  return text + "." + fraction.erase(fraction.find_last_not_of('0') + 1);
}

OptionSpec flag(std::string_view name, std::string_view help, bool TraceOptions::*member) {
  return {name,
          OptionKind::kFlag,
          "",
          help,
          [member](TraceOptions& options, const Items&) -> Result<> {
            options.*member = true;
            return {};
          },
          [member](const TraceOptions& options) -> std::optional<std::string> {
            return options.*member ? "true" : "false";
          }};
}

// An option with two words; `second` sets the flag.
OptionSpec choice(std::string_view name, std::string_view first, std::string_view second, std::string_view value,
                  std::string_view help, bool TraceOptions::*member) {
  return {name,
          OptionKind::kValue,
          value,
          help,
          [=](TraceOptions& options, const Items& items) -> Result<> {
            if (items[0] != first && items[0] != second)
              return wrong_value(name, items[0], "'" + std::string(first) + "' or '" + std::string(second) + "'");
            options.*member = items[0] == second;
            return {};
          },
          [=](const TraceOptions& options) -> std::optional<std::string> {
            return std::string(options.*member ? second : first);
          }};
}

// "a size from 1M to 4G"; one byte less than a round size is the round one, which is not reached.
std::string size_range(std::uint64_t least, std::uint64_t most) {
  using trace::record::size_option_text;
  const std::string from = "a size from " + size_option_text(least);
  return most % 1024 == 1023 ? from + " to just below " + size_option_text(most + 1)
                             : from + " to " + size_option_text(most);
}

template <class Number>
OptionSpec size(std::string_view name, std::string_view help, Number TraceOptions::*member, std::uint64_t least,
                std::uint64_t most) {
  return {name,
          OptionKind::kValue,
          "SIZE",
          help,
          [=](TraceOptions& options, const Items& items) -> Result<> {
            const auto bytes = parse_size(items[0]);
            if (!bytes) return wrong_value(name, items[0], "a size in bytes (10, 512K, 64M, 1G)");
            if (*bytes < least || *bytes > most) return wrong_value(name, items[0], size_range(least, most));
            options.*member = *bytes;
            return {};
          },
          [=](const TraceOptions& options) -> std::optional<std::string> { return std::to_string(options.*member); }};
}

OptionSpec number(std::string_view name, std::string_view help, std::uint32_t TraceOptions::*member,
                  std::uint32_t least, std::uint32_t most) {
  return {name,
          OptionKind::kValue,
          "N",
          help,
          [=](TraceOptions& options, const Items& items) -> Result<> {
            const auto value = parse_decimal<std::uint32_t>(items[0]);
            if (!value || *value < least || *value > most)
              return wrong_value(name, items[0],
                                 "a number from " + std::to_string(least) + " to " + std::to_string(most));
            options.*member = *value;
            return {};
          },
          [=](const TraceOptions& options) -> std::optional<std::string> { return std::to_string(options.*member); }};
}

OptionSpec file_option() {
  return {"output",
          OptionKind::kValue,
          "FILE",
          "output file; - is stdout (default: jtrace-PID.xml)",
          [](TraceOptions& options, const Items& items) -> Result<> {
            options.output = items[0];
            return {};
          },
          [](const TraceOptions& options) -> std::optional<std::string> {
            return options.output.empty() || options.spills() ? std::nullopt : std::optional(options.output);
          }};
}

OptionSpec spill_option() {
  return {"spill",
          OptionKind::kValue,
          "FILE",
          "write compact records instead of a document; jtrace convert makes the document later",
          [](TraceOptions& options, const Items& items) -> Result<> {
            options.spill = items[0];
            return {};
          },
          [](const TraceOptions& options) -> std::optional<std::string> {
            return options.spills() ? std::optional(options.spill) : std::nullopt;
          }};
}

OptionSpec duration_option() {
  return {"duration",
          OptionKind::kValue,
          "TIME",
          "stop after this time (30s, 5m); without it at Ctrl-C",
          [](TraceOptions& options, const Items& items) -> Result<> {
            options.duration = parse_seconds(items[0]);
            if (!options.duration || *options.duration == 0)
              return wrong_value("duration", items[0], "a time above 0 (5, 0.5, 200ms, 5m, 1h)");
            return {};
          },
          [](const TraceOptions& options) -> std::optional<std::string> {
            return options.duration ? std::optional(seconds_text(*options.duration)) : std::nullopt;
          }};
}

OptionSpec timeout_option() {
  return {"timeout",
          OptionKind::kValue,
          "TIME",
          "how long the attach may take (default: 10s)",
          [](TraceOptions& options, const Items& items) -> Result<> {
            const auto time = parse_seconds(items[0]);
            if (!time || *time == 0) return wrong_value("timeout", items[0], "a time above 0 (5, 0.5, 200ms, 5m)");
            options.timeout = *time;
            return {};
          },
          [](const TraceOptions&) -> std::optional<std::string> { return std::nullopt; }};
}

std::string time_range(std::uint64_t least, std::uint64_t most) {
  if (least == 1 && most == UINT64_MAX) return "a time above 0";
  return "a time from " + (least == 0 ? "0" : duration_text(least)) + " to " + duration_text(most);
}

// 0, which cannot be given where `least` is above it, is not echoed.
OptionSpec time_value(std::string_view name, std::string_view help, std::uint64_t TraceOptions::*member,
                      std::uint64_t least, std::uint64_t most) {
  return {name,
          OptionKind::kValue,
          "TIME",
          help,
          [=](TraceOptions& options, const Items& items) -> Result<> {
            const auto time = parse_seconds(items[0]);
            if (!time || *time < least || *time > most)
              return wrong_value(name, items[0], time_range(least, most) + " (20ms, 1.5, 2m)");
            options.*member = *time;
            return {};
          },
          [=](const TraceOptions& options) -> std::optional<std::string> {
            return options.*member != 0 ? std::optional(seconds_text(options.*member)) : std::nullopt;
          }};
}

OptionSpec min_contention_option() {
  return {
      trace::record::kMinContentionOption,
      OptionKind::kValue,
      "TIME",
      "monContendedEnter and monContendedEntered only of contentions that take at least this long; shorter ones are "
      "counted (default: 1ms); 0: all",
      [](TraceOptions& options, const Items& items) -> Result<> {
        const auto time = parse_seconds(items[0]);
        if (!time || *time > kLongestContention)
          return wrong_value(trace::record::kMinContentionOption, items[0], "a time from 0 to 1m (1ms, 50us, 0.02)");
        options.min_contention = *time;
        return {};
      },
      [](const TraceOptions& options) -> std::optional<std::string> { return seconds_text(options.min_contention); }};
}

OptionSpec events_option() {
  static const std::string help = "elements of trace.dtd, or groups of them: " + trace::record::event_groups_help();
  return {trace::record::kEventsOption,
          OptionKind::kList,
          "LIST",
          help,
          [](TraceOptions& options, const Items& items) -> Result<> {
            JTRACE_ASSIGN_OR_RETURN(options.events, trace::record::events_of_words(items));
            return {};
          },
          [](const TraceOptions& options) -> std::optional<std::string> {
            return trace::record::words_of_events(options.events);
          }};
}

OptionSpec filter_option() {
  return {
      "filter",
      OptionKind::kRepeated,
      "RULE",
      "'CLASS-PATTERN [METHOD-PATTERN] [include|exclude]', include if neither is given; the first rule that matches "
      "decides; if all rules include, everything else is excluded",
      [](TraceOptions& options, const Items& items) -> Result<> {
        for (const std::string& item : items) {
          JTRACE_ASSIGN_OR_RETURN(FilterRule rule, parse_filter_rule(item));
          options.filters.push_back(std::move(rule));
        }
        return {};
      },
      [](const TraceOptions&) -> std::optional<std::string> { return std::nullopt; }};
}

OptionSpec filters_option() {
  return {"filters",
          OptionKind::kValue,
          "FILE",
          "a file with one filter rule per line",
          [](TraceOptions& options, const Items& items) -> Result<> {
            JTRACE_ASSIGN_OR_RETURN(std::vector<FilterRule> rules, read_filter_file(items[0]));
            options.filters.insert(options.filters.end(), rules.begin(), rules.end());
            options.filter_file = items[0];
            return {};
          },
          [](const TraceOptions&) -> std::optional<std::string> { return std::nullopt; }};
}

OptionSpec min_free_option() {
  return {"min-free",
          OptionKind::kValue,
          "SIZE|N%",
          "end the trace before its disk has less free space than this (default: 5%, at most 1G)",
          [](TraceOptions& options, const Items& items) -> Result<> {
            const std::string_view text = items[0];
            if (text.ends_with('%')) {
              const auto percent = parse_decimal<std::uint32_t>(text.substr(0, text.size() - 1));
              if (!percent || *percent > 99) return wrong_value("min-free", text, "a size or 0% to 99%");
              options.min_free.reset();
              options.min_free_percent = *percent;
              options.min_free_most = UINT64_MAX;
              return {};
            }
            options.min_free = parse_size(text);
            return options.min_free ? Result<>() : wrong_value("min-free", text, "a size (500M, 1G) or a share (5%)");
          },
          [](const TraceOptions& options) -> std::optional<std::string> {
            return options.min_free ? std::to_string(*options.min_free)
                                    : std::to_string(options.min_free_percent) + "%";
          }};
}

// A number without a unit is in ms.
OptionSpec milliseconds(std::string_view name, std::string_view help, std::uint32_t TraceOptions::*member,
                        std::uint32_t least, std::uint32_t most) {
  OptionSpec spec = number(name, help, member, least, most);
  spec.value = "TIME";
  spec.plain = PlainUnit::kMilliseconds;
  spec.set = [=](TraceOptions& options, const Items& items) -> Result<> {
    constexpr std::uint64_t kMillisecond = 1'000'000;  // ns
    const auto time = parse_duration(items[0], PlainUnit::kMilliseconds);
    if (!time || *time < least * kMillisecond || *time > most * kMillisecond)
      return wrong_value(name, items[0], time_range(least * kMillisecond, most * kMillisecond) + " (20ms, 1s)");
    options.*member = static_cast<std::uint32_t>(*time / kMillisecond);
    return {};
  };
  return spec;
}

// The options that go to the agent, parsed by the forms of start_options.def.
std::vector<OptionSpec> start_options() {
  using O = TraceOptions;
#define START_VALUE(type, Name, member, form, normal, least, most, key, help) \
  static const std::string k##Name##Help = trace::record::option_help(help, trace::record::StartForm::k##form, normal);
#include "trace/record/start_options.def"
#define START_FORM_Time time_value
#define START_FORM_Size size
#define START_FORM_Count number
#define START_FORM_Milliseconds milliseconds
  return {
#define START_FLAG(bit, Name, member, key, help) flag(key, help, &O::member),
#define START_CHOICE(bit, Name, member, key, first, second, help) \
  choice(key, first, second, first "|" second, help, &O::member),
#define START_VALUE(type, Name, member, form, normal, least, most, key, help) \
  START_FORM_##form(key, k##Name##Help, &O::member, least, most),
#include "trace/record/start_options.def"
  };
#undef START_FORM_Time
#undef START_FORM_Size
#undef START_FORM_Count
#undef START_FORM_Milliseconds
}

// Words from command lines of older agents, accepted without effect: the output is always a file.
OptionSpec server_option() {
  return {"server",
          OptionKind::kValue,
          "standalone",
          "taken for compatibility",
          [](TraceOptions&, const Items& items) -> Result<> {
            if (items[0] == "standalone") return {};
            return wrong_value("server", items[0], "'standalone', the only one there is");
          },
          [](const TraceOptions&) -> std::optional<std::string> { return std::nullopt; }};
}

// The agent has used this option already.
OptionSpec jtrace_option() {
  return {"jtrace",
          OptionKind::kValue,
          "PATH",
          "the jtrace that the agent starts",
          [](TraceOptions&, const Items&) -> Result<> { return {}; },
          [](const TraceOptions&) -> std::optional<std::string> { return std::nullopt; }};
}

std::vector<OptionSpec> make_table() {
  using O = TraceOptions;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::vector<OptionSpec> table = {
      file_option(),
      spill_option(),
      duration_option(),
      timeout_option(),
      events_option(),
      flag(trace::record::kVirtualThreadsOption, "also threadStart and threadEnd of virtual threads",
           &O::virtual_threads),
      filter_option(),
      filters_option(),
      flag("fragments", "elements without a document around them", &O::fragments),
      flag("strict-dtd", "every element valid against the original trace.dtd; implies --fragments", &O::strict_dtd),
      flag("doctype", "write a DOCTYPE that names jtrace.dtd", &O::doctype),
      choice("names", "exact", "classic", "exact|classic", "methods as <init> or, as in old traces, -init-",
             &O::classic_names),
      choice("free", "late", "nested", "late|nested",
             "write objFree when the JVM reports it, or between gcStart and gcFinish", &O::nested_frees),
      min_contention_option(),
  };
  for (OptionSpec& each : start_options()) table.push_back(std::move(each));
  const OptionSpec rest[] = {
      size("ring-memory", "memory between the JVM and jtrace (default: 64M)", &O::ring_memory,
           trace::record::kMinimumPoolSize, std::uint64_t{4} << 30),
      size("max-size", "at this size end the trace, or continue in another file (--rotate); 0: no limit", &O::max_size,
           0, kMost),
      number("rotate", "at --max-size continue in a new file, and keep N old ones (FILE.1 is the latest)", &O::rotate,
             0, 1000),
      min_free_option(),
      flag("show-secrets", "do not mask passwords, tokens and keys of the command line", &O::show_secrets),
      flag("strict", "with -agentpath: a wrong option ends the JVM's start", &O::strict),
      server_option(),
      jtrace_option(),
  };
  table.insert(table.end(), std::begin(rest), std::end(rest));
  return table;
}

}  // namespace

std::span<const OptionSpec> option_table() {
  static const std::vector<OptionSpec> table = make_table();
  return table;
}

}  // namespace jtrace::session
