// Profiles as `go tool pprof` reads them: profile.proto of github.com/google/pprof, not packed.
#include <map>

#include "sampling/profile_writers.h"

namespace jtrace::sampling {
namespace {

// A message of protocol buffers: fields as tag, then a variable length number or a length and bytes.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    put(std::uint64_t{field} << 3);
    put(value);
    return *this;
  }
  Message& bytes(std::uint32_t field, std::string_view value) {
    put(std::uint64_t{field} << 3 | 2);
    put(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& value) { return bytes(field, value.bytes_); }
  // An element of a packed list.
  Message& packed(std::uint64_t value) {
    put(value);
    return *this;
  }
  const std::string& text() const { return bytes_; }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Fields of profile.proto.
namespace profile {
constexpr std::uint32_t kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5, kString = 6,
                        kTime = 9, kDuration = 10, kPeriodType = 11, kPeriod = 12, kComment = 13, kDefaultType = 14;
}
namespace value_type {
constexpr std::uint32_t kType = 1, kUnit = 2;
}
namespace sample {
constexpr std::uint32_t kLocations = 1, kValues = 2, kLabel = 3;
}
namespace label {
constexpr std::uint32_t kKey = 1, kText = 2;
}
namespace mapping {
constexpr std::uint32_t kId = 1, kFile = 5, kHasFunctions = 7;
}
namespace location {
constexpr std::uint32_t kId = 1, kMappingId = 2, kLine = 4;
}
namespace line {
constexpr std::uint32_t kFunctionId = 1;
}
namespace function {
constexpr std::uint32_t kId = 1, kName = 2, kSystemName = 3;
}

// Texts by number; the first is the empty one.
class Strings {
 public:
  Strings() { number_of(""); }
  std::uint64_t number_of(const std::string& text) {
    const auto [known, fresh] = numbers_.try_emplace(text, numbers_.size());
    if (fresh) texts_.bytes(profile::kString, text);
    return known->second;
  }
  const std::string& encoded() const { return texts_.text(); }

 private:
  std::map<std::string, std::uint64_t> numbers_;
  Message texts_;
};

Message type_of(Strings& strings, const char* type, const char* unit) {
  Message message;
  message.number(value_type::kType, strings.number_of(type)).number(value_type::kUnit, strings.number_of(unit));
  return message;
}

Message sample_of(Strings& strings, const ProfileCounts& counts, const ProfileCounts::Stack& stack,
                  const ProfileCounts::Count& count) {
  Message locations, values, message;
  const std::size_t thread = counts.thread_at();
  for (std::size_t i = stack.size(); i-- > thread + 1;) locations.packed(stack[i] + 1);  // innermost first; 0 is none
  values.packed(count.samples).packed(count.weight);
  message.message(sample::kLocations, locations).message(sample::kValues, values);
  const auto add_label = [&](const char* key, const std::string& text) {
    Message entry;
    entry.number(label::kKey, strings.number_of(key)).number(label::kText, strings.number_of(text));
    message.message(sample::kLabel, entry);
  };
  add_label("thread", counts.names()[stack[thread]]);
  if (counts.shape().processes) add_label("process", counts.names()[stack[0]]);
  return message;
}

// What the nanoseconds are of.
const char* metric_of(const ProfileCounts& counts) {
  return !counts.shape().waits ? "cpu" : counts.shape().cpu ? "wall" : "off-cpu";
}

// One location and one function for each name: frames have no addresses here.
void put_names(Strings& strings, const ProfileCounts& counts, Message& whole) {
  for (std::uint64_t i = 0; i < counts.names().size(); ++i) {
    const std::uint64_t name = strings.number_of(counts.names()[i]);
    Message function, line, location;
    function.number(function::kId, i + 1).number(function::kName, name).number(function::kSystemName, name);
    line.number(line::kFunctionId, i + 1);
    location.number(location::kId, i + 1).number(location::kMappingId, 1).message(location::kLine, line);
    whole.message(profile::kFunction, function).message(profile::kLocation, location);
  }
}

}  // namespace

std::string pprof_bytes(const ProfileCounts& counts, const ProfileHead& head) {
  Strings strings;
  Message whole, process;
  const char* metric = metric_of(counts);
  whole.message(profile::kSampleType, type_of(strings, "samples", "count"));
  whole.message(profile::kSampleType, type_of(strings, metric, "nanoseconds"));
  for (const auto& [stack, count] : counts.stacks())
    whole.message(profile::kSample, sample_of(strings, counts, stack, count));
  // pprof takes the first mapping for the program; that the names are known keeps it from looking for its symbols.
  process.number(mapping::kId, 1).number(mapping::kFile, strings.number_of(head.process));
  process.number(mapping::kHasFunctions, 1);
  whole.message(profile::kMapping, process);
  put_names(strings, counts, whole);
  whole.number(profile::kTime, head.start).number(profile::kDuration, head.elapsed);
  whole.message(profile::kPeriodType, type_of(strings, metric, "nanoseconds"));
  const std::uint64_t samples = counts.total().samples;
  whole.number(profile::kPeriod, samples == 0 ? 0 : counts.total().weight / samples);
  whole.number(profile::kComment, strings.number_of(head.title + ", " + head.how));
  whole.number(profile::kDefaultType, strings.number_of(metric));
  return whole.text() + strings.encoded();
}

}  // namespace jtrace::sampling
