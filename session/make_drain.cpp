#include "session/make_drain.h"

#include "session/document/drainer.h"
#include "session/spill/spiller.h"

namespace jtrace::session {

std::unique_ptr<TraceDrain> make_drain(trace::record::PoolReader& reader, TraceOutput& output, const Session& session) {
  if (session.options.spills()) return std::make_unique<Spiller>(reader, output, session);
  return std::make_unique<Drainer>(reader, output, session.identity, session.options, session.anchor);
}

}  // namespace jtrace::session
