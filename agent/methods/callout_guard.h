// CalloutGuard: how the natives of the callout class reach the trace. False also if the trace has no callouts.
#pragma once

#include "agent/callback_guard.h"
#include "agent/methods/method_tracer.h"

namespace jtrace::agent {

class CalloutGuard : public CallbackGuard {
 public:
  using CallbackGuard::CallbackGuard;

  explicit operator bool() const { return CallbackGuard::operator bool() && recorder().methods != nullptr; }
  MethodTracer& tracer() const { return *recorder().methods; }
  CalloutArea& area() const { return tracer().area(); }
};

}  // namespace jtrace::agent
