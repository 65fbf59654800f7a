// Exceptions: what became of the exceptions of a trace: where each was thrown and caught, by which handler it ended,
// and which were swallowed. Fed by Statistics with the throw and catch events of one producer, in their order. Memory
// grows with sites; of exceptions whose end is not known yet the last kMaxOpen are kept. One thread.
//
// An exception ends in the handler after which it is not thrown on: handlers of finally and synchronized, and a catch
// that throws it again, are not its end. The same object thrown again at the place where it was thrown first is a new
// exception: some programs keep theirs and throw them again and again, and so does the JVM
// (-XX:+OmitStackTraceInFastThrow: an ArithmeticException or NullPointerException of hot code is one object without a
// stack). An exception of the JVM has no line; the agent writes its throw when it reaches a handler, with the handler's
// time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/io/scopes.h"

namespace jtrace::trace::io {

enum class ExceptionEnd : std::uint8_t {
  // Caught and dropped: neither thrown on nor the cause of, nor suppressed by, another one that was thrown. Also if the
  // trace does not say what the handler did with it (Exceptions::handlers_not_known).
  kSwallowed,
  kUsed,        // the same, but its handler uses it: logs it, stores it, asks it
  kWrapped,     // caught (or it left a static initializer), and thrown on as the cause of another one
  kSuppressed,  // caught, and thrown on with another one (Throwable.addSuppressed)
  kLeft,        // no call of the trace caught it: another did, older or without callouts, or none did
  kUnknown,     // events of its thread were lost
};
inline constexpr std::size_t kExceptionEnds = 6;
std::string_view name_of(ExceptionEnd end);  // "swallowed" ...

struct ExceptionSite {
  std::uint64_t method = 0;  // 0: none
  std::uint64_t line = 0;    // 0: not known
  auto operator<=>(const ExceptionSite&) const = default;
};

struct ExceptionKey {
  std::string type;      // java.lang.Error; "?" where the trace does not say
  ExceptionSite thrown;  // without a line: the traced method nearest to where it was thrown, in it or below it
  ExceptionSite caught;  // by the handler that ended it; kLeft: the last traced method that it passed
  ExceptionEnd end = ExceptionEnd::kUnknown;
  std::string other;  // kWrapped, kSuppressed: the class of the other one
  auto operator<=>(const ExceptionKey&) const = default;
};

// How it came from where it was thrown to the handler that ended it: the methods between the two that it passed, the
// inner first, and the callers of the handler's method, the nearest first. Only methods that the trace has: it passed
// those with callouts, and callers are known if calls were recorded.
struct ExceptionWay {
  std::vector<std::uint64_t> passed, callers;
  bool is_cut = false;  // it passed more
  auto operator<=>(const ExceptionWay&) const = default;
};

struct ExceptionCount {
  static constexpr std::size_t kMaxMessages = 20, kMaxWays = 20, kMaxThreads = 100;
  std::uint64_t count = 0;
  std::uint64_t thrown_on = 0;  // how often they were caught and thrown on before
  // Of these: not seen to come out of the handler's method, or at the line of the first throw. That may also be an
  // object that the program keeps and throws again and again, so that each was an exception of its own.
  std::uint64_t maybe_anew = 0;
  std::uint64_t first = 0, last = 0;              // ns: when they were thrown
  std::map<std::string, std::uint64_t> messages;  // where the trace has them; the first kMaxMessages
  std::uint64_t other_messages = 0;
  std::map<ExceptionWay, std::uint64_t> ways;  // the first kMaxWays
  std::uint64_t other_ways = 0;
  std::map<std::uint64_t, std::uint64_t> threads;  // that of the last throw or catch; the first kMaxThreads
  std::uint64_t other_threads = 0;                 // exceptions of others
};

// For what leaves a static initializer the JVM throws one of these with it as the cause, unless it is an Error (JVMS
// 5.5). Nothing has caught it.
inline constexpr std::string_view kInInitializer = "java.lang.ExceptionInInitializerError";
bool left_initializer(const Scope& scope, const ExceptionKey& key);
// True if `caught` is a handler. Otherwise it is the last method that the exception was seen in.
bool has_handler(const Scope& scope, const ExceptionKey& key);

// One exception whose end is known; borrowed.
struct EndedException {
  const ExceptionKey* key;
  const std::string* message;  // "": the trace does not have it
  std::uint64_t thread, time;  // that of its last throw or catch; ns: when it was thrown
  std::uint64_t thrown_on;
};

struct OpenFrame;  // call_stacks.h

class Exceptions {
 public:
  using Listener = std::function<void(const EndedException&)>;

  static constexpr std::size_t kMaxOpen = 20'000;
  // A handler may still throw on what it caught so long before events of its thread were lost, unless it has caught
  // another one since.
  static constexpr std::uint64_t kHandlerTime = 1'000'000'000;  // ns

  // Of a way; what is further out or in is left out.
  static constexpr std::size_t kMaxPassed = 30, kMaxCallers = 10;

  // `calls`: the open ones of the thread of a catch, the outermost first; null: not known.
  void note(const Event& event, const Scope& scope, const std::vector<OpenFrame>* calls = nullptr);
  // Events of the thread were lost (0: of any) from that time on (0: not known).
  void note_gap(std::uint64_t thread, std::uint64_t from);
  // `listener` is called for each exception when its end is known, the last ones by finish().
  void listen(Listener listener) { listener_ = std::move(listener); }
  bool has_listener() const { return listener_ != nullptr; }
  // What is open ends as it is.
  void finish();

  std::uint64_t thrown() const { return thrown_; }
  std::uint64_t ended(ExceptionEnd end) const { return ends_[static_cast<std::size_t>(end)]; }
  // Of those that ended as kSwallowed: the trace does not say whether their handlers use them.
  std::uint64_t handlers_not_known() const { return handlers_not_known_; }
  // The most frequent first.
  using Row = std::pair<const ExceptionKey*, const ExceptionCount*>;
  std::vector<Row> most_first() const;

 private:
  struct Open {
    std::uint64_t thread = 0, object = 0;
    ExceptionKey key;
    ExceptionWay way;
    std::string message;
    bool is_caught = false;  // else it flies
    bool is_lost = false;
    bool knows_handler = false;             // what the handler that caught it last does with it
    bool is_settled = false;                // its thread was in the same handler again: it is not thrown on any more
    std::uint64_t time = 0, caught_at = 0;  // ns
    std::uint64_t thrown_on = 0, maybe_anew = 0;
    bool is_elsewhere = false;  // thrown again out of the handler's method, and not seen to come through it
    ExceptionSite handler;      // it was caught there before the last throw
    std::vector<std::uint64_t> callers_of_handler;
    std::uint64_t came_again = 0;  // ns: of that throw, if it has no line and is in the handler's method
  };
  using Place = std::list<Open>::iterator;
  struct Id {
    std::uint64_t thread, object;
    bool operator==(const Id&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Id& id) const { return id.object * 0x9e3779b97f4a7c15u + id.thread; }
  };

  void note_throw(const Throw& thrown, const Scope& scope);
  void note_catch(const Catch& caught, const Scope& scope, const std::vector<OpenFrame>* calls);
  static bool is_thrown_anew(const Open& open, const ExceptionSite& here);
  void settle(const Open& caught);
  void note_again(Open& open, const ExceptionSite& here);
  static void settle_elsewhere(Open& open, std::uint64_t method);
  void note_suppressed(std::string_view value, const Scope& scope);
  void note_initializer(const Open& error, const Throw& thrown, const Scope& scope);
  Open* find(std::uint64_t thread, std::uint64_t object);
  Open* find_anywhere(std::uint64_t object);
  Open& begin(std::uint64_t thread, std::uint64_t object, std::uint64_t time, std::string type);
  Open& take_over(Open& open, std::uint64_t thread);
  void end(Place place);

  std::list<Open> open_;  // the oldest first
  std::unordered_map<Id, Place, Hash> by_id_;
  std::unordered_map<std::uint64_t, Place> by_object_;                         // the last of each
  std::map<std::pair<std::uint64_t, ExceptionSite>, std::uint64_t> handlers_;  // thread, handler: the last object
  std::map<ExceptionKey, ExceptionCount> rows_;
  std::array<std::uint64_t, kExceptionEnds> ends_{};
  std::uint64_t thrown_ = 0;
  std::uint64_t handlers_not_known_ = 0;
  Listener listener_;
};

}  // namespace jtrace::trace::io
