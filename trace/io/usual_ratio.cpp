#include "trace/io/usual_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/strings.h"

namespace jtrace::trace::io {
namespace {

constexpr double kManyCalls = 100;
constexpr std::size_t kLeastMethods = 10;  // of fewer, those that changed may be the most
// Methods of one recording differ among each other by so much at least, and what differs by more than the second factor
// is worth a look however much the others do.
constexpr double kAlike = 1.25, kUnlike = 2;
constexpr double kAboutOne = 0.1;
constexpr double kMatters = 0.01;

double mean_ratio(const Figure& before, const Figure& after) {
  const bool has_means = before.amount > 0 && after.amount > 0 && before.count > 0 && after.count > 0;
  return has_means ? after.mean() / before.mean() : 0;
}

// Of at least one.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bool is_within(double ratio, double factor) { return ratio <= factor && ratio >= 1 / factor; }

// Three times the middle distance from the median, as a factor.
double band_of(const std::vector<double>& ratios, double middle) {
  std::vector<double> distances;
  for (const double ratio : ratios) distances.push_back(std::abs(std::log(ratio / middle)));
  return std::clamp(std::exp(3 * median(std::move(distances))), kAlike, kUnlike);
}

}  // namespace

bool UsualRatio::applies() const { return methods != 0 && std::abs(ratio - 1) > kAboutOne && alike * 3 > methods * 2; }

UsualRatio usual_ratio(const FigureTable& before, const FigureTable& after) {
  std::vector<double> ratios, calls;
  for (const auto& [name, figure] : before.rows) {
    const auto other = after.rows.find(name);
    if (other == after.rows.end() || std::min(figure.count, other->second.count) < kManyCalls) continue;
    const double ratio = mean_ratio(figure, other->second);
    if (ratio == 0) continue;
    ratios.push_back(ratio);
    calls.push_back(other->second.count / figure.count);
  }
  if (ratios.size() < kLeastMethods) return {};
  const double middle = median(ratios);
  UsualRatio made{.ratio = middle, .calls = median(std::move(calls)), .width = band_of(ratios, middle)};
  made.methods = ratios.size();
  made.alike = static_cast<std::size_t>(
      std::count_if(ratios.begin(), ratios.end(), [&](double ratio) { return is_within(ratio / middle, kAlike); }));
  return made;
}

bool differs_from(const UsualRatio& usual, const DiffRow& row, double scale, double all) {
  const double ratio = mean_ratio(row.before, row.after);
  if (!usual.applies() || ratio == 0) return false;
  if (std::abs(row.after.amount - expected_after(usual, row, scale)) < kMatters * all) return false;
  const double calls = row.after.count / scale / row.before.count / usual.calls;
  const bool has_many = std::min(row.before.count, row.after.count / scale) >= kManyCalls;
  return !is_within(ratio / usual.ratio, has_many ? usual.width : kUnlike) || (has_many && !is_within(calls, kUnlike));
}

double expected_after(const UsualRatio& usual, const DiffRow& row, double scale) {
  return row.before.amount * usual.ratio * usual.calls * scale;
}

std::string usual_note(const DiffTable& table) {
  const UsualRatio& usual = table.usual;
  if (!usual.applies()) return {};
  const bool any_differs = std::any_of(table.rows.begin(), table.rows.end(), [](auto& row) { return row.differs; });
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "x %.3g", usual.ratio);
  const std::string who = "most methods took " + std::string(ratio) +
                          " as long themselves, callees left out (the median of " + counted(usual.methods, "method") +
                          " with " + std::to_string(static_cast<int>(kManyCalls)) + " calls and more in both)";
  return who + ": load of the machine or the tracer, if their code is the same; " +
         (any_differs ? "* differs from that" : "no other method of both differs from that so much that it matters");
}

}  // namespace jtrace::trace::io
