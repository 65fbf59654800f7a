#include "perfdata/gc_causes.h"

namespace jtrace::perfdata {
namespace {

bool is_g1(const Snapshot& snapshot) { return snapshot.text_value("sun.gc.policy.name") == "GarbageFirst"; }

}  // namespace

bool counts_phases(const Snapshot& snapshot) {
  return snapshot.text_value("sun.gc.collector.1.name").value_or("").find("Shenandoah") != std::string_view::npos;
}

std::string_view collection_kind(const Snapshot& snapshot, int index) {
  const std::string stem = "sun.gc.collector." + std::to_string(index) + ".name";
  const std::string_view name = snapshot.text_value(stem).value_or("");
  const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
  // Shenandoah counts its full collections and the phases of its concurrent cycles as one.
  if (name.empty() || has("Shenandoah")) return {};
  if (has("concurrent cycle pauses") || has("stop-the-world phases")) return "concurrent";
  if (has("minor collection")) return "minor";
  if (has("major collection")) return "major";
  if (index == 0) return "young";
  return index == 1 ? "full" : "";
}

std::string cause_of_last(const Snapshot& snapshot, std::string_view kind, std::string_view cause_before) {
  const std::string_view cause = snapshot.text_value("sun.gc.cause").value_or("");
  const std::string_view last = snapshot.text_value("sun.gc.lastCause").value_or("");
  if (cause.empty() || last.empty()) return {};
  if (kind == "concurrent" && is_g1(snapshot)) return std::string(kNoCause);
  if (cause == kNoCause) return std::string(last == kNoCause ? "" : last);
  // Within another collection (generational ZGC) the pause may belong to either.
  return std::string(last == kNoCause && cause == cause_before ? cause : "");
}

}  // namespace jtrace::perfdata
