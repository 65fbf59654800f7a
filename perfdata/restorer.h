// Restorer: events of an hsperf trace back into the region they were taken from: equal entry by entry in name, type,
// units, variability, flags and value. A sink, so that any reader of traces can feed it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perfdata/value_format.h"
#include "trace/event_sink.h"

namespace jtrace::perfdata {

struct RestoreOptions {
  std::uint64_t sample = 0;  // from 1 up; 0: the last
  std::int64_t pid = 0;      // of several JVMs in one trace; 0: the only one
};

class Restorer final : public trace::EventSink {
 public:
  explicit Restorer(RestoreOptions options) : options_(options) {}

  // Errors: kMalformed where a value or its format cannot be read.
  Result<> write(const trace::Event& event) override;

  // The region's bytes. Errors: kRefused (no hsperf samples in it, or not so many), kUsage (several JVMs: they are
  // listed).
  Result<std::vector<std::byte>> region() const;
  // Samples of the JVM that region() gives, and values whose secrets were taken out when they were written.
  std::uint64_t samples() const;
  std::uint64_t masked() const;
  // False if that sample says that it is torn, or that there was no room for all of it (hsperf.stable).
  bool is_stable() const;
  // How many counters the JVM had and such a sample does not.
  std::uint64_t missing() const;

 private:
  struct Entry {
    std::string name;
    std::string type;
    ValueFormat format;
    std::string bytes;  // of the value: decimal digits, text, or what hex digits encode
  };
  struct Jvm {
    std::int64_t pid = 0;
    std::uint64_t samples = 0;
    bool filtered = false, stable = true;
    std::optional<SavedPrologue> prologue;
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> index;
  };
  struct Trace {
    std::string agent;
    bool pauses = false;  // the trace of pauses, no sample
  };

  Result<> take(const trace::Value& value);
  Result<> take(const trace::Option& option);
  Jvm* jvm_of(std::string_view trace_id);
  Result<const Jvm*> chosen() const;

  RestoreOptions options_;
  std::map<std::string, std::int64_t> pids_;  // by processId
  std::map<std::string, Jvm> jvms_;           // by agentId
  std::map<std::string, Trace> traces_;       // that are open
  std::string current_;                       // the trace that began last: traceIdRef may be left out
};

}  // namespace jtrace::perfdata
