#include "trace/io/diff_summary.h"

#include <algorithm>
#include <cmath>

namespace jtrace::trace::io {
namespace {

constexpr double kMuch = 0.05;  // of the time of all methods
constexpr double kOften = 1.5, kLonger = 1.25;

bool differ(double before, double after, double factor) {
  return before == 0 || after == 0 ? before != after : std::max(before / after, after / before) >= factor;
}

const DiffTable* find(const Difference& difference, std::string_view title) {
  for (const DiffTable& table : difference.tables)
    if (table.title == title) return &table;
  return nullptr;
}

// The row with the greatest change of at least `least`, of those that `is`.
template <class Is>
const DiffRow* greatest(const DiffTable& table, double least, Is&& is) {
  const DiffRow* found = nullptr;
  for (const DiffRow& row : table.rows)
    if (std::abs(row.change()) >= std::max(least, found != nullptr ? std::abs(found->change()) : 0) && is(row))
      found = &row;
  return found;
}

double mean(const Figure& figure) { return figure.count == 0 ? 0 : figure.amount / figure.count; }

}  // namespace

DiffSummary summary_of(const Difference& difference) {
  const DiffTable *self = find(difference, kSelfTime), *total = find(difference, kTotalTime);
  if (self == nullptr || total == nullptr || !self->is_comparable() || !total->is_comparable()) return {};
  if (difference.before->slow_calls_only || difference.after->slow_calls_only) return {};
  const double least = kMuch * std::max(self->all_before.amount, self->all_after.amount);
  // What it calls is called more often too, but has less of the time.
  return {.calls = greatest(*total, least,
                            [](const DiffRow& row) { return differ(row.before.count, row.after.count, kOften); }),
          .self = greatest(*self, least, [&](const DiffRow& row) {
            if (self->usual.applies() && !row.differs) return false;
            return row.before.count != 0 && row.after.count != 0 && differ(mean(row.before), mean(row.after), kLonger);
          })};
}

}  // namespace jtrace::trace::io
