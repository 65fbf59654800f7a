// Events in the trace event format of Chrome and Perfetto.
#include <cstdio>
#include <map>

#include "base/strings.h"
#include "trace/io/call_stacks.h"
#include "trace/io/converter.h"
#include "trace/io/first_states.h"

namespace jtrace::trace::io {
namespace {

class ChromeWriter final : public Converter, private CallListener {
 public:
  explicit ChromeWriter(ByteSink& bytes) : bytes_(bytes), scopes_(true), calls_(*this) {}

  Result<> write(const Event& event) override {
    Scope& scope = scopes_.note(event);
    const Common common = common_of(event);
    if (start_ == 0 && common.time.present() && element_kind(event) != ElementKind::kNode &&
        element_kind(event) != ElementKind::kProcessCreate)
      start_ = common.time.ns();
    calls_.note(event, scope);
    first_states_.note(event, scope);
    show(event, scope, common);
    return result_;
  }
  Result<> finish() override {
    calls_.close_all();
    first_states_.finish();
    lose_exits(calls_.unmatched_exits());
    if (result_) result_ = bytes_.write(first_ ? "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n" : "\n]}\n");
    Result<> finished = bytes_.finish();
    return result_ ? std::move(finished) : std::move(result_);
  }

 private:
  void show(const Event& event, const Scope& scope, const Common& common) {
    const std::uint64_t thread = common.thread.present() ? common.thread.value() : 0;
    const std::uint64_t time = common.time.value_or(0);
    switch (element_kind(event)) {
      case ElementKind::kMethodEntry:
      case ElementKind::kMethodExit:
        if (scope.snapshot) lose(event);
        return;
      case ElementKind::kThreadStart: return name_thread(scope, thread);
      case ElementKind::kMonContendedEnter: return open(scope, thread, time, "blocked", event);
      case ElementKind::kMonWait: {
        const bool sleeps = std::get<MonWait>(event).objIdRef == ObjectId::sleep();
        return open(scope, thread, time, sleeps ? "sleeping" : "waiting", event);
      }
      case ElementKind::kMonContendedEntered:
      case ElementKind::kMonWaited: return close(scope, thread, time, event);
      case ElementKind::kGcStart: gc_start_ = time; return;
      case ElementKind::kOption:
        if (std::get<Option>(event).key.view() != "jtrace.threadState") lose(event);
        return;
      case ElementKind::kGcFinish: {
        const auto& finish = std::get<GcFinish>(event);
        complete(scope, kGcThread, gc_start_ == 0 ? time : gc_start_, time, "GC pause", "gc");
        gc_start_ = 0;
        if (finish.usedObjectSpace.present()) counter(scope, time, "heap used", finish.usedObjectSpace.value());
        return;
      }
      case ElementKind::kThrow:
      case ElementKind::kCatch: {
        begin("i", element_kind(event) == ElementKind::kThrow ? "throw" : "catch", "exception", scope, thread, time);
        return end(",\"s\":\"t\"");
      }
      case ElementKind::kNode:
      case ElementKind::kProcessCreate:
      case ElementKind::kAgentCreate:
      case ElementKind::kAgentDestroy:
      case ElementKind::kTraceStart:
      case ElementKind::kTraceEnd:
      case ElementKind::kThreadEnd:
      case ElementKind::kClassDef:
      case ElementKind::kMethodDef:
      case ElementKind::kObjDef: return;  // named where they are used
      default: return lose(event);
    }
  }

  static constexpr std::uint64_t kGcThread = 0;  // a lane of its own

  struct Open {
    std::uint64_t since;
    std::string what;
  };
  using Key = std::pair<std::size_t, std::uint64_t>;
  void open(const Scope& scope, std::uint64_t thread, std::uint64_t time, const char* what, const Event&) {
    open_[Key(scope.index, thread)] = {time, what};
  }
  void close(const Scope& scope, std::uint64_t thread, std::uint64_t time, const Event& event) {
    const auto found = open_.find(Key(scope.index, thread));
    if (found == open_.end()) return lose(event);
    complete(scope, thread, found->second.since, time, found->second.what, "monitor");
    open_.erase(found);
  }
  void name_thread(const Scope& scope, std::uint64_t thread) {
    begin("M", "thread_name", "__metadata", scope, thread, start_);
    text_ += ",\"args\":{\"name\":\"";
    append_json_escaped(text_, scope.thread_name(thread));
    end("\"}");
  }
  void complete(const Scope& scope, std::uint64_t thread, std::uint64_t from, std::uint64_t to, std::string_view name,
                std::string_view category) {
    begin("X", name, category, scope, thread, from);
    text_ += ",\"dur\":";
    microseconds(to > from ? to - from : 0);
    end("");
  }
  void counter(const Scope& scope, std::uint64_t time, std::string_view name, std::uint64_t value) {
    begin("C", name, "counter", scope, 0, time);
    end(",\"args\":{\"bytes\":" + std::to_string(value) + "}");
  }
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override {
    begin("B", scope.method_name(stack.back().method), "call", scope, thread, stack.back().time);
    end("");
  }
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t) override {
    begin("E", scope.method_name(stack.back().method), "call", scope, thread, time);
    end("");
  }

  void microseconds(std::uint64_t ns) {
    char text[40];
    text_.append(text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%llu.%03u",
                                                              static_cast<unsigned long long>(ns / 1000),
                                                              static_cast<unsigned>(ns % 1000))));
  }
  void begin(const char* phase, std::string_view name, std::string_view category, const Scope& scope,
             std::uint64_t thread, std::uint64_t time) {
    text_ = first_ ? "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"name\":\"" : ",\n{\"name\":\"";
    first_ = false;
    append_json_escaped(text_, name);
    text_.append("\",\"cat\":\"").append(category).append("\",\"ph\":\"").append(phase);
    text_.append("\",\"pid\":").append(std::to_string(scope.pid == 0 ? scope.index + 1 : scope.pid));
    text_.append(",\"tid\":").append(std::to_string(thread)).append(",\"ts\":");
    microseconds(time > start_ ? time - start_ : 0);
  }
  void end(std::string_view rest) {
    text_.append(rest).append("}");
    if (result_) result_ = bytes_.write(text_);
  }

  ByteSink& bytes_;
  Scopes scopes_;
  CallStacks calls_;
  FirstStates first_states_{[this](const Scope& scope, std::uint64_t thread, const FirstState& first) {
    complete(scope, thread, first.since, first.until, first.state + " since before the trace", "state");
  }};
  std::map<Key, Open> open_;
  std::uint64_t start_ = 0;
  std::uint64_t gc_start_ = 0;
  bool first_ = true;
  std::string text_;
  Result<> result_;
};

}  // namespace

std::unique_ptr<Converter> make_chrome_writer(ByteSink& bytes) { return std::make_unique<ChromeWriter>(bytes); }

}  // namespace jtrace::trace::io
