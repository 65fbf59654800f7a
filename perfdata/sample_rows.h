// A series of snapshots as CSV lines or JSON lines: what changed since the last sample (or everything), with the change
// and the rate a second. Pure text, one series, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "perfdata/counter_table.h"

namespace jtrace::perfdata {

struct SampleRowsOptions {
  std::int64_t pid = 0;  // 0: left out
  bool full = false;
  bool show_secrets = false;
  NameFilter filter = {};
};

class SampleRows {
 public:
  explicit SampleRows(SampleRowsOptions options) : options_(std::move(options)) {}

  static std::string_view csv_head();  // time,pid,name,value,units,delta,rate
  // One line for each counter.
  void append_csv(std::string& out, const Snapshot& snapshot);
  // One object for the sample: {"time":...,"pid":...,"data":[{"name","value","delta","rate"}...]}
  void append_json(std::string& out, const Snapshot& snapshot);

 private:
  struct Change {
    bool known = false;  // there was a value before
    bool changed = true;
    double delta = 0;
    double rate = 0;  // a second; of counters that only grow
    bool has_rate = false;
  };
  void prepare(const Snapshot& snapshot);
  Change change_of(const Snapshot& snapshot, const Row& row) const;

  SampleRowsOptions options_;
  std::unique_ptr<CounterTable> table_;
  Snapshot previous_;
};

}  // namespace jtrace::perfdata
