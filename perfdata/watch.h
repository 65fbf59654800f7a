// Watch: an Expression against the snapshots of a JVM, one after the other. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "perfdata/expression.h"
#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

class Watch {
 public:
  // kUsage where a name is neither a derived one nor a counter of this JVM: the error names the nearest; and where
  // units do not fit.
  static Result<Watch> of(Expression expression, const Snapshot& snapshot);

  // True if a name needs two snapshots (a share of time, a rate).
  bool needs_two() const;
  // `before` may be null: what needs two snapshots is unknown then.
  bool holds(const Snapshot& now, const Snapshot* before) const;
  // "old.used=123456 bytes, gc.pause_share=0.08 share": the names and what they are now.
  std::string explain(const Snapshot& now, const Snapshot* before) const;

 private:
  explicit Watch(Expression expression) : expression_(std::move(expression)) {}
  Expression expression_;
};

}  // namespace jtrace::perfdata
