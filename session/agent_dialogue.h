// AgentDialogue: questions to the agent while it traces, and its answers, which come in the order of the questions.
// Only this class reads and writes frames of the control channel during a trace. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "session/control_channel.h"
#include "session/control_source.h"
#include "session/document/method_counts.h"

namespace jtrace::session {

enum class AgentQuestion : std::uint8_t {
  kStatus,
  kPause,
  kResume,
  kStop,   // pauses it: the trace ends
  kStart,  // resumes it: the next trace begins
  kFilters,
  kCount,
  kCountForDocument,  // the counts at the end of a file; no client asked
};

struct AgentAnswer {
  AgentQuestion question;
  Asker asker;
  std::string refusal;  // why the agent does not do it; "": it does
  Answer decoded;       // frames.def
  MethodCounts counts;  // of kCount and kCountForDocument, if `decoded` has counts
};

class AgentDialogue {
 public:
  // `channel`: borrowed.
  explicit AgentDialogue(ControlChannel& channel) : channel_(channel) {}

  int fd() const { return channel_.fd(); }
  Result<> ask(AgentQuestion question, Asker asker = {}, std::string_view payload = {});
  // Reads what has arrived. After an error or a hang-up only answers that were read before are available.
  Result<> receive() { return channel_.receive(); }
  // The next answer. Other frames of the agent are handled here.
  std::optional<AgentAnswer> next();
  bool owes_answers() const { return !asked_.empty(); }

  // Asks and waits, within a pass: a document ends and the trace continues. Answers to other questions are kept for
  // next().
  Result<MethodCounts> count_now();

  // Asks the agent to leave the JVM and to answer once more before: with its last counts if `with_counts`.
  Result<> leave(bool with_counts);
  // The counts of an agent that leaves.
  std::optional<MethodCounts>& last_counts() { return last_counts_; }
  const std::optional<MethodCounts>& last_counts() const { return last_counts_; }
  // The agent has reported that it has left.
  bool has_left() const { return has_left_; }
  bool hung_up() const { return channel_.hung_up(); }
  // How many methods have callouts, by the agent's last answer; nothing before the first answer.
  const std::optional<std::uint64_t>& methods_with_callouts() const { return methods_with_callouts_; }
  void close() { channel_.close(); }

 private:
  struct Asked {
    AgentQuestion question;
    Asker asker;
  };
  std::optional<AgentAnswer> take(const Frame& frame);
  void note_callouts(const Answer& answer);

  ControlChannel& channel_;
  std::deque<Asked> asked_;     // whose answers have not come yet
  std::deque<Frame> deferred_;  // received while count_now() waited
  MethodCounts counts_;         // of the next answer
  std::optional<MethodCounts> last_counts_;
  std::optional<std::uint64_t> methods_with_callouts_;
  bool leaving_ = false;
  bool has_left_ = false;
};

}  // namespace jtrace::session
