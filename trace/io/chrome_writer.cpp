// Events in the trace event format of Chrome and Perfetto.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/strings.h"
#include "trace/io/allocation_weight.h"
#include "trace/io/call_stacks.h"
#include "trace/io/converter.h"
#include "trace/io/first_states.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

bool tells_of_thread(const Option& option) {
  return option.key.view() == kThreadStateKey || option.key.view() == kThreadMetKey;
}

class ChromeWriter final : public Converter, private CallListener {
 public:
  explicit ChromeWriter(ByteSink& bytes) : bytes_(bytes), scopes_(true), calls_(*this) {}

  Result<> write(const Event& event) override {
    Scope& scope = scopes_.note(event);
    const Common common = common_of(event);
    // These two belong to no producer yet: their scope has no producer, and its index is in use for another.
    const bool is_of_producer =
        element_kind(event) != ElementKind::kNode && element_kind(event) != ElementKind::kProcessCreate;
    if (is_of_producer) {
      Times& times = times_[scope.index];
      times.scope = &scope;
      times.last = std::max(times.last, common.time.value_or(0));
      if (start_ == 0 && common.time.present()) start_ = common.time.ns();
    }
    current_ = &event;
    calls_.note(event, scope);
    current_ = nullptr;
    lose_attributes<kCarried>(event);
    if (is_of_producer) first_states_.note(event, scope);
    show(event, scope, common);
    return result_;
  }
  Result<> finish() override {
    calls_.close_all();
    first_states_.finish();
    finish_open();
    lose_exits(calls_.unmatched_exits());
    if (result_) result_ = bytes_.write(first_ ? "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n" : "\n]}\n");
    Result<> finished = bytes_.finish();
    return result_ ? std::move(finished) : std::move(result_);
  }

 private:
  // If an element has a row, the attributes named in it are an id that joins, a displayed name, or one of args.
  static constexpr Carried kCarried[] = {
      {"node", ""},
      {"processCreate", "processId name pid"},
      {"agentCreate", "agentId processIdRef"},
      {"agentDestroy", ""},
      {"traceStart", "traceId agentIdRef"},
      {"traceEnd", ""},
      {"threadStart", "threadId threadName traceIdRef"},
      {"threadEnd", ""},
      {"classDef", "classId name traceIdRef"},
      {"methodDef", "methodId name classIdRef traceIdRef"},
      {"objDef", "objId isArray classIdRef traceIdRef"},
      {"objAlloc", "threadIdRef time isArray objId size classIdRef contextData traceIdRef"},
      {"methodEntry", "threadIdRef time methodIdRef traceIdRef value"},
      {"methodExit", "threadIdRef time traceIdRef value"},
      {"monContendedEnter", "threadIdRef time objIdRef threadOwner traceIdRef"},
      {"monContendedEntered", "threadIdRef time traceIdRef"},
      {"monWait", "threadIdRef time objIdRef timeout threadOwner traceIdRef"},
      {"monWaited", "threadIdRef time traceIdRef"},
      {"gcStart", "time"},
      {"gcFinish", "time totalObjectSpace usedObjectSpace usedObjects traceIdRef"},
      {"throw", "threadId time objIdRef objHandle methodIdRef traceIdRef"},
      {"catch", "threadIdRef time objIdRef objHandle methodIdRef traceIdRef"}};

  // Writes ,"args":{...} of the attributes that are present.
  class Arguments {
   public:
    void text(std::string_view name, std::string_view value) {
      key(name);
      text_ += '"';
      append_json_escaped(text_, value);
      text_ += '"';
    }
    template <class Number>
    void number(std::string_view name, Number value) {
      if (!value.present()) return;
      key(name);
      text_ += std::to_string(value.value());
    }
    void object(const Scope& scope, ObjectId id) {
      if (!id.present() || !id.is_number() || id.value() == 0) return;
      number("object", id);
      const auto found = scope.objects.find(id.value());
      if (found != scope.objects.end())
        text("class", allocated_type(scope, found->second.is_array, found->second.class_id));
    }
    void values(const List<Value>& values) {
      std::size_t position = 0;
      for (const Value& each : values) {
        const std::string_view name = each.name.view();
        const std::string label = name.empty() ? "value " + std::to_string(position) : std::string(name);
        ++position;
        if (each.value.present()) text(label, each.value.view());
        else if (each.text.present()) text(label, each.text.view());
        else if (each.objIdRef.present() && each.objIdRef.is_number())
          text(label, "object " + std::to_string(each.objIdRef.value()));
      }
    }
    std::string all() const { return text_.empty() ? "" : text_ + "}"; }

   private:
    void key(std::string_view name) {
      text_ += text_.empty() ? ",\"args\":{\"" : ",\"";
      append_json_escaped(text_, name);
      text_ += "\":";
    }
    std::string text_;
  };

  void allocation(const Scope& scope, const ObjAlloc& alloc, std::uint64_t thread, std::uint64_t time) {
    Arguments arguments;
    arguments.number("object", alloc.objId.present() && alloc.objId.is_number() ? alloc.objId : ObjectId());
    arguments.number("size", alloc.size);
    if (allocation_kind(scope) == AllocationKind::kSampled)
      arguments.number("estimated bytes",
                       Number(static_cast<std::uint64_t>(std::llround(allocation_weight(scope, alloc).bytes))));
    if (alloc.contextData.present()) arguments.text("stack", alloc.contextData.view());
    begin("i", "new " + allocated_type(scope, alloc.isArray, alloc.classIdRef), "allocation", scope, thread, time);
    end(",\"s\":\"t\"" + arguments.all());
  }
  template <class Element>
  static std::string exception_of(const Scope& scope, const Element& element) {
    Arguments arguments;
    arguments.object(scope, element.objIdRef);
    arguments.number("identity hash", element.objHandle);
    if (element.methodIdRef.present()) arguments.text("method", scope.method_name(element.methodIdRef.value()));
    return arguments.all();
  }
  static std::string wait_of(const Scope& scope, ObjectId object, ThreadId owner, Number timeout) {
    Arguments arguments;
    arguments.object(scope, object);
    if (owner.present() && owner.value() != 0) arguments.text("owner", scope.thread_name(owner.value()));
    arguments.number("timeout ms", timeout);
    return arguments.all();
  }

  void show(const Event& event, const Scope& scope, const Common& common) {
    const std::uint64_t thread = common.thread.present() ? common.thread.value() : 0;
    const std::uint64_t time = common.time.value_or(0);
    switch (element_kind(event)) {
      case ElementKind::kMethodEntry:
      case ElementKind::kMethodExit:
        if (scope.snapshot) lose(event);
        return;
      case ElementKind::kThreadStart: return name_thread(scope, thread);
      case ElementKind::kMonContendedEnter: {
        const auto& enter = std::get<MonContendedEnter>(event);
        return open(scope, thread, time, "blocked", wait_of(scope, enter.objIdRef, enter.threadOwner, {}));
      }
      case ElementKind::kMonWait: {
        const auto& wait = std::get<MonWait>(event);
        return open(scope, thread, time, wait.objIdRef == ObjectId::sleep() ? "sleeping" : "waiting",
                    wait_of(scope, wait.objIdRef, wait.threadOwner, wait.timeout));
      }
      case ElementKind::kObjAlloc: return allocation(scope, std::get<ObjAlloc>(event), thread, time);
      case ElementKind::kMonContendedEntered:
      case ElementKind::kMonWaited: return close(scope, thread, time, event);
      case ElementKind::kGcStart: times_[scope.index].gc_start = time; return;
      case ElementKind::kGcFinish: {
        const auto& finish = std::get<GcFinish>(event);
        Arguments figures;
        figures.number("used", finish.usedObjectSpace);
        figures.number("committed", finish.totalObjectSpace);
        figures.number("objects", finish.usedObjects);
        std::uint64_t& start = times_[scope.index].gc_start;
        complete(scope, kGcThread, start == 0 ? time : start, time, "GC pause", "gc", figures.all());
        start = 0;
        if (finish.usedObjectSpace.present()) counter(scope, time, "heap used", finish.usedObjectSpace.value());
        return;
      }
      case ElementKind::kThrow:
      case ElementKind::kCatch: {
        begin("i", element_kind(event) == ElementKind::kThrow ? "throw" : "catch", "exception", scope, thread, time);
        const auto* thrown = std::get_if<Throw>(&event);
        return end(",\"s\":\"t\"" +
                   (thrown != nullptr ? exception_of(scope, *thrown) : exception_of(scope, std::get<Catch>(event))));
      }
      case ElementKind::kAgentCreate:
        if (!scope.process_name.empty()) name_process(scope);
        return;
      case ElementKind::kNode:
      case ElementKind::kProcessCreate:
      case ElementKind::kAgentDestroy:
      case ElementKind::kTraceStart:
      case ElementKind::kTraceEnd:
      case ElementKind::kThreadEnd:
      case ElementKind::kClassDef:
      case ElementKind::kMethodDef:
      case ElementKind::kObjDef: return;  // named where it is used
      case ElementKind::kOption:
        if (std::get<Option>(event).key.view() == kContinuesKey) lose_waits(scope, 0);
        if (!gap_of(event, scope) && !tells_of_thread(std::get<Option>(event))) lose(event);
        return;
      default: return lose(event);
    }
  }

  // Calls that are still open ended unseen: they are drawn until this time.
  void on_gap(Scope& scope, const Gap& gap) override {
    if (gap.thread == 0) return lose_waits(scope, gap.from);
    if (gap.from == 0) return;
    if (const auto found = open_.find(Key(scope.index, gap.thread)); found != open_.end()) {
      complete(scope, gap.thread, found->second.since, gap.from, found->second.what, "monitor",
               found->second.arguments);
      open_.erase(found);
    }
    if (gap.to > gap.from) complete(scope, gap.thread, gap.from, gap.to, "(events lost)", "lost");
  }

  // Of all threads: they may have ended unseen.
  void lose_waits(const Scope& scope, std::uint64_t time) {
    const std::uint64_t until = time != 0 ? time : times_[scope.index].last;
    for (auto at = open_.lower_bound(Key(scope.index, 0)); at != open_.end() && at->first.first == scope.index;) {
      complete(scope, at->first.second, at->second.since, until, at->second.what, "monitor", at->second.arguments);
      at = open_.erase(at);
    }
  }

  static constexpr std::uint64_t kGcThread = 0;  // a lane of its own

  struct Open {
    std::uint64_t since;
    std::string what;
    std::string arguments;
  };
  using Key = std::pair<std::size_t, std::uint64_t>;
  void open(const Scope& scope, std::uint64_t thread, std::uint64_t time, const char* what, std::string arguments) {
    open_[Key(scope.index, thread)] = {time, what, std::move(arguments)};
  }
  void close(const Scope& scope, std::uint64_t thread, std::uint64_t time, const Event& event) {
    const auto found = open_.find(Key(scope.index, thread));
    if (found == open_.end()) return lose(event);
    complete(scope, thread, found->second.since, time, found->second.what, "monitor", found->second.arguments);
    open_.erase(found);
  }
  // What no event has ended lasts until the end of its trace.
  void finish_open() {
    for (const auto& [key, open] : open_) {
      const Times& times = times_[key.first];
      complete(*times.scope, key.second, open.since, times.last, open.what, "monitor", open.arguments);
    }
    open_.clear();
    for (const auto& [index, times] : times_)
      if (times.gc_start != 0) complete(*times.scope, kGcThread, times.gc_start, times.last, "GC pause", "gc");
  }
  void name_thread(const Scope& scope, std::uint64_t thread) {
    begin("M", "thread_name", "__metadata", scope, thread, start_);
    text_ += ",\"args\":{\"name\":\"";
    append_json_escaped(text_, scope.thread_name(thread));
    end("\"}");
  }
  void name_process(const Scope& scope) {
    begin("M", "process_name", "__metadata", scope, 0, start_);
    Arguments name;
    name.text("name", scope.process_name);
    end(name.all());
  }
  void complete(const Scope& scope, std::uint64_t thread, std::uint64_t from, std::uint64_t to, std::string_view name,
                std::string_view category, std::string_view arguments = "") {
    begin("X", name, category, scope, thread, from);
    text_ += ",\"dur\":";
    microseconds(to > from ? to - from : 0);
    end(arguments);
  }
  void counter(const Scope& scope, std::uint64_t time, std::string_view name, std::uint64_t value) {
    begin("C", name, "counter", scope, 0, time);
    end(",\"args\":{\"bytes\":" + std::to_string(value) + "}");
  }
  // When the last call ended that the caller of the top of `stack` made. OpenFrame::user: of its last callee.
  std::uint64_t& last_end(const Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) {
    return stack.size() > 1 ? stack[stack.size() - 2].user : ends_[{scope.index, thread}];
  }
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override {
    // Begins that are the same let the wait end before the call that it is in: a viewer closes slices in their order.
    const bool shares_begin = stack.back().waited_before &&
                              (stack.size() == 1 || stack[stack.size() - 2].time < stack.back().time) &&
                              last_end(scope, thread, stack) < stack.back().time;
    begin("B", scope.method_name(stack.back().method), "call", scope, thread,
          stack.back().time - (shares_begin ? 1 : 0));
    const auto* entry = current_ == nullptr ? nullptr : std::get_if<MethodEntry>(current_);
    end_call(entry == nullptr ? List<Value>() : entry->values);
  }
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t) override {
    begin("E", scope.method_name(stack.back().method), "call", scope, thread, time);
    last_end(scope, thread, stack) = time;
    // Of the frames that an exit closes, the one that it belongs to.
    const auto* exit = current_ == nullptr ? nullptr : std::get_if<MethodExit>(current_);
    const bool is_its_own = exit != nullptr && (!exit->ticket.present() || exit->ticket.value() == stack.back().ticket);
    end_call(is_its_own ? exit->values : List<Value>());
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
  void end_call(const List<Value>& values) {
    if (values.empty()) return end("");
    Arguments arguments;
    arguments.values(values);
    end(arguments.all());
  }
  void end(std::string_view rest) {
    text_.append(rest).append("}");
    if (result_) result_ = bytes_.write(text_);
  }

  ByteSink& bytes_;
  Scopes scopes_;
  CallStacks calls_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> ends_;  // of the outermost calls, by thread
  const Event* current_ = nullptr;                                       // the event that opens or closes calls
  FirstStates first_states_{[this](const Scope& scope, std::uint64_t thread, const FirstState& first) {
    complete(scope, thread, first.since, first.until, first.state + " since before the trace", "state");
  }};
  struct Times {  // of a producer
    const Scope* scope = nullptr;
    std::uint64_t last = 0;
    std::uint64_t gc_start = 0;  // of a pause that has not ended; 0: there is none
  };
  std::map<std::size_t, Times> times_;
  std::map<Key, Open> open_;
  std::uint64_t start_ = 0;
  bool first_ = true;
  std::string text_;
  Result<> result_;
};

}  // namespace

std::unique_ptr<Converter> make_chrome_writer(ByteSink& bytes) { return std::make_unique<ChromeWriter>(bytes); }

}  // namespace jtrace::trace::io
