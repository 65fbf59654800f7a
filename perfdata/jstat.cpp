#include "perfdata/jstat.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

enum class Formula : std::uint8_t {
  kValue,      // a
  kKilo,       // a / 1024
  kSum,        // a + b
  kKiloSum,    // (a + b) / 1024
  kSeconds,    // a / frequency
  kTotalTime,  // (a + b + c) / frequency; a missing counter counts as 0
  kPercent,    // used share: a is the capacity, b the used part
  kText,
  kAge,  // seconds since createVmBeginTime, by the reader's clock
};
enum class Side : std::uint8_t { kLeft, kCenter, kRight };

struct Column {
  std::string_view heading;
  Side heading_side;
  std::size_t width;  // as declared
  Side side;          // of the cells
  int decimals;
  Formula formula;
  std::array<std::string_view, 3> counters;
};

constexpr Column right(std::string_view heading, std::size_t width, int decimals, Formula formula, std::string_view a,
                       std::string_view b = {}, std::string_view c = {}) {
  return {heading, Side::kCenter, width, Side::kRight, decimals, formula, {a, b, c}};
}
constexpr Column left(std::string_view heading, std::size_t width, std::string_view a) {
  return {heading, Side::kLeft, width, Side::kLeft, 0, Formula::kText, {a, {}, {}}};
}

#define YOUNG "sun.gc.generation.0."
#define OLD "sun.gc.generation.1."
#define EDEN YOUNG "space.0."
#define S0 YOUNG "space.1."
#define S1 YOUNG "space.2."
#define TENURED OLD "space.0."
#define META "sun.gc.metaspace."
#define CCS "sun.gc.compressedclassspace."

using enum Formula;
// Every column of all options, once.
enum ColumnIndex : std::uint8_t {
  kTimestamp,
  kLoaded,
  kLoadedBytes,
  kUnloaded,
  kUnloadedBytes,
  kClassTime,
  kCompiled,
  kFailed,
  kInvalid,
  kCompileTime,
  kFailedType,
  kFailedMethod,
  kSize,
  kType,
  kMethod,
  kS0C,
  kS1C,
  kS1CLeft,
  kS0U,
  kS1U,
  kEC,
  kEU,
  kOC,
  kOU,
  kMC,
  kMU,
  kCCSC,
  kCCSU,
  kYGC,
  kYGCT,
  kFGC,
  kFGCT,
  kCGC,
  kCGCT,
  kGCT,
  kNGCMN,
  kNGCMX,
  kNGC,
  kOGCMN,
  kOGCMX,
  kOGC,
  kMCMN,
  kMCMX,
  kCCSMN,
  kCCSMX,
  kS0CMX,
  kS1CMX,
  kECMX,
  kS0,
  kS1,
  kE,
  kO,
  kM,
  kCCS,
  kLGCC,
  kGCC,
  kTT,
  kMTT,
  kDSS,
  kColumnCount
};
constexpr Column kColumns[] = {
    {"Timestamp", Side::kLeft, 15, Side::kRight, 1, kAge, {}},
    right("Loaded", 5, 0, kSum, "java.cls.loadedClasses", "java.cls.sharedLoadedClasses"),
    right("Bytes", 7, 1, kKiloSum, "sun.cls.loadedBytes", "sun.cls.sharedLoadedBytes"),
    right("Unloaded", 5, 0, kSum, "java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses"),
    right("Bytes", 7, 1, kKiloSum, "sun.cls.unloadedBytes", "sun.cls.sharedUnloadedBytes"),
    right("Time", 10, 2, kSeconds, "sun.cls.time"),
    right("Compiled", 6, 0, kValue, "sun.ci.totalCompiles"),
    right("Failed", 6, 0, kValue, "sun.ci.totalBailouts"),
    right("Invalid", 6, 0, kValue, "sun.ci.totalInvalidates"),
    right("Time", 8, 2, kSeconds, "java.ci.totalTime"),
    right("FailedType", 4, 0, kValue, "sun.ci.lastFailedType"),
    left("FailedMethod", 1, "sun.ci.lastFailedMethod"),
    right("Size", 6, 0, kValue, "sun.ci.lastSize"),
    right("Type", 4, 0, kValue, "sun.ci.lastType"),
    left("Method", 1, "sun.ci.lastMethod"),
    right("S0C", 11, 1, kKilo, S0 "capacity"),
    right("S1C", 11, 1, kKilo, S1 "capacity"),
    // Only gccapacity has this heading at the left.
    {"S1C", Side::kLeft, 11, Side::kRight, 1, kKilo, {S1 "capacity", {}, {}}},
    right("S0U", 11, 1, kKilo, S0 "used"),
    right("S1U", 11, 1, kKilo, S1 "used"),
    right("EC", 12, 1, kKilo, EDEN "capacity"),
    right("EU", 12, 1, kKilo, EDEN "used"),
    right("OC", 12, 1, kKilo, TENURED "capacity"),
    right("OU", 12, 1, kKilo, TENURED "used"),
    right("MC", 10, 1, kKilo, META "capacity"),
    right("MU", 10, 1, kKilo, META "used"),
    right("CCSC", 9, 1, kKilo, CCS "capacity"),
    right("CCSU", 9, 1, kKilo, CCS "used"),
    right("YGC", 6, 0, kValue, "sun.gc.collector.0.invocations"),
    right("YGCT", 9, 3, kSeconds, "sun.gc.collector.0.time"),
    right("FGC", 5, 0, kValue, "sun.gc.collector.1.invocations"),
    right("FGCT", 9, 3, kSeconds, "sun.gc.collector.1.time"),
    right("CGC", 5, 0, kValue, "sun.gc.collector.2.invocations"),
    right("CGCT", 9, 3, kSeconds, "sun.gc.collector.2.time"),
    right("GCT", 9, 3, kTotalTime, "sun.gc.collector.0.time", "sun.gc.collector.1.time", "sun.gc.collector.2.time"),
    right("NGCMN", 12, 1, kKilo, YOUNG "minCapacity"),
    right("NGCMX", 12, 1, kKilo, YOUNG "maxCapacity"),
    right("NGC", 12, 1, kKilo, YOUNG "capacity"),
    right("OGCMN", 12, 1, kKilo, OLD "minCapacity"),
    right("OGCMX", 12, 1, kKilo, OLD "maxCapacity"),
    right("OGC", 12, 1, kKilo, OLD "capacity"),
    right("MCMN", 10, 1, kKilo, META "minCapacity"),
    right("MCMX", 10, 1, kKilo, META "maxCapacity"),
    right("CCSMN", 9, 1, kKilo, CCS "minCapacity"),
    right("CCSMX", 9, 1, kKilo, CCS "maxCapacity"),
    right("S0CMX", 11, 1, kKilo, S0 "maxCapacity"),
    right("S1CMX", 11, 1, kKilo, S1 "maxCapacity"),
    right("ECMX", 12, 1, kKilo, EDEN "maxCapacity"),
    right("S0", 6, 2, kPercent, S0 "capacity", S0 "used"),
    right("S1", 6, 2, kPercent, S1 "capacity", S1 "used"),
    right("E", 6, 2, kPercent, EDEN "capacity", EDEN "used"),
    right("O", 6, 2, kPercent, TENURED "capacity", TENURED "used"),
    right("M", 6, 2, kPercent, META "capacity", META "used"),
    right("CCS", 6, 2, kPercent, CCS "capacity", CCS "used"),
    left("LGCC", 20, "sun.gc.lastCause"),
    left("GCC", 20, "sun.gc.cause"),
    right("TT", 2, 0, kValue, "sun.gc.policy.tenuringThreshold"),
    right("MTT", 2, 0, kValue, "sun.gc.policy.maxTenuringThreshold"),
    right("DSS", 11, 1, kKilo, "sun.gc.policy.desiredSurvivorSize"),
};
static_assert(std::size(kColumns) == kColumnCount);

#undef YOUNG
#undef OLD
#undef EDEN
#undef S0
#undef S1
#undef TENURED
#undef META
#undef CCS

struct Option {
  std::string_view name;
  std::vector<std::size_t> columns;
};
const std::vector<Option>& options() {
  static const std::vector<Option> all = {
      {"class", {kLoaded, kLoadedBytes, kUnloaded, kUnloadedBytes, kClassTime}},
      {"compiler", {kCompiled, kFailed, kInvalid, kCompileTime, kFailedType, kFailedMethod}},
      {"gc",
       {kS0C, kS1C, kS0U, kS1U, kEC, kEU, kOC, kOU, kMC, kMU, kCCSC, kCCSU, kYGC, kYGCT, kFGC, kFGCT, kCGC, kCGCT,
        kGCT}},
      {"gccapacity",
       {kNGCMN, kNGCMX, kNGC, kS0C, kS1CLeft, kEC, kOGCMN, kOGCMX, kOGC, kOC, kMCMN, kMCMX, kMC, kCCSMN, kCCSMX, kCCSC,
        kYGC, kFGC, kCGC}},
      {"gccause", {kS0, kS1, kE, kO, kM, kCCS, kYGC, kYGCT, kFGC, kFGCT, kCGC, kCGCT, kGCT, kLGCC, kGCC}},
      {"gcmetacapacity", {kMCMN, kMCMX, kMC, kCCSMN, kCCSMX, kCCSC, kYGC, kFGC, kFGCT, kCGC, kCGCT, kGCT}},
      {"gcnew", {kS0C, kS1C, kS0U, kS1U, kTT, kMTT, kDSS, kEC, kEU, kYGC, kYGCT}},
      {"gcnewcapacity", {kNGCMN, kNGCMX, kNGC, kS0CMX, kS0C, kS1CMX, kS1C, kECMX, kEC, kYGC, kFGC, kCGC}},
      {"gcold", {kMC, kMU, kCCSC, kCCSU, kOC, kOU, kYGC, kFGC, kFGCT, kCGC, kCGCT, kGCT}},
      {"gcoldcapacity", {kOGCMN, kOGCMX, kOGC, kOC, kYGC, kFGC, kFGCT, kCGC, kCGCT, kGCT}},
      {"gcutil", {kS0, kS1, kE, kO, kM, kCCS, kYGC, kYGCT, kFGC, kFGCT, kCGC, kCGCT, kGCT}},
      {"printcompilation", {kCompiled, kSize, kType, kMethod}},
  };
  return all;
}

// The heading and the pattern of the numbers ("0.00") widen a column.
std::size_t width_of(const Column& column) {
  const std::size_t pattern = column.decimals == 0 ? 1 : static_cast<std::size_t>(column.decimals) + 2;
  // A one-sided heading is measured without its one mark, a centred one without both.
  return std::max({column.width, pattern, column.heading.size()});
}

// Counts UTF-8 sequences, each of which is one character to jstat (two beyond the BMP).
std::size_t characters_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    count += (byte & 0xc0) != 0x80 ? 1 : 0;
    count += byte >= 0xf0 ? 1 : 0;
  }
  return count;
}

void append_aligned(std::string& out, std::string_view text, std::size_t width, Side side) {
  const std::size_t characters = characters_of(text);
  const std::size_t room = width > characters ? width - characters : 0;
  // If centring leaves one blank, it comes last.
  const std::size_t before = side == Side::kRight ? room : side == Side::kCenter ? room / 2 : 0;
  out.append(before, ' ').append(text).append(room - before, ' ');
}

constexpr double kNotThere = std::numeric_limits<double>::quiet_NaN();

std::string number_text(double value, int decimals) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value < 0 ? "-\u221e" : "\u221e";
  char digits[400];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr};
}

double divided(double a, double b) { return b == 0 ? kNotThere : a / b; }

}  // namespace

std::vector<std::string_view> jstat_options() {
  std::vector<std::string_view> names;
  for (const Option& option : options()) names.push_back(option.name);
  return names;
}

std::optional<JstatView> JstatView::of(std::string_view name, bool timestamp) {
  for (const Option& option : options()) {
    if (option.name != name) continue;
    std::vector<std::size_t> columns = option.columns;
    if (timestamp) columns.insert(columns.begin(), kTimestamp);
    return JstatView(std::move(columns));
  }
  return std::nullopt;
}

std::string JstatView::header() const {
  std::string line;
  for (const std::size_t index : columns_) {
    const Column& column = kColumns[index];
    if (!line.empty()) line += ' ';
    append_aligned(line, column.heading, width_of(column), column.heading_side);
  }
  return line;
}

void JstatView::resolve(const Snapshot& snapshot) {
  if (layout_ == snapshot.shared_layout()) return;
  layout_ = snapshot.shared_layout();
  counters_.clear();
  for (const std::size_t index : columns_) {
    std::vector<const Counter*> found;
    for (const std::string_view name : kColumns[index].counters)
      found.push_back(name.empty() ? nullptr : layout_->find(name));
    counters_.push_back(std::move(found));
  }
  frequency_ = layout_->find("sun.os.hrt.frequency");
  begin_ = layout_->find("sun.rt.createVmBeginTime");
}

namespace {

double number(const Snapshot& snapshot, const Counter* counter, double missing = kNotThere) {
  if (!counter) return missing;
  return counter->kind == ValueKind::kLong ? static_cast<double>(snapshot.long_value(*counter)) : kNotThere;
}

double evaluate(const Column& column, const std::vector<const Counter*>& counters, const Snapshot& snapshot,
                double frequency) {
  const double a = number(snapshot, counters[0]);
  const double b = number(snapshot, counters[1]);
  switch (column.formula) {
    case kValue: return a;
    case kKilo: return a / 1024;
    case kSum: return a + b;
    case kKiloSum: return (a + b) / 1024;
    case kSeconds: return divided(a, frequency);
    case kTotalTime:
      return divided(
          number(snapshot, counters[0], 0) + number(snapshot, counters[1], 0) + number(snapshot, counters[2], 0),
          frequency);
    case kPercent: return (1 - divided(a - b, a)) * 100;
    case kText:
    case kAge: break;
  }
  return kNotThere;
}

}  // namespace

std::string JstatView::row(const Snapshot& snapshot, std::int64_t wall_ms) {
  resolve(snapshot);
  const double frequency = number(snapshot, frequency_);
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = kColumns[columns_[i]];
    const Counter* first = counters_[i][0];
    std::string cell;
    if (column.formula == kText && first && first->kind == ValueKind::kText)
      cell = utf8_from_modified(snapshot.text_value(*first));
    else if (column.formula == kAge)
      cell = number_text((static_cast<double>(wall_ms) - number(snapshot, begin_)) / 1000, column.decimals);
    else cell = number_text(evaluate(column, counters_[i], snapshot, frequency), column.decimals);
    if (i != 0) line += ' ';
    append_aligned(line, cell, width_of(column), column.side);
  }
  return line;
}

bool JstatView::shows_eden() const {
  return std::any_of(columns_.begin(), columns_.end(), [](std::size_t c) { return c == kE || c == kEU; });
}

}  // namespace jtrace::perfdata
