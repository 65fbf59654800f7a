#include "session/document/method_counts.h"

#include <cstring>
#include <span>

#include "base/strings.h"
#include "trace/record/control.h"
#include "trace/record/frames.h"

namespace jtrace::session {

bool MethodCounts::add_frame(std::string_view payload) {
  ByteReader reader(std::as_bytes(std::span(payload)));
  trace::record::CountsFields frame;
  read_fields(reader, frame);
  if (reader.failed()) return false;
  for (const trace::record::CountItem& each : frame.counts) counts.push_back({each.method, each.calls});
  return true;
}

std::string MethodCounts::encoded() const {
  const auto size = static_cast<std::uint32_t>(coverage.size());
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += coverage;
  return bytes.append(reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof(Count));
}

bool MethodCounts::decode(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return false;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (bytes.size() < size) return false;
  coverage = bytes.substr(0, size);
  bytes.remove_prefix(size);
  if (bytes.size() % sizeof(Count) != 0) return false;
  counts.resize(bytes.size() / sizeof(Count));
  if (!bytes.empty()) std::memcpy(counts.data(), bytes.data(), bytes.size());
  return true;
}

bool counts_methods(const TraceOptions& options) { return (options.events & trace::record::kMethodCountEvent) != 0; }

std::uint64_t room_for_counts(const TraceOptions& options, std::uint64_t methods, std::uint64_t size) {
  if (!counts_methods(options)) return 0;
  return methods * size <= options.max_size / 2 ? methods * size : 0;
}

Result<MethodCounts> last_counts(const TraceOptions& options, std::uint64_t methods, std::uint64_t size,
                                 const std::function<Result<MethodCounts>()>& counter) {
  if (methods != 0 && room_for_counts(options, methods, size) == 0)
    return fail(ErrorCategory::kRefused,
                counted(methods, "method") + ": their counts would take more than half of --max-size");
  if (!counter) return fail(ErrorCategory::kRefused, "calls are no longer counted");
  return counter();
}

}  // namespace jtrace::session
