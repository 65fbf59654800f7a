// The fields of control frames for writing (frames.def): HelloFields to AnswerFields, each with its kType, and
// write_fields(). Texts are views that the caller keeps alive. Header only (agent).
#pragma once

#include "trace/record/control.h"
#include "trace/record/definition_fields.h"

namespace jtrace::trace::record {

// kAlreadyTraced: by another jtrace, which is a refusal and no failure of the agent.
enum class StartStatus : std::uint32_t { kTraces = 0, kFailed = 1, kAlreadyTraced = 2 };
enum class AnswerStatus : std::uint32_t { kOk = 0, kMalformed = 1, kUnknownFrame = 2, kNothingCounted = 3 };

#define FRAME(Name, text) \
  struct Name##Fields {   \
    static constexpr FrameType kType = FrameType::k##Name;
#define FIELD(type, member, text) fields_written::type member{};
#define FRAME_END(Name) \
  }                     \
  ;
#include "trace/record/frames.def"

#define FRAME(Name, text) \
  template <class Out>    \
  void write_fields(Out& out, const Name##Fields& fields) {
#define FIELD(type, member, text) write_field(out, fields.member);
#define FRAME_END(Name) }
#include "trace/record/frames.def"

}  // namespace jtrace::trace::record
