#include "diagnose/bundle.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/json.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "base/utc_text.h"
#include "diagnose/anonymize.h"
#include "diagnose/bundle_page.h"
#include "diagnose/zip_writer.h"

namespace jtrace::diagnose {
namespace {

std::string host_name() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "";
}

// The samples of the verdict: when each was taken, and each thread's state and times.
std::string threads_json(const Facts& facts) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("samples").begin_array();
  for (const ThreadsLook& look : facts.looks) {
    json.begin_object().member("monotonicNanos", look.ns).member("pauseMicros", look.pause.count() / 1000);
    json.key("threads").begin_array();
    for (const ThreadFact& each : look.threads) {
      json.begin_object().member("name", each.name).member("threadId", each.key).member("nativeId", each.tid);
      json.member("state", each.state).member("virtual", each.is_virtual);
      if (each.ran_ns) json.member("ranNanos", *each.ran_ns);
      if (each.queued_ns) json.member("queuedNanos", *each.queued_ns);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

// The counters that the rules use, as a series.
std::string counters_json(const Facts& facts) {
  using Value = std::optional<double> CounterFact::*;
  constexpr std::pair<const char*, Value> kValues[] = {{"gcSeconds", &CounterFact::gc_seconds},
                                                       {"collections", &CounterFact::collections},
                                                       {"fullCollections", &CounterFact::full_collections},
                                                       {"oldUsed", &CounterFact::old_used},
                                                       {"oldMax", &CounterFact::old_max},
                                                       {"metaspaceUsed", &CounterFact::metaspace_used},
                                                       {"safepoints", &CounterFact::safepoints},
                                                       {"threadsLive", &CounterFact::threads_live},
                                                       {"threadsStarted", &CounterFact::threads_started}};
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("samples").begin_array();
  for (const CounterFact& each : facts.counters) {
    json.begin_object().member("monotonicNanos", each.ns);
    for (const auto& [name, value] : kValues)
      if (each.*value) json.member(name, *(each.*value));
    json.end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

void write_clock(JsonWriter& json, std::string_view name, const ClockAnchor& clock) {
  json.key(name).begin_object().member("monotonicNanos", clock.monotonic).member("realtimeNanos", clock.realtime);
  json.end_object();
}

void write_target(JsonWriter& json, const Facts& facts) {
  json.key("target").begin_object().member("pid", parse_decimal<long>(facts.target).value_or(0));
  json.member("version", facts.release).member("host", host_name()).member("bootId", target::boot_id());
  if (const auto process = target::Process::open(parse_decimal<pid_t>(facts.target).value_or(0)))
    json.member("nspid", process->nspid()).member("startTicks", process->start_ticks());
  json.end_object();
}

void write_steps(JsonWriter& json, const std::vector<StepRecord>& steps) {
  json.key("steps").begin_array();
  for (const StepRecord& each : steps) {
    json.begin_object().member("step", each.name).member("budgetMillis", each.budget.count());
    json.member("usedMillis", each.used.count()).member("status", each.problem.empty() ? "ok" : "failed");
    if (!each.problem.empty()) json.member("why", each.problem);
    json.end_object();
  }
  json.end_array();
}

std::string manifest_json(const Collected& collected, const BundleFrame& frame, const std::vector<Part>& parts) {
  const ClockAnchor end = ClockAnchor::now();
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("format", kBundleFormat).member("version", kBundleVersion).member("tool", frame.tool);
  json.member("created", utc_text(static_cast<std::int64_t>(end.realtime), kIsoSeconds)).member("status", frame.status);
  if (!frame.reason.empty()) json.member("when", frame.reason);
  json.member("anonymized", frame.anonymize);
  write_target(json, collected.facts);
  json.key("clock").begin_object();
  write_clock(json, "begin", frame.begin);
  write_clock(json, "end", end);
  json.end_object();
  json.key("pauses").begin_object().member("stops", collected.stops);
  json.member("longestMicros", collected.pause_longest.count() / 1000);
  json.member("allMicros", collected.pause_all.count() / 1000).end_object();
  write_steps(json, collected.steps);
  json.key("members").begin_array();
  for (const Part& each : parts)
    json.begin_object().member("name", each.name).member("bytes", each.content.size()).end_object();
  json.end_array().end_object();
  return out + "\n";
}

std::string summary_of(const Collected& collected, const BundleFrame& frame) {
  std::string out = frame.text;
  if (!frame.reason.empty()) out = "Taken because: " + frame.reason + "\n\n" + out;
  const auto missing = missing_parts(collected, frame.judged);
  if (!missing.empty()) out += "\nNot in this bundle:\n";
  for (const std::string& line : missing) out += "  " + printable(line) + "\n";
  out +=
      "\nSecrets by name (passwords, tokens, keys) are masked in the views; environment, command line and heap "
      "contents "
      "are not included.\n";
  const bool core = std::any_of(collected.parts.begin(), collected.parts.end(),
                                [](const Part& each) { return each.name == "jvm.core"; });
  if (core) out += "jvm.core is memory of the process as it was: nothing is masked in it.\n";
  if (frame.anonymize) out += "Names of host, user and folders, and addresses, were replaced (--anonymize).\n";
  return out;
}

Anonymizer anonymizer_for(const Facts& facts) {
  const auto process = target::Process::open(parse_decimal<pid_t>(facts.target).value_or(0));
  Anonymizer::Names names;
  if (process) names = names_of(*process);
  names.host = host_name();
  return Anonymizer(names);
}

}  // namespace

void leave_out_largest(Collected& collected, std::size_t most) {
  constexpr std::size_t kOfOthers = 1u << 20;  // the verdict, the samples, the page's frame
  std::size_t size = kOfOthers;
  for (const Part& each : collected.parts) size += each.content.size();
  while (size > most && !collected.parts.empty()) {
    const auto largest =
        std::max_element(collected.parts.begin(), collected.parts.end(),
                         [](const Part& a, const Part& b) { return a.content.size() < b.content.size(); });
    collected.steps.push_back({.name = largest->name,
                               .problem = "left out: it has " + size_text(largest->content.size()) +
                                          ", and a bundle at most " + size_text(most)});
    size -= largest->content.size();
    collected.parts.erase(largest);
  }
}

std::vector<std::string> missing_parts(const Collected& collected, std::size_t judged) {
  std::vector<std::string> missing;
  for (std::size_t i = judged; i < collected.steps.size(); ++i)
    if (!collected.steps[i].problem.empty())
      missing.push_back(collected.steps[i].name + ": " + collected.steps[i].problem);
  return missing;
}

Result<std::string> bundle_of(const Collected& collected, const BundleFrame& frame) {
  std::vector<Part> parts{{"SUMMARY.txt", summary_of(collected, frame)},
                          {"findings.json", frame.findings},
                          {"threads.json", threads_json(collected.facts)},
                          {"counters.json", counters_json(collected.facts)}};
  parts.insert(parts.end(), collected.parts.begin(), collected.parts.end());
  std::size_t size = 0;
  for (const Part& each : parts) size += each.content.size();
  if (size > kMostOfBundle)
    return fail(ErrorCategory::kRefused, "the bundle would be larger than " + whole_mib_text(kMostOfBundle));
  Anonymizer anonymizer = anonymizer_for(collected.facts);
  if (frame.anonymize)
    for (Part& each : parts) each.content = anonymizer.applied_to(each.content);
  Part manifest{"manifest.json", manifest_json(collected, frame, parts)};
  if (frame.anonymize) manifest.content = anonymizer.applied_to(manifest.content);
  parts.insert(parts.begin() + 1, std::move(manifest));
  parts.insert(parts.begin() + 1, Part{"report.html", page_of(parts)});
  ZipWriter zip(ClockAnchor::now().realtime);
  for (const Part& each : parts) JTRACE_RETURN_IF_ERROR(zip.add(each.name, each.content));
  return zip.finish();
}

}  // namespace jtrace::diagnose
