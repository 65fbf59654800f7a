#include "perfdata/named_page.h"

#include <algorithm>

#include "base/clock.h"

namespace jtrace::perfdata {
namespace {

constexpr std::uint64_t kBetweenSearches = 5 * kNanosPerSecond;

}  // namespace

NamedJvm named_jvm(pid_t pid, const Snapshot& snapshot) {
  return {.pid = pid,
          .main = main_of(snapshot),
          .beans = mx_beans(snapshot),
          .process = process_figures(pid),
          .inner = {},
          .runtime = std::string(snapshot.text_value("java.property.java.version").value_or(""))};
}

void read_inner(const InnerReader& reader, std::vector<NamedJvm>& jvms, const std::vector<std::uint64_t>& numbers) {
  if (!reader) return;
  std::vector<NumberedJvm> numbered;
  for (std::size_t i = 0; i < jvms.size(); ++i) numbered.push_back({jvms[i].pid, numbers[i]});
  std::vector<InnerFigures> figures = reader(numbered);
  for (std::size_t i = 0; i < jvms.size(); ++i) {
    jvms[i].inner = std::move(figures[i]);
    jvms[i].asks_inner = true;
  }
}

void match_threads(NamedJvm& jvm, CounterSource& source) {
  if (!jvm.inner.threads || has_states(jvm)) return;
  Snapshot after;
  if (!source.read(after)) return;
  const MxBeans beans = mx_beans(after);
  jvm.beans.threads = beans.threads;
  jvm.beans.daemon_threads = beans.daemon_threads;
}

std::string inner_problem(const NamedJvm& jvm) {
  return jvm.inner.problem
             ? "what --inside adds is not known of JVM " + std::to_string(jvm.pid) + ": " + jvm.inner.problem->message()
             : "";
}

NamedPage::NamedPage(NamedPageOptions options, const SourceOptions& sources, JvmSet::Say report, JvmSet::Say refusal)
    : options_(std::move(options)), refusal_(refusal), jvms_(sources, std::move(report), std::move(refusal)) {
  jvms_.keep_to(options_.only);
}

void NamedPage::look() {
  if (const std::uint64_t now = monotonic_ns(); now >= next_search_) {
    jvms_.refresh();
    next_search_ = now + kBetweenSearches;
  }
  if (shows_pauses(options_.naming)) read();
}

void NamedPage::read() {
  jvms_.read_all();
  if (!shows_pauses(options_.naming)) return;
  for (const auto& jvm : jvms_.jvms()) durations_[jvm->number].observe(jvm->snapshot);
  std::erase_if(durations_, [&](const auto& each) {
    return std::none_of(jvms_.jvms().begin(), jvms_.jvms().end(),
                        [&](const auto& jvm) { return jvm->number == each.first; });
  });
}

const std::vector<NamedJvm>& NamedPage::jvms() {
  jvms_.refresh();
  read();
  named_.clear();
  std::vector<std::uint64_t> numbers;
  for (const auto& jvm : jvms_.jvms()) {
    numbers.push_back(jvm->number);
    named_.push_back(named_jvm(jvm->source.pid(), jvm->snapshot));
    if (shows_pauses(options_.naming)) named_.back().durations = &durations_.at(jvm->number);
  }
  read_inner(options_.inner, named_, numbers);
  for (std::size_t i = 0; i < named_.size(); ++i) match_threads(named_[i], jvms_.jvms()[i]->source);
  report_problems(numbers);
  return named_;
}

// Each reason once.
void NamedPage::report_problems(const std::vector<std::uint64_t>& numbers) {
  std::map<std::uint64_t, std::string> said;
  for (std::size_t i = 0; i < named_.size(); ++i) {
    const std::string problem = inner_problem(named_[i]);
    if (problem.empty()) continue;
    if (said_[numbers[i]] != problem && refusal_) refusal_(problem + ": it is tried again");
    said[numbers[i]] = problem;
  }
  said_ = std::move(said);
}

std::string NamedPage::text(MetricsFormat format) {
  std::string page;
  const std::vector<NamedJvm>& named = jvms();
  append_jvm_counts(page, named.size(), refused().size());
  append_named_metrics(page, named, options_.naming, format);
  if (format == MetricsFormat::kOpenMetrics) page += "# EOF\n";
  return page;
}

}  // namespace jtrace::perfdata
