#include "coreinspect/hprof/heap_dumper.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "coreinspect/hprof/class_plan.h"
#include "coreinspect/hprof/dump_threads.h"
#include "coreinspect/hprof/object_encoder.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/hprof/vm_roots.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint32_t kNoFrame = 0xffff'ffff;
constexpr std::uint32_t kEmptyTrace = 1;  // stack trace serial number of what has none

// Which of a few addresses are objects: the visitor of the first walk.
class AddressCheck {
 public:
  explicit AddressCheck(const std::vector<Address>& sorted) : wanted_(&sorted), found_(sorted.size()) {}
  void begin(const HeapRegion& region) {
    next_ =
        static_cast<std::size_t>(std::lower_bound(wanted_->begin(), wanted_->end(), region.start) - wanted_->begin());
    take_next();
  }
  void operator()(const HeapObject& object) {
    if (object.address < address_) return;
    while (next_ < wanted_->size() && (*wanted_)[next_] < object.address) ++next_;
    // A filler is not an object of the dump: an old word of a frame may be its address.
    const bool is_it = next_ < wanted_->size() && (*wanted_)[next_] == object.address && !object.klass->filler;
    if (is_it) found_[next_] = true;
    take_next();
  }
  void end() {}
  bool found(std::size_t index) const { return found_[index]; }

 private:
  void take_next() { address_ = next_ < wanted_->size() ? (*wanted_)[next_] : UINT64_MAX; }
  const std::vector<Address>* wanted_;
  std::vector<bool> found_;
  std::size_t next_ = 0;
  Address address_ = UINT64_MAX;
};

class Dumper {
 public:
  Dumper(HeapAccess& access, trace::ByteSink& sink, unsigned threads, const Progress& progress, bool redacted)
      : access_(access),
        inspection_(access.inspection()),
        writer_(sink),
        plans_(access, redacted),
        threads_(threads),
        progress_(progress) {}

  Result<HeapDumpResult> run(std::uint64_t millis) {
    dump_threads_ = read_dump_threads(access_, result_.missing);
    sticky_ = sticky_classes(inspection_, result_.missing);
    JTRACE_RETURN_IF_ERROR(check_candidates());
    add_classes();
    JTRACE_RETURN_IF_ERROR(writer_.header(millis));
    if (plans_.redacted()) (void)writer_.text(kRedactedMark);  // errors stick to the sink
    JTRACE_RETURN_IF_ERROR(plans_.write_names(writer_));
    JTRACE_RETURN_IF_ERROR(write_traces());
    JTRACE_RETURN_IF_ERROR(write_class_dumps());
    JTRACE_RETURN_IF_ERROR(write_objects());
    JTRACE_RETURN_IF_ERROR(write_roots());
    JTRACE_RETURN_IF_ERROR(writer_.end());
    if (plans_.broken() > 0)
      result_.missing.push_back(counted(plans_.broken(), "class", "classes") + " could not be read in full");
    if (result_.counts.truncated > 0)
      result_.missing.push_back(std::to_string(result_.counts.truncated) +
                                " arrays are longer than the format allows, and were cut");
    if (result_.counts.unknown > 0)
      result_.missing.push_back(counted(result_.counts.unknown, "object") +
                                " of classes that were loaded in the meantime were left out");
    return std::move(result_);
  }

 private:
  // That of a monitor that is being deflated may be a word of freed memory.
  std::vector<Address> monitor_candidates() const {
    std::vector<Address> monitors;
    for (const DumpThread& thread : dump_threads_)
      monitors.insert(monitors.end(), thread.monitors.begin(), thread.monitors.end());
    return monitors;
  }

  // Objects that a thread has locked, or waits for, and that none of its frames shows: a root beside a frame's would
  // take from the thread what it holds.
  std::set<Address> monitors_without_frames() const {
    std::set<Address> monitors;
    for (const DumpThread& thread : dump_threads_)
      for (const Address object : thread.monitors)
        if (std::none_of(thread.candidates.begin(), thread.candidates.end(),
                         [&](const FrameReference& each) { return each.object == object; }))
          monitors.insert(object);
    return monitors;
  }

  // First walk: finds the classes (KlassTable keeps them), which words of frames are objects, and which of monitors.
  Result<> check_candidates() {
    std::vector<Address> wanted = monitor_candidates();
    for (const DumpThread& thread : dump_threads_)
      for (const FrameReference& reference : thread.candidates) wanted.push_back(reference.object);
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::vector<AddressCheck> checks(threads_, AddressCheck(wanted));
    const Progress half = [this](std::uint64_t done, std::uint64_t all) {
      return !progress_ || progress_(done / 4, all);
    };
    auto totals = walk_regions(access_, checks, 0, half);
    if (!totals) return fail(totals.error());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (std::any_of(checks.begin(), checks.end(), [&](const AddressCheck& check) { return check.found(i); }))
        objects_.insert(wanted[i]);
    return {};
  }

  void add_classes() {
    if (const auto all = inspection_.classes().all())
      for (Address klass : *all) plans_.add(klass);
    by_index_.resize(access_.klasses().size());
    for (std::uint32_t i = 0; i < by_index_.size(); ++i) plans_.add(access_.klasses().at(i).klass);
    for (std::uint32_t i = 0; i < by_index_.size(); ++i) by_index_[i] = plans_.find(access_.klasses().at(i).klass);
  }

  Result<> write_traces() {
    HprofBuffer trace;
    trace.u4(kEmptyTrace);
    trace.u4(0);
    trace.u4(0);
    JTRACE_RETURN_IF_ERROR(writer_.record(HprofTag::kTrace, trace.text()));
    std::uint64_t frame_id = 0;
    for (std::size_t i = 0; i < dump_threads_.size(); ++i) {
      const auto& frames = dump_threads_[i].frames;
      trace.clear();
      trace.u4(trace_serial(i));
      trace.u4(thread_serial(i));
      trace.u4(static_cast<std::uint32_t>(frames.size()));
      for (const Frame& frame : frames) {
        JTRACE_RETURN_IF_ERROR(write_frame(++frame_id, frame));
        trace.id(frame_id);
      }
      JTRACE_RETURN_IF_ERROR(writer_.record(HprofTag::kTrace, trace.text()));
    }
    result_.counts.frames = frame_id;
    return {};
  }
  Result<> write_frame(std::uint64_t id, const Frame& frame) {
    constexpr std::int32_t kNativeMethod = -3, kUnknownLine = -1;  // heapDumper.cpp
    const JavaMethod& method = *frame.method;
    const ClassPlan* plan = plans_.find(method.holder);
    HprofBuffer body(64);
    body.id(id);
    body.id(writer_.text(method.name));
    body.id(writer_.text(method.signature));
    body.id(writer_.text(method.source_file));
    body.u4(plan ? plan->serial : 0);
    const int line = method.line_of(frame.bci);
    body.u4(static_cast<std::uint32_t>(method.is_native() ? kNativeMethod : line > 0 ? line : kUnknownLine));
    return writer_.record(HprofTag::kFrame, body.text());
  }
  static std::uint32_t thread_serial(std::size_t index) { return static_cast<std::uint32_t>(index + 1); }
  static std::uint32_t trace_serial(std::size_t index) { return static_cast<std::uint32_t>(index + 1) + kEmptyTrace; }

  Result<> write_class_dumps() {
    HprofBuffer segment(1u << 20);
    for (Address klass : plans_.order()) {
      const ClassPlan* plan = plans_.find(klass);
      if (plan->mirror == 0) continue;  // it is just being made
      plans_.append_dump(*plan, writer_, segment);
      ++result_.counts.classes;
      if (segment.size() < (1u << 20)) continue;
      JTRACE_RETURN_IF_ERROR(writer_.write_segment(segment));
      segment.clear();
    }
    return writer_.write_segment(segment);
  }

  Result<> write_objects() {
    std::vector<ObjectEncoder> encoders;
    for (unsigned i = 0; i < threads_; ++i) encoders.emplace_back(access_, plans_, by_index_, writer_);
    const Progress rest = [this](std::uint64_t done, std::uint64_t all) {
      return !writer_.status().has_value() ? false : !progress_ || progress_(all / 4 + done / 4 * 3, all);
    };
    auto totals = walk_regions(access_, encoders, ObjectEncoder::kWant, rest);
    JTRACE_RETURN_IF_ERROR(writer_.status());
    if (!totals) return fail(totals.error());
    result_.totals = *totals;
    add_sizes_of_classes();
    auto& single = result_.sizes.of_object;
    for (const ObjectEncoder& encoder : encoders) {
      result_.counts += encoder.counts();
      single.insert(single.end(), encoder.single_sizes().begin(), encoder.single_sizes().end());
    }
    return {};
  }

  void add_sizes_of_classes() {
    for (std::uint32_t i = 0; i < by_index_.size(); ++i) {
      const KlassInfo& info = access_.klasses().at(i);
      if (info.kind != KlassInfo::Kind::kInstance || by_index_[i] == nullptr || by_index_[i]->mirror == 0) continue;
      result_.sizes.of_class[by_index_[i]->mirror] = {.bytes = info.base, .injected = by_index_[i]->injected_bytes};
    }
  }

  Result<> write_roots() {
    HprofBuffer segment(1u << 20);
    HeapDumpCounts& counts = result_.counts;
    for (std::size_t i = 0; i < dump_threads_.size(); ++i) append_thread(i, segment);
    for (const auto& [object, handle] : jni_globals(inspection_, result_.missing)) {
      segment.sub(HprofSub::kRootJniGlobal);
      segment.id(access_.place_of(object));
      segment.id(handle);
      ++counts.jni_globals;
    }
    for (Address klass : sticky_) {
      const ClassPlan* plan = plans_.find(klass);
      if (!plan || plan->mirror == 0) continue;
      segment.sub(HprofSub::kRootStickyClass);
      segment.id(plan->mirror);
      ++counts.sticky_classes;
    }
    for (Address object : monitors_without_frames()) {
      if (!objects_.contains(object)) continue;
      segment.sub(HprofSub::kRootMonitorUsed);
      segment.id(object);
      ++counts.monitors;
    }
    return writer_.write_segment(segment);
  }

  void append_thread(std::size_t index, HprofBuffer& segment) {
    const DumpThread& thread = dump_threads_[index];
    HeapDumpCounts& counts = result_.counts;
    if (thread.hidden) {  // a root all the same, but none of the threads that the JVM shows
      segment.sub(HprofSub::kRootUnknown);
      segment.id(thread.object);
    } else {
      segment.sub(HprofSub::kRootThreadObject);
      segment.id(thread.object);
      segment.u4(thread_serial(index));
      segment.u4(trace_serial(index));
      ++(thread.is_virtual ? counts.virtual_threads : counts.threads);
    }
    if (thread.hidden) return append_unnamed_roots(thread, segment);
    for (const FrameReference& reference : thread.candidates) {
      if (!objects_.contains(reference.object)) continue;
      segment.sub(HprofSub::kRootJavaFrame);
      segment.id(reference.object);
      segment.u4(thread_serial(index));
      segment.u4(thread.frames.empty() ? kNoFrame : reference.frame);
      ++counts.java_frames;
    }
    for (Address object : thread.jni_locals) {
      segment.sub(HprofSub::kRootJniLocal);
      segment.id(object);
      segment.u4(thread_serial(index));
      segment.u4(thread.frames.empty() ? kNoFrame : 0);
      ++counts.jni_locals;
    }
  }

  // A thread without a record of its own has no number that a root can name: jhat refuses a file with one.
  void append_unnamed_roots(const DumpThread& thread, HprofBuffer& segment) {
    const auto append = [&](Address object) {
      segment.sub(HprofSub::kRootUnknown);
      segment.id(object);
    };
    for (const FrameReference& reference : thread.candidates)
      if (objects_.contains(reference.object)) append(reference.object);
    for (const Address object : thread.jni_locals) append(object);
  }

  HeapAccess& access_;
  Inspection& inspection_;
  HprofWriter writer_;
  ClassPlans plans_;
  const unsigned threads_;
  const Progress& progress_;
  std::vector<DumpThread> dump_threads_;
  std::vector<Address> sticky_;
  std::set<Address> objects_;  // candidates, of frames or monitors, that are objects
  std::vector<const ClassPlan*> by_index_;
  HeapDumpResult result_;
};

}  // namespace

HeapDumpCounts& HeapDumpCounts::operator+=(const HeapDumpCounts& other) {
  classes += other.classes;
  instances += other.instances;
  object_arrays += other.object_arrays;
  primitive_arrays += other.primitive_arrays;
  fillers += other.fillers;
  truncated += other.truncated;
  unknown += other.unknown;
  return *this;
}

Result<HeapDumpResult> dump_heap(HeapAccess& access, trace::ByteSink& sink, std::uint64_t millis, unsigned threads,
                                 const Progress& progress, bool redacted) {
  return Dumper(access, sink, std::max(threads, 1u), progress, redacted).run(millis);
}

}  // namespace jtrace::coreinspect
