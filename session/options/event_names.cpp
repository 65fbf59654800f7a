#include "session/options/event_names.h"

#include "base/strings.h"
#include "trace/record/control.h"

namespace jtrace::session {
namespace {

using namespace trace::record;

struct Word {
  std::string_view name;
  std::uint64_t bits;
};

constexpr std::uint64_t kThreads = kThreadStartEvent | kThreadEndEvent;
constexpr std::uint64_t kClasses = kClassDefEvent | kClassUnloadEvent;
constexpr std::uint64_t kMonitors =
    kMonWaitEvent | kMonWaitedEvent | kMonContendedEnterEvent | kMonContendedEnteredEvent;
constexpr std::uint64_t kObjects = kObjAllocEvent | kObjFreeEvent;
constexpr std::uint64_t kRuntime = kRuntimeInitDoneEvent | kRuntimeShutdownEvent | kStandstillEvent;
constexpr std::uint64_t kExceptions = kThrowEvent | kCatchEvent;
constexpr std::uint64_t kAllocations = kAllocationEvent | kObjFreeEvent;
// What costs little: methods, calls, exceptions, lines, counts and allocations rewrite the bytecode of whatever the
// filters let through, and are named by who wants them.
constexpr std::uint64_t kAll = kThreads | kClasses | kGcEvent | kMonitors | kSleepEvent | kObjects | kRuntime;

constexpr Word kGroups[] = {
    {"threads", kThreads},   {"classes", kClasses},         {"gc", kGcEvent},
    {"monitors", kMonitors}, {"objects", kObjects},         {"runtime", kRuntime},
    {"all", kAll},           {"methods", kMethodEvent},     {"exceptions", kExceptions},
    {"lines", kLineEvent},   {"counts", kMethodCountEvent}, {"allocations", kAllocations},
    {"calls", kCallEvent},
};
constexpr Word kElements[] = {
    {"threadStart", kThreadStartEvent},
    {"threadEnd", kThreadEndEvent},
    {"classDef", kClassDefEvent},
    {"classUnload", kClassUnloadEvent},
    {"gcStart", kGcEvent},
    {"gcFinish", kGcEvent},
    {"monWait", kMonWaitEvent},
    {"monWaited", kMonWaitedEvent},
    {"monContendedEnter", kMonContendedEnterEvent},
    {"monContendedEntered", kMonContendedEnteredEvent},
    {"sleeps", kSleepEvent},
    {"parks", kParkEvent},
    {"objAlloc", kObjAllocEvent},
    {"objFree", kObjFreeEvent},
    {"runtimeInitDone", kRuntimeInitDoneEvent},
    {"runtimeShutdown", kRuntimeShutdownEvent},
    {"processSuspend", kStandstillEvent},
    {"processResume", kStandstillEvent},
    {"methodEntry", kMethodEvent},
    {"methodExit", kMethodEvent},
    {"methodCall", kCallEvent},
    {"methodReturn", kCallEvent},
    {"methodCount", kMethodCountEvent},
    {"line", kLineEvent},
    {"throw", kThrowEvent},
    {"catch", kCatchEvent},
};
// Definitions, written wherever they are referred to: asking for them asks for nothing else.
constexpr std::string_view kAlways[] = {"methodDef", "objDef"};

template <class Function>
void for_each_word(Function function) {
  for (const Word& word : kGroups) function(word);
  for (const Word& word : kElements) function(word);
}

Result<std::uint64_t> bits_of(std::string_view name) {
  for (const std::string_view always : kAlways)
    if (always == name) return std::uint64_t{0};
  const Word* found = nullptr;
  std::vector<std::string_view> available;
  for_each_word([&](const Word& word) {
    if (word.name == name) found = &word;
    available.push_back(word.name);
  });
  if (found != nullptr) return found->bits;
  const std::string_view nearest = nearest_word(name, available);
  return fail(ErrorCategory::kUsage, "unknown event '" + std::string(name) + "'",
              nearest.empty() ? "there are " + event_words_help() : "did you mean '" + std::string(nearest) + "'?");
}

}  // namespace

std::uint64_t default_events() { return kThreads | kClassUnloadEvent | kGcEvent | kMonitors | kRuntime; }

Result<std::uint64_t> events_of_words(const std::vector<std::string>& words) {
  std::uint64_t bits = 0;
  for (const std::string& word : words) {
    if (word.empty()) return fail(ErrorCategory::kUsage, "an event's name is missing between two commas");
    JTRACE_ASSIGN_OR_RETURN(const std::uint64_t more, bits_of(word));
    bits |= more;
  }
  return bits;
}

std::string words_of_events(std::uint64_t bits) {
  std::string text;
  for (const Word& word : kElements) {
    if ((bits & word.bits) == 0) continue;
    if (!text.empty()) text += ',';
    text += word.name;
  }
  // No element of its own: the group says where its objAlloc comes from.
  if ((bits & kAllocationEvent) != 0) text += ",allocations";
  return text;
}

std::string event_words_help() {
  std::string text;
  for_each_word([&](const Word& word) {
    if (!text.empty()) text += ", ";
    text += word.name;
  });
  return text;
}

}  // namespace jtrace::session
