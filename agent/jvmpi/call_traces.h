// CallTraces: the stacks of all threads, for dumps.
#pragma once

#include <vector>

#include "agent/jvmpi/thread_control.h"

namespace jtrace::agent::jvmpi {

class CallTraces {
 public:
  void take(Bridge& bridge) {
    bridge.threads.for_each([&](ThreadRecord& record) { records_.push_back(&record); });
    frames_.resize(records_.size() * kDepth);
    for (std::size_t i = 0; i < records_.size(); ++i) {
      JVMPI_CallTrace trace{records_[i]->env, 0, &frames_[i * kDepth]};
      fill_call_trace(bridge, trace, kDepth);
      traces_.push_back(trace);
    }
  }
  jint count() const { return static_cast<jint>(traces_.size()); }
  JVMPI_CallTrace* data() { return traces_.data(); }
  const std::vector<ThreadRecord*>& records() const { return records_; }

 private:
  static constexpr jint kDepth = 256;  // frames of a thread; the innermost

  std::vector<ThreadRecord*> records_;
  std::vector<JVMPI_CallFrame> frames_;
  std::vector<JVMPI_CallTrace> traces_;
};

}  // namespace jtrace::agent::jvmpi
