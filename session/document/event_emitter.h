// The emitter of trace/, under the name that session and its callers have for it.
#pragma once

#include "trace/event_emitter.h"

namespace jtrace::session {

using trace::EventEmitter;

}  // namespace jtrace::session
