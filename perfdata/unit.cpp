#include "perfdata/unit.h"

#include <initializer_list>

namespace jtrace::perfdata {
namespace {

bool is_free(Unit unit) { return unit == Unit::kUnknown || unit == Unit::kNumber; }

bool can_be_scaled(Unit unit) {
  return unit == Unit::kNone || unit == Unit::kBytes || unit == Unit::kPerSecond || unit == Unit::kBytesPerSecond;
}

}  // namespace

Unit unit_named(std::string_view name) {
  if (name.empty() || name == "events") return Unit::kNone;
  if (name == "bytes") return Unit::kBytes;
  if (name == "seconds") return Unit::kSeconds;
  if (name == "share") return Unit::kShare;
  if (name == "percent") return Unit::kPercent;
  if (name == "per second" || name == "hertz") return Unit::kPerSecond;
  return Unit::kUnknown;
}

bool fits(Unit a, Unit b) {
  if (is_free(a) || is_free(b) || a == b) return true;
  return (a == Unit::kScaled && can_be_scaled(b)) || (b == Unit::kScaled && can_be_scaled(a));
}

Unit sum(Unit a, Unit b) {
  if (a == Unit::kUnknown || b == Unit::kUnknown) return Unit::kUnknown;
  return a == Unit::kNumber || a == Unit::kScaled ? b : a;
}

Unit product(Unit a, Unit b) {
  for (const Unit plain : {Unit::kNumber, Unit::kNone, Unit::kShare}) {
    if (a == plain) return b;
    if (b == plain) return a;
  }
  return Unit::kUnknown;
}

Unit quotient(Unit a, Unit b) {
  if (a == b && a >= Unit::kBytes) return Unit::kShare;  // of two counts it may also be a mean
  if (a == Unit::kUnknown || a == Unit::kNumber) return Unit::kUnknown;
  if (b == Unit::kSeconds) return rate_of(a);
  if (b == Unit::kNumber || b == Unit::kShare) return a;
  return b == Unit::kNone && a >= Unit::kBytes ? a : Unit::kUnknown;
}

Unit rate_of(Unit unit) {
  if (unit == Unit::kNone) return Unit::kPerSecond;
  if (unit == Unit::kBytes) return Unit::kBytesPerSecond;
  return unit == Unit::kSeconds ? Unit::kShare : Unit::kUnknown;
}

std::string_view unit_text(Unit unit) {
  switch (unit) {
    case Unit::kUnknown:
    case Unit::kNumber: return "a number";
    case Unit::kNone: return "a count";
    case Unit::kScaled: return "a size";
    case Unit::kBytes: return "in bytes";
    case Unit::kSeconds: return "in seconds";
    case Unit::kShare: return "a share";
    case Unit::kPercent: return "in percent";
    case Unit::kPerSecond: return "per second";
    case Unit::kBytesPerSecond: return "in bytes per second";
  }
  return "";
}

std::string_view what_fits(Unit unit) {
  switch (unit) {
    case Unit::kBytes:
    case Unit::kScaled: return "a size such as 64M";
    case Unit::kBytesPerSecond: return "a size a second such as 64M";
    case Unit::kSeconds: return "a time such as 10ms";
    case Unit::kShare: return "a share such as 5%";
    case Unit::kPercent: return "a number from 0 to 100";
    default: return "a number without a unit";
  }
}

}  // namespace jtrace::perfdata
