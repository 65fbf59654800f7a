#include "session/options/options.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "session/options/event_names.h"
#include "session/options/text_check.h"
#include "trace/record/control.h"
#include "trace/record/layout.h"

namespace jtrace::session {

namespace {

using Items = std::vector<std::string>;

constexpr std::uint64_t kLeastCoarse = 10'000'000;  // ns, that the coarse clock, which stands up to 1 ms, can measure

tl::unexpected<Error> wrong_value(std::string_view name, std::string_view value, const std::string& expected) {
  return fail(ErrorCategory::kUsage,
              "option " + std::string(name) + ": '" + std::string(value) + "' is not " + expected);
}

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
            if (*bytes < least || *bytes > most)
              return wrong_value(name, items[0], "between " + std::to_string(least) + " and " + std::to_string(most));
            options.*member = *bytes;
            return {};
          },
          [=](const TraceOptions& options) -> std::optional<std::string> { return std::to_string(options.*member); }};
}

OptionSpec number(std::string_view name, std::string_view help, std::uint32_t TraceOptions::*member,
                  std::uint32_t most) {
  return {name,
          OptionKind::kValue,
          "N",
          help,
          [=](TraceOptions& options, const Items& items) -> Result<> {
            const auto value = parse_decimal<std::uint32_t>(items[0]);
            if (!value || *value > most)
              return wrong_value(name, items[0], "a number from 0 to " + std::to_string(most));
            options.*member = *value;
            return {};
          },
          [=](const TraceOptions& options) -> std::optional<std::string> { return std::to_string(options.*member); }};
}

OptionSpec file_option() {
  return {"file",
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
          "stop after this time (90 seconds, 0.5, 5m, 1h)",
          [](TraceOptions& options, const Items& items) -> Result<> {
            options.duration = parse_seconds(items[0]);
            return options.duration ? Result<>() : wrong_value("duration", items[0], "a time (5, 0.5, 200ms, 5m, 1h)");
          },
          [](const TraceOptions& options) -> std::optional<std::string> {
            return options.duration ? std::optional(seconds_text(*options.duration)) : std::nullopt;
          }};
}

OptionSpec timeout_option() {
  return {"timeout",
          OptionKind::kValue,
          "TIME",
          "how long the attach may take (default: 10)",
          [](TraceOptions& options, const Items& items) -> Result<> {
            const auto time = parse_seconds(items[0]);
            if (!time || *time == 0) return wrong_value("timeout", items[0], "a time above 0 (5, 0.5, 200ms, 5m)");
            options.timeout = *time;
            return {};
          },
          [](const TraceOptions&) -> std::optional<std::string> { return std::nullopt; }};
}

OptionSpec time_above_0(std::string_view name, std::string_view help, std::uint64_t TraceOptions::*member) {
  return {name,
          OptionKind::kValue,
          "TIME",
          help,
          [=](TraceOptions& options, const Items& items) -> Result<> {
            const auto time = parse_seconds(items[0]);
            if (!time || *time == 0) return wrong_value(name, items[0], "a time above 0 (20ms, 1.5, 2m)");
            options.*member = *time;
            return {};
          },
          [=](const TraceOptions& options) -> std::optional<std::string> {
            return options.*member != 0 ? std::optional(seconds_text(options.*member)) : std::nullopt;
          }};
}

OptionSpec events_option() {
  static const std::string help = "elements of trace.dtd, or groups of them: " + event_groups_help();
  return {"events",
          OptionKind::kList,
          "LIST",
          help,
          [](TraceOptions& options, const Items& items) -> Result<> {
            JTRACE_ASSIGN_OR_RETURN(options.events, events_of_words(items));
            return {};
          },
          [](const TraceOptions& options) -> std::optional<std::string> { return words_of_events(options.events); }};
}

OptionSpec filter_option() {
  return {
      "filter",
      OptionKind::kRepeated,
      "RULE",
      "'CLASS-PATTERN [[METHOD-PATTERN] include|exclude]', a pattern alone is an include; the first rule that matches "
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

OptionSpec milliseconds(std::string_view name, std::string_view help, std::uint32_t TraceOptions::*member,
                        std::uint32_t most) {
  OptionSpec spec = number(name, help, member, most);
  spec.value = "MS";
  return spec;
}

// The options that go to the agent, parsed by the forms of start_options.def.
std::vector<OptionSpec> start_options() {
  using O = TraceOptions;
#define START_FORM_Time(key, help, member, least, most) time_above_0(key, help, member)
#define START_FORM_Size(key, help, member, least, most) size(key, help, member, least, most)
#define START_FORM_Count(key, help, member, least, most) number(key, help, member, most)
#define START_FORM_Milliseconds(key, help, member, least, most) milliseconds(key, help, member, most)
  return {
#define START_FLAG(bit, Name, member, key, help) flag(key, help, &O::member),
#define START_CHOICE(bit, Name, member, key, first, second, help) \
  choice(key, first, second, first "|" second, help, &O::member),
#define START_VALUE(type, member, form, key, help, least, most) START_FORM_##form(key, help, &O::member, least, most),
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
      flag("virtual-threads", "also threadStart and threadEnd of virtual threads", &O::virtual_threads),
      filter_option(),
      filters_option(),
      flag("fragments", "elements without a document around them", &O::fragments),
      flag("strict-dtd", "every element valid against the original trace.dtd; implies --fragments", &O::strict_dtd),
      flag("doctype", "write a DOCTYPE that names jtrace.dtd", &O::doctype),
      choice("names", "exact", "classic", "exact|classic", "methods as <init> or, as in old traces, -init-",
             &O::classic_names),
      choice("free", "late", "nested", "late|nested",
             "write objFree when the JVM reports it, or between gcStart and gcFinish", &O::nested_frees),
  };
  for (OptionSpec& each : start_options()) table.push_back(std::move(each));
  const OptionSpec rest[] = {
      size("ring-memory", "memory between the JVM and jtrace (default: 64M)", &O::ring_memory,
           trace::record::kMinimumPoolSize, std::uint64_t{4} << 30),
      size("max-size", "at this size end the trace, or go on in another file (--rotate); 0: no limit", &O::max_size, 0,
           kMost),
      number("rotate", "at --max-size go on in a new file, and keep N old ones (FILE.1 is the latest)", &O::rotate,
             1000),
      min_free_option(),
      flag("show-secrets", "do not mask passwords, tokens and keys of the command line", &O::show_secrets),
      flag("strict", "with -agentpath: a wrong option ends the JVM's start", &O::strict),
      server_option(),
      jtrace_option(),
  };
  table.insert(table.end(), std::begin(rest), std::end(rest));
  return table;
}

const OptionSpec* find_spec(std::string_view name) {
  for (const OptionSpec& spec : option_table())
    if (spec.name == name) return &spec;
  return nullptr;
}

tl::unexpected<Error> unknown_option(std::string_view key) {
  std::vector<std::string_view> names;
  for (const OptionSpec& each : option_table()) names.push_back(each.name);
  const std::string_view nearest = nearest_word(key, names);
  return fail(ErrorCategory::kUsage, "unknown option '" + std::string(key) + "'",
              nearest.empty() ? "`jtrace attach --help` lists them" : "did you mean '" + std::string(nearest) + "'?");
}

tl::unexpected<Error> no_value(const OptionSpec& spec) {
  return fail(ErrorCategory::kUsage, "option " + std::string(spec.name) + " has no value",
              "it takes " + std::string(spec.value));
}

// Splits at unescaped `separator`s; with `unescape` the pieces lose their backslashes.
std::vector<std::string> split_escaped(std::string_view text, char separator, bool unescape) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == separator) {
      pieces.emplace_back();
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (!unescape) pieces.back() += text[i];
      ++i;
    }
    pieces.back() += text[i];
  }
  return pieces;
}

}  // namespace

TraceOptions::TraceOptions() : events(default_events()) {}

std::string TraceOptions::output_path(int pid) const {
  if (spills()) return spill;
  return output.empty() ? "jtrace-" + std::to_string(pid) + ".xml" : output;
}

std::span<const OptionSpec> option_table() {
  static const std::vector<OptionSpec> table = make_table();
  return table;
}

Result<> OptionReader::apply(const OptionSpec& spec, const Items& items) {
  const bool seen = std::find(seen_.begin(), seen_.end(), spec.name) != seen_.end();
  if (seen && spec.kind != OptionKind::kRepeated)
    return fail(ErrorCategory::kUsage, "option " + std::string(spec.name) + " is given twice", "give it once");
  seen_.push_back(spec.name);
  for (const std::string& item : items) {
    if (item.empty()) return no_value(spec);
    JTRACE_RETURN_IF_ERROR(check_utf8("option " + std::string(spec.name) + ": its value", item));
  }
  return spec.set(options_, items);
}

Result<> OptionReader::give(std::string_view name, std::string_view text) {
  const OptionSpec* spec = find_spec(name);
  if (spec == nullptr) return give_pair(name, text);  // reports that it is unknown
  if (spec->kind == OptionKind::kList) return apply(*spec, split_escaped(text, ',', false));
  return apply(*spec, {std::string(text)});
}

Result<> OptionReader::give_flag(std::string_view name) { return give_pair(name, std::nullopt); }

Result<> OptionReader::give_echoed(std::string_view name, std::string_view value) {
  const OptionSpec* spec = find_spec(name);
  return spec != nullptr && spec->kind == OptionKind::kFlag ? give_pair(name, value) : give(name, value);
}

Result<> OptionReader::give_pair(std::string_view key, std::optional<std::string_view> raw) {
  const OptionSpec* spec = find_spec(key);
  if (spec == nullptr) {
    JTRACE_RETURN_IF_ERROR(check_utf8("an option's name", key));
    return unknown_option(key);
  }
  if (spec->kind == OptionKind::kFlag) {
    if (!raw || *raw == "true") return apply(*spec, {});
    if (*raw == "false") return {};
    return wrong_value(key, *raw, "'true' or 'false'");
  }
  if (!raw || raw->empty()) return no_value(*spec);
  if (spec->kind == OptionKind::kValue) {
    Items whole = split_escaped(*raw, '\0', true);
    return apply(*spec, whole);
  }
  return apply(*spec, split_escaped(*raw, '+', true));
}

Result<> OptionReader::give_string(std::string_view options) {
  if (options.empty()) return {};
  for (const std::string& pair : split_escaped(options, ',', false)) {
    if (pair.empty())
      return fail(ErrorCategory::kUsage, "an option is missing between two commas of '" + std::string(options) + "'");
    const std::size_t equals = pair.find('=');
    const std::string_view key = std::string_view(pair).substr(0, equals);
    if (equals == std::string::npos) JTRACE_RETURN_IF_ERROR(give_pair(key, std::nullopt));
    else JTRACE_RETURN_IF_ERROR(give_pair(key, std::string_view(pair).substr(equals + 1)));
  }
  return {};
}

Result<TraceOptions> OptionReader::finish() {
  if (options_.rotate != 0 && options_.max_size == 0)
    return fail(ErrorCategory::kUsage, "option rotate needs max-size", "say at which size the next file begins");
  if (options_.spills() && !options_.output.empty())
    return fail(ErrorCategory::kUsage, "options file and spill: a trace goes into a document or into a spill",
                "jtrace convert makes the document of a spill");
  if (options_.rotate != 0 && options_.output_path(0) == "-")
    return fail(ErrorCategory::kUsage, "option rotate needs a file: standard output cannot be rotated");
  if (options_.doctype && options_.writes_fragments())
    return fail(ErrorCategory::kUsage, "option doctype: fragments have no DOCTYPE");
  if (options_.slower_than != 0 && (options_.events & trace::record::kMethodEvent) == 0)
    return fail(ErrorCategory::kUsage, "option slower-than needs methods", "--events methods");
  const bool has_values = options_.arguments || options_.return_values;
  if (has_values && (options_.events & trace::record::kMethodEvent) == 0)
    return fail(ErrorCategory::kUsage, "options arguments and return-values need methods", "--events methods");
  if (options_.receivers && (options_.events & trace::record::kMethodEvent) == 0)
    return fail(ErrorCategory::kUsage, "option objects needs methods", "--events methods");
  if (options_.exception_messages && (options_.events & trace::record::kThrowEvent) == 0)
    return fail(ErrorCategory::kUsage, "option exception-messages needs exceptions", "--events exceptions");
  constexpr std::uint64_t kHaveCpuTime =
      trace::record::kMethodEvent | trace::record::kCallEvent | trace::record::kLineEvent;
  if (options_.cpu_time && (options_.events & kHaveCpuTime) == 0)
    return fail(ErrorCategory::kUsage, "option cpu-time needs methods, calls or lines", "--events methods");
  if (options_.slower_than != 0 && (options_.events & trace::record::kCallEvent) != 0)
    return fail(ErrorCategory::kUsage, "option slower-than: calls cannot be limited to slow ones",
                "leave out calls; --events methods has the slow ones");
  // A file has the format's own rule: what no rule matches is included.
  if (options_.filter_file.empty()) exclude_the_rest(options_.filters);
  if (options_.receivers) options_.events |= trace::record::kObjFreeEvent;
  if ((options_.events & trace::record::kAllocationEvent) != 0) {
    options_.events &= ~std::uint64_t{trace::record::kObjAllocEvent};  // exact instead of sampled
    if (std::find(seen_.begin(), seen_.end(), "stack-depth") == seen_.end()) options_.stack_depth = 1;
  }
  if (options_.slower_than != 0 && options_.slower_than < kLeastCoarse && !options_.precise_time)
    return fail(ErrorCategory::kUsage, "option slower-than: below 10 ms it needs the precise clock", "--time precise");
  if (options_.max_size != 0 && options_.max_size < (options_.rotate != 0 ? 256u << 10 : 16u << 10))
    return wrong_value("max-size", std::to_string(options_.max_size), "at least 16K (with rotate: 256K)");
  JTRACE_RETURN_IF_ERROR(check_size(options_.filters));
  if (options_.virtual_threads) options_.events |= trace::record::kVirtualThreadEvent;
  return options_;
}

std::vector<EchoedOption> effective_options(const TraceOptions& options) {
  std::vector<EchoedOption> echoed;
  for (const OptionSpec& spec : option_table())
    if (auto value = spec.echo(options)) echoed.push_back({std::string(spec.name), std::move(*value)});
  return echoed;
}

namespace {

constexpr std::string_view kMask = "***";

std::string_view key_of(std::string_view word) {
  while (!word.empty() && word.front() == '-') word.remove_prefix(1);
  if (word.starts_with('D')) word.remove_prefix(1);
  return word.substr(0, word.find('='));
}

}  // namespace

std::string masked_words(const std::vector<std::string>& words) {
  std::string text;
  bool mask_next = false;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    const bool secret = looks_secret(key_of(word));
    const std::size_t equals = word.find('=');
    if (mask_next && !word.starts_with('-')) text += kMask;
    else if (secret && equals != std::string::npos) text.append(word, 0, equals + 1).append(kMask);
    else text += word;
    mask_next = secret && equals == std::string::npos && word.starts_with('-');
  }
  return text;
}

std::string masked_option_string(std::string_view options) {
  std::string text;
  for (const std::string& pair : split_escaped(options, ',', false)) {
    if (!text.empty()) text += ',';
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos && looks_secret(std::string_view(pair).substr(0, equals)))
      text.append(pair, 0, equals + 1).append(kMask);
    else text += pair;
  }
  return text;
}

}  // namespace jtrace::session
