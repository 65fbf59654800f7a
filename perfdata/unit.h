// Unit: what the numbers of an Expression are of, so that a share is not compared with bytes.
//
// Pure, any thread.
#pragma once

#include <string_view>

namespace jtrace::perfdata {

enum class Unit {
  kUnknown,  // fits everything
  kNumber,   // written without a unit: fits everything
  kNone,     // a count
  kScaled,   // written with K, M, G or T: bytes, or a count
  kBytes,
  kSeconds,
  kShare,    // 0 to 1
  kPercent,  // 0 to 100
  kPerSecond,
  kBytesPerSecond
};

// Of DerivedName::unit and quantity_unit().
Unit unit_named(std::string_view name);
bool fits(Unit a, Unit b);  // they can be compared and added
Unit sum(Unit a, Unit b);
Unit product(Unit a, Unit b);
Unit quotient(Unit a, Unit b);
Unit rate_of(Unit unit);                // its change a second
std::string_view unit_text(Unit unit);  // "in bytes", "a share"
std::string_view what_fits(Unit unit);  // "a size, for example 64M"

}  // namespace jtrace::perfdata
