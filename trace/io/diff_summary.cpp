#include "trace/io/diff_summary.h"

#include <algorithm>
#include <cmath>

namespace jtrace::trace::io {
namespace {

constexpr double kMuch = 0.05;                 // of the time of all methods
constexpr double kOften = 1.5, kLonger = 1.5;  // a busier machine makes calls a third longer

bool differ(double before, double after, double factor) {
  return before == 0 || after == 0 ? before != after : std::max(before / after, after / before) >= factor;
}

const DiffTable* find(const Difference& difference, std::string_view title) {
  for (const DiffTable& table : difference.tables)
    if (table.title == title) return &table;
  return nullptr;
}

// The row with the greatest `size`, which is at least `least`, of those that `is`.
template <class Is, class Size>
const DiffRow* greatest(const DiffTable& table, double least, Is&& is, Size&& size) {
  const DiffRow* found = nullptr;
  for (const DiffRow& row : table.rows)
    if (is(row) && size(row) >= std::max(least, found != nullptr ? size(*found) : 0)) found = &row;
  return found;
}

double change(const DiffRow& row) { return std::abs(row.change()); }
// What the other mean alone makes of the change: it may be called more often too.
double change_by_mean(const DiffRow& row) {
  return std::abs(row.after.mean() - row.before.mean()) * std::min(row.before.count, row.after.count);
}

}  // namespace

DiffSummary summary_of(const Difference& difference) {
  const DiffTable *self = find(difference, kSelfTime), *total = find(difference, kTotalTime);
  if (self == nullptr || total == nullptr || !self->is_comparable() || !total->is_comparable()) return {};
  if (difference.before->slow_calls_only || difference.after->slow_calls_only) return {};
  const double least = kMuch * std::max(self->all_before.amount, self->all_after.amount);
  // What it calls is called more often too, but has less of the time.
  return {
      .calls = greatest(
          *total, least, [](const DiffRow& row) { return differ(row.before.count, row.after.count, kOften); }, change),
      .self = greatest(
          *self, least,
          [&](const DiffRow& row) {
            if (self->usual.applies() && !row.differs) return false;
            return row.before.count != 0 && row.after.count != 0 &&
                   differ(row.before.mean(), row.after.mean(), kLonger);
          },
          change_by_mean)};
}

}  // namespace jtrace::trace::io
