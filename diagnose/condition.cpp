#include "diagnose/condition.h"

#include "base/size_text.h"
#include "base/strings.h"
#include "diagnose/collectors.h"
#include "diagnose/words.h"
#include "target/cgroup.h"
#include "target/proc_text.h"

namespace jtrace::diagnose {

Result<std::optional<Threshold>> threshold_of(std::string_view text) {
  const auto parts = split(text, '>');
  const std::string_view name = trimmed(parts[0]);
  if (name != "rss" && name != "group") return std::nullopt;
  const auto wrong = [&](const char* help) {
    return fail(ErrorCategory::kUsage, "not a condition: '" + std::string(text) + "'", help);
  };
  std::string_view value = parts.size() == 2 ? trimmed(parts[1]) : "";
  if (name == "rss") {
    const auto bytes = parse_size(value);
    if (!bytes || *bytes == 0) return wrong("for example 'rss > 1500M'");
    return Threshold{.what = Threshold::What::kRss, .bytes = *bytes};
  }
  if (!value.ends_with('%')) return wrong("for example 'group > 90%'");
  value.remove_suffix(1);
  const auto percent = parse_decimal<unsigned>(trimmed(value));
  if (!percent || *percent == 0 || *percent > 100) return wrong("for example 'group > 90%'");
  return Threshold{.what = Threshold::What::kGroup, .share = *percent / 100.0};
}

Result<Condition> Condition::open(pid_t pid, const std::string& text) {
  JTRACE_ASSIGN_OR_RETURN(auto threshold, threshold_of(text));
  JTRACE_ASSIGN_OR_RETURN(target::Process process, target::Process::open(pid));
  Condition condition(std::move(process), text);
  condition.threshold_ = threshold;
  if (!threshold) {
    JTRACE_ASSIGN_OR_RETURN(perfdata::Expression expression, perfdata::Expression::parse(text));
    JTRACE_ASSIGN_OR_RETURN(condition.source_, perfdata::CounterSource::of_process(pid));
    JTRACE_ASSIGN_OR_RETURN(condition.watch_, perfdata::Watch::of(std::move(expression), condition.source_->first()));
  }
  // A condition that can never hold is refused at once, not after a night.
  if (condition.watch_ && !condition.watch_->needs_two())
    if (auto lack = condition.watch_->lack(condition.source_->first(), nullptr)) return fail(std::move(*lack));
  if (threshold && threshold->what == Threshold::What::kGroup) {
    JTRACE_ASSIGN_OR_RETURN(const auto group, target::read_group_memory(condition.process_));
    if (!group.limit) return fail(ErrorCategory::kUsage, "the process has no memory limit", "'rss > SIZE'");
  }
  return condition;
}

Result<std::optional<std::string>> Condition::rss_holds() const {
  JTRACE_ASSIGN_OR_RETURN(const std::string status, process_.read_proc("status"));
  const auto resident = target::bytes_of_status(status, "VmRSS");
  if (!resident || *resident <= threshold_->bytes) return std::nullopt;
  return text_ + ": " + mib_text(*resident);
}

Result<std::optional<std::string>> Condition::group_holds() const {
  JTRACE_ASSIGN_OR_RETURN(const auto group, target::read_group_memory(process_));
  if (!group.limit || *group.limit == 0) return std::nullopt;
  const double share = static_cast<double>(group.kept()) / static_cast<double>(*group.limit);
  if (share <= threshold_->share) return std::nullopt;
  return text_ + ": " + percent(share) + " of " + mib_text(static_cast<double>(*group.limit));
}

Result<std::optional<std::string>> Condition::counters_hold() {
  std::swap(before_, now_);
  JTRACE_RETURN_IF_ERROR(source_->read(now_));
  const perfdata::Snapshot* before = looks_++ == 0 ? nullptr : &before_;
  if (!before && watch_->needs_two()) return std::nullopt;
  if (!watch_->holds(now_, before)) return std::nullopt;
  return text_ + ": " + watch_->explain(now_, before);
}

Result<std::optional<std::string>> Condition::holds() {
  if (!threshold_) return counters_hold();
  return threshold_->what == Threshold::What::kRss ? rss_holds() : group_holds();
}

}  // namespace jtrace::diagnose
