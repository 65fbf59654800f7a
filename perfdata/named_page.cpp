#include "perfdata/named_page.h"

#include <algorithm>

#include "base/clock.h"

namespace jtrace::perfdata {
namespace {

constexpr std::uint64_t kBetweenSearches = 5 * kNanosPerSecond;

}  // namespace

void NamedPage::look() {
  if (const std::uint64_t now = monotonic_ns(); now >= next_search_) {
    jvms_.refresh();
    next_search_ = now + kBetweenSearches;
  }
  if (shows_pauses(naming_)) read();
}

void NamedPage::read() {
  jvms_.read_all();
  if (!shows_pauses(naming_)) return;
  for (const auto& jvm : jvms_.jvms()) durations_[jvm->number].observe(jvm->snapshot);
  std::erase_if(durations_, [&](const auto& each) {
    return std::none_of(jvms_.jvms().begin(), jvms_.jvms().end(),
                        [&](const auto& jvm) { return jvm->number == each.first; });
  });
}

std::string NamedPage::text(MetricsFormat format) {
  jvms_.refresh();
  read();
  std::vector<NamedJvm> named;
  for (const auto& jvm : jvms_.jvms())
    named.push_back({.pid = jvm->source.pid(),
                     .main = main_of(jvm->snapshot),
                     .beans = mx_beans(jvm->snapshot),
                     .process = process_figures(jvm->source.pid()),
                     .durations = shows_pauses(naming_) ? &durations_.at(jvm->number) : nullptr});
  std::string page;
  append_named_metrics(page, named, naming_, format);
  if (format == MetricsFormat::kOpenMetrics) page += "# EOF\n";
  return page;
}

}  // namespace jtrace::perfdata
