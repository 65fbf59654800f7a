// Conditions on counters: `old.share > 90% and (gc.pause_share > 5% or rate(java.threads.started) >= 10)`.
//
//   or, and, not          (also ||, &&, !)
//   < <= > >= == !=
//   + - * /, a minus in front, parentheses
//   names                 a counter (in its true unit) or a derived name (derived.h)
//   rate(name)            change a second
//   numbers               5%  (0.05)   10ms 2s 3min 1h  (seconds)   64K 10M 2G 1T  (bytes, powers of 1024)
//
// Pure; an Expression is a value and may be used by several threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perfdata/unit.h"

namespace jtrace::perfdata {

class Expression {
 public:
  // kUsage with the position of the fault. The whole must be a condition, not a number.
  static Result<Expression> parse(std::string_view text);

  struct Name {
    std::string text;
    bool rate = false;  // rate(text)
    friend bool operator==(const Name&, const Name&) = default;
  };
  // Each name once, in order.
  const std::vector<Name>& names() const { return names_; }

  // The first two parts that are compared or added although their units do not fit.
  struct Misfit {
    struct Part {
      std::string text;
      Unit unit;
      const Name* name;  // null: more than a name, or none
    };
    Part left, right;
  };
  using Units = std::function<Unit(const Name&)>;
  std::optional<Misfit> misfit(const Units& units) const;

  // Nothing for a name that has no value now: then neither a comparison with it nor its negation by `not` holds.
  using Values = std::function<std::optional<double>(const Name&)>;
  bool holds(const Values& values) const;
  // False if it can be neither true nor false: a value is missing, or something is divided by 0.
  bool is_known(const Values& values) const;

 private:
  friend class ExpressionParser;
  struct Node;
  Expression() = default;

  std::string text_;
  std::shared_ptr<const Node> root_;
  std::vector<Name> names_;
};

}  // namespace jtrace::perfdata
