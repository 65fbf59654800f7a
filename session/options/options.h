// The options of a trace, in one table for the command line (--name VALUE), the agent's option string (name=value,...)
// and the option elements of the document.
//
// The agent's option string: pairs separated by commas; items of a list joined by '+'; a backslash quotes the next
// character; a flag has no '='. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time_text.h"
#include "session/options/filter_rule.h"
#include "trace/record/definition_fields.h"

namespace jtrace::session {

// ns: shorter times of --slower-than and --longest-from need the precise clock. The coarse one has steps of up to 1 ms.
inline constexpr std::uint64_t kLeastCoarse = 10'000'000, kLeastLongest = 3'000'000;

struct TraceOptions {
  std::string output;                      // path; "-": stdout; "": jtrace-PID.xml
  std::string spill;                       // path: records are stored instead of a document; "": a document
  std::optional<std::uint64_t> duration;   // ns
  std::uint64_t timeout = 10'000'000'000;  // ns, for the attach itself
  std::uint64_t events;                    // EventBit
  bool virtual_threads = false;
  std::vector<FilterRule> filters;
  std::string filter_file;  // the last file of --filters, "": none
  bool fragments = false;
  bool strict_dtd = false;  // implies fragments
  bool doctype = false;
  bool classic_names = false;
  bool nested_frees = false;
  std::uint64_t min_contention = 1'000'000;  // ns: shorter contentions are counted, not written; 0: all are written
#define START_FLAG(bit, Name, member, ...) bool member = false;
#define START_CHOICE(bit, Name, member, ...) bool member = false;
#define START_VALUE(type, Name, member, form, normal, ...) trace::record::fields_written::type member = normal;
#include "trace/record/start_options.def"
  std::uint64_t ring_memory = 64u << 20;   // bytes
  std::uint64_t max_size = 0;              // bytes; 0: no limit
  std::uint32_t rotate = 0;                // files kept beside the current one
  std::optional<std::uint64_t> min_free;   // bytes
  std::uint32_t min_free_percent = 5;      // if min_free is not given: this share, at most...
  std::uint64_t min_free_most = 1u << 30;  // ...this number of bytes, unless the user gave the share
  bool show_secrets = false;
  bool strict = false;                   // -agentpath: a wrong option ends the JVM's start
  std::string agent_parameters;          // as given by the user: agentCreate's agentParameters
  std::vector<std::string> unused = {};  // unused_options()

  TraceOptions();
  bool writes_fragments() const { return fragments || strict_dtd; }
  bool spills() const { return !spill.empty(); }
  // The path of the document, or of the spill.
  std::string output_path(int pid) const;
};

// The kind of value of an option.
enum class OptionKind { kFlag, kValue, kList, kRepeated };

struct OptionSpec {
  std::string_view name;
  OptionKind kind;
  std::string_view value;  // placeholder for help texts
  std::string_view help;
  // Each item of a list, each occurrence of a repeated option; empty for a flag.
  std::function<Result<>(TraceOptions&, const std::vector<std::string>&)> set;
  // The effective value; nothing: it is not echoed.
  std::function<std::optional<std::string>(const TraceOptions&)> echo;
  PlainUnit plain = PlainUnit::kSeconds;  // of a time: what a number without a unit is in
};

std::span<const OptionSpec> option_table();

// Collects the user's options and applies each once: duplicates, missing and wrong values are kUsage and name the
// option. One thread.
class OptionReader {
 public:
  // `text`: a value as one word of the command line; lists are separated by commas.
  Result<> give(std::string_view name, std::string_view text);
  Result<> give_flag(std::string_view name);
  // In the form of effective_options().
  Result<> give_echoed(std::string_view name, std::string_view value);
  // A complete agent's option string.
  Result<> give_string(std::string_view options);
  // Checks combinations of options.
  Result<TraceOptions> finish();

 private:
  Result<> apply(const OptionSpec& spec, const std::vector<std::string>& items);
  Result<> give_pair(std::string_view key, std::optional<std::string_view> raw);

  TraceOptions options_;
  std::vector<std::string_view> seen_;
};

struct EchoedOption {
  std::string key;
  std::string value;
};
// Every effective option, defaults included, in the order of the table.
std::vector<EchoedOption> effective_options(const TraceOptions& options);

// An option string with the values of secrets replaced (base/strings.h, looks_secret).
std::string masked_option_string(std::string_view options);

}  // namespace jtrace::session
