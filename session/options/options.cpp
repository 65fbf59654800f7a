#include "session/options/options.h"

#include <algorithm>

#include "base/strings.h"
#include "session/options/text_check.h"
#include "session/options/unused_options.h"
#include "trace/record/control.h"
#include "trace/record/event_names.h"
#include "trace/record/start_options.h"

namespace jtrace::session {

namespace {

using Items = std::vector<std::string>;

const OptionSpec* find_spec(std::string_view name) {
  // "file" is the old name of "output".
  for (const OptionSpec& spec : option_table())
    if (spec.name == (name == "file" ? "output" : name)) return &spec;
  return nullptr;
}

tl::unexpected<Error> unknown_option(std::string_view key) {
  if (key == "ship")
    return fail(ErrorCategory::kUsage, "option ship is of jtrace attach alone: without it a trace is a file",
                "jtrace ship FILE URL sends it");
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

// Whether the options go together.
Result<> check_together(const TraceOptions& options) {
  if (options.rotate != 0 && options.max_size == 0)
    return fail(ErrorCategory::kUsage, "option rotate needs max-size", "say at which size the next file begins");
  if (options.spills() && !options.output.empty())
    return fail(ErrorCategory::kUsage, "options output and spill: a trace goes into a document or into a spill",
                "jtrace convert makes the document of a spill");
  if (options.rotate != 0 && options.output_path(0) == "-")
    return fail(ErrorCategory::kUsage, "option rotate needs a file: standard output cannot be rotated");
  if (options.doctype && options.writes_fragments())
    return fail(ErrorCategory::kUsage, "option doctype: fragments have no DOCTYPE");
  if (options.slower_than != 0 && (options.events & trace::record::kMethodEvent) == 0)
    return fail(ErrorCategory::kUsage, "option slower-than needs methods", "--events methods");
  const bool has_values = options.arguments || options.return_values;
  if (has_values && (options.events & trace::record::kMethodEvent) == 0)
    return fail(ErrorCategory::kUsage, "options arguments and return-values need methods", "--events methods");
  if (options.receivers && (options.events & trace::record::kMethodEvent) == 0)
    return fail(ErrorCategory::kUsage, "option objects needs methods", "--events methods");
  if (options.exception_messages && (options.events & trace::record::kThrowEvent) == 0)
    return fail(ErrorCategory::kUsage, "option exception-messages needs exceptions", "--events exceptions");
  constexpr std::uint64_t kHaveCpuTime =
      trace::record::kMethodEvent | trace::record::kCallEvent | trace::record::kLineEvent;
  if (options.cpu_time && (options.events & kHaveCpuTime) == 0)
    return fail(ErrorCategory::kUsage, "option cpu-time needs methods, calls or lines", "--events methods");
  if (options.slower_than != 0 && (options.events & trace::record::kCallEvent) != 0)
    return fail(ErrorCategory::kUsage, "option slower-than: calls cannot be limited to slow ones",
                "leave out calls; --events methods has the slow ones");
  if (options.slower_than != 0 && options.slower_than < kLeastCoarse && !options.precise_time)
    return fail(ErrorCategory::kUsage, "option slower-than: below 10 ms it needs the precise clock",
                "--time precise (-agentpath: time=precise)");
  if (options.longest_from != 0 && options.slower_than == 0)
    return fail(ErrorCategory::kUsage, "option longest-from needs slower-than", "without it all calls are recorded");
  if (options.longest_from != 0 && options.longest_from >= options.slower_than)
    return fail(ErrorCategory::kUsage, "option longest-from: calls of slower-than and more are recorded anyway",
                "give a shorter time");
  if (options.longest_from != 0 && options.longest_from < kLeastLongest && !options.precise_time)
    return fail(ErrorCategory::kUsage, "option longest-from: below 3 ms it needs the precise clock",
                "--time precise (-agentpath: time=precise)");
  if (options.max_size != 0 && options.max_size < (options.rotate != 0 ? 256u << 10 : 16u << 10))
    return wrong_value("max-size", std::to_string(options.max_size), "at least 16K (with rotate: 256K)");
  return {};
}

}  // namespace

TraceOptions::TraceOptions() : events(trace::record::default_events()) {}

std::string TraceOptions::output_path(int pid) const {
  if (spills()) return spill;
  return output.empty() ? "jtrace-" + std::to_string(pid) + ".xml" : output;
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

namespace {

// A word without '=' that is no option, for a list before it: "events=threads,gc" as on the command line.
Result<> check_list_item(const OptionSpec* before, std::string_view word) {
  const bool takes_more = before && (before->kind == OptionKind::kList || before->kind == OptionKind::kRepeated);
  if (!takes_more || find_spec(word) != nullptr) return {};
  TraceOptions ignored;
  auto unknown = unknown_option(word);
  // "dotype" after events=gc is doctype; "gc" is an event.
  const bool is_item = before->kind == OptionKind::kList && before->set(ignored, {std::string(word)});
  if (!is_item && unknown.value().help.starts_with("did you mean")) return {};
  unknown.value().help =
      "values of " + std::string(before->name) + " are joined by '+' here: " + std::string(before->name) + "=A+B";
  return unknown;
}

}  // namespace

Result<> OptionReader::give_string(std::string_view options) {
  if (options.empty()) return {};
  const OptionSpec* before = nullptr;
  for (const std::string& pair : split_escaped(options, ',', false)) {
    if (pair.empty())
      return fail(ErrorCategory::kUsage, "an option is missing between two commas of '" + std::string(options) + "'");
    const std::size_t equals = pair.find('=');
    const std::string_view key = std::string_view(pair).substr(0, equals);
    if (equals == std::string::npos) {
      JTRACE_RETURN_IF_ERROR(check_list_item(before, key));
      JTRACE_RETURN_IF_ERROR(give_pair(key, std::nullopt));
    } else {
      JTRACE_RETURN_IF_ERROR(give_pair(key, std::string_view(pair).substr(equals + 1)));
    }
    before = find_spec(key);
  }
  return {};
}

Result<TraceOptions> OptionReader::finish() {
  // Who chooses classes, and no events, wants to see what these classes do.
  const bool chooses = !options_.filters.empty() || !options_.filter_file.empty();
  if (chooses && std::find(seen_.begin(), seen_.end(), trace::record::kEventsOption) == seen_.end())
    options_.events |= trace::record::kMethodEvent;
  JTRACE_RETURN_IF_ERROR(check_together(options_));
  // A file has the format's own rule: what no rule matches is included.
  if (options_.filter_file.empty()) exclude_the_rest(options_.filters);
  if (options_.receivers) options_.events |= trace::record::kObjFreeEvent;
  if ((options_.events & trace::record::kAllocationEvent) != 0) {
    options_.events &= ~std::uint64_t{trace::record::kObjAllocEvent};  // exact instead of sampled
    if (std::find(seen_.begin(), seen_.end(), trace::record::kStackDepthOption) == seen_.end())
      options_.stack_depth = 1;
  }
  JTRACE_RETURN_IF_ERROR(check_size(options_.filters));
  if (options_.virtual_threads) options_.events |= trace::record::kVirtualThreadEvent;
  options_.unused = unused_options(options_, seen_);
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

}  // namespace

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
