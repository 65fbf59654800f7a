#include "sampling/jfr_writer.h"

#include <algorithm>

#include "coreinspect/tools/profile.h"
#include "sampling/jfr_bytes.h"
#include "sampling/jfr_metadata.h"
#include "sampling/kernel_names.h"

namespace jtrace::sampling {
namespace {

using coreinspect::FrameKind;

// Of frames and of threads; the first two are the words of the JDK's own recordings.
constexpr const char* kFrameKinds[] = {"JIT compiled", "Interpreted", "Inlined", "Native", "C++", "Kernel", "Stub"};
enum : std::uint32_t { kCompiled = 1, kInterpreted, kInlined, kNative, kCpp, kKernel, kStub };
constexpr std::uint32_t kRunnable = 1;
constexpr const char* kState = "STATE_RUNNABLE";

constexpr std::size_t kHeaderBytes = 68;
constexpr std::uint32_t kCompressedNumbers = 1;

std::uint32_t kind_of(const coreinspect::Frame& frame) {
  if (frame.method) {
    if (frame.method->is_native()) return kNative;
    return frame.kind == FrameKind::kInterpreted ? kInterpreted
           : frame.kind == FrameKind::kInlined   ? kInlined
                                                 : kCompiled;
  }
  if (frame.kind != FrameKind::kNative) return kStub;
  return frame.module == kKernelModule ? kKernel : kCpp;
}

}  // namespace

JfrWriter::Frame JfrWriter::frame_of(const coreinspect::Frame& frame) {
  Frame made;
  made.kind = kind_of(frame);
  Method method;
  if (frame.method) {
    method = {.holder = classes_.number_of(symbols_.number_of(frame.method->class_name)),
              .name = symbols_.number_of(frame.method->name),
              .signature = symbols_.number_of(frame.method->signature),
              .modifiers = frame.method->access & 0xffff};
    made.line = static_cast<std::uint32_t>(std::max(0, frame.method->line_of(frame.bci)));
    made.bci = static_cast<std::uint32_t>(std::max(0, frame.bci));
  } else {
    const std::string holder = made.kind == kStub     ? "[generated code]"
                               : frame.module.empty() ? "[native]"
                                                      : frame.module;
    method = {.holder = classes_.number_of(symbols_.number_of(holder)),
              .name = symbols_.number_of(coreinspect::frame_name(frame)),
              .signature = symbols_.number_of("()V"),
              .modifiers = 0};
  }
  made.method = methods_.number_of(method);
  return made;
}

void JfrWriter::add(const coreinspect::ThreadReport& thread, std::uint64_t time, std::uint64_t weight, WaitKind wait,
                    const std::string& process) {
  Stack stack;
  stack.truncated = thread.walk.incomplete();
  for (const coreinspect::Frame& frame : thread.walk.frames)
    if (frame.kind != FrameKind::kEntry) stack.frames.push_back(frame_of(frame));
  const std::string label = coreinspect::thread_label(thread);
  const Thread key{.name = process.empty() ? label : process + " / " + label,
                   .tid = thread.native_id,
                   .java_id = thread.java.id,
                   .is_java = thread.java.address != 0};
  events_.push_back({.wait = wait,
                     .thread = threads_.number_of(key),
                     .stack = stacks_.number_of(stack),
                     .time = time,
                     .weight = weight});
}

std::string JfrWriter::pools() const {
  std::uint64_t count = 2;
  JfrBytes bytes;
  bytes.number(jfr::kFrameType).number(std::size(kFrameKinds));
  for (std::uint64_t i = 0; i < std::size(kFrameKinds); ++i) bytes.number(i + 1).string(kFrameKinds[i]);
  bytes.number(jfr::kThreadState).number(1).number(kRunnable).string(kState);
  // An empty pool is refused.
  const auto add = [&](jfr::Type type, const auto& pool, const auto& put) {
    if (pool.entries().empty()) return;
    ++count;
    bytes.number(type).number(pool.entries().size());
    for (const auto& [entry, number] : pool.entries()) put(bytes.number(number), entry);
  };
  add(jfr::kSymbol, symbols_, [](JfrBytes& to, const std::string& text) { to.string(text); });
  add(jfr::kClass, classes_, [](JfrBytes& to, std::uint32_t symbol) { to.number(symbol).number(0); });
  add(jfr::kMethod, methods_, [](JfrBytes& to, const Method& method) {
    to.number(method.holder).number(method.name).number(method.signature).number(method.modifiers).flag(false);
  });
  add(jfr::kThread, threads_, [](JfrBytes& to, const Thread& thread) {
    to.string(thread.name).number(static_cast<std::uint64_t>(thread.tid));
    to.string(thread.is_java ? thread.name : "").number(static_cast<std::uint64_t>(thread.java_id));
  });
  add(jfr::kStackTrace, stacks_, [](JfrBytes& to, const Stack& stack) {
    to.flag(stack.truncated).number(stack.frames.size());
    for (const Frame& frame : stack.frames)
      to.number(frame.method).number(frame.line).number(frame.bci).number(frame.kind);
  });
  return JfrBytes().number(count).raw(bytes.text()).text();
}

std::string JfrWriter::events() const {
  std::string all;
  for (const Event& event : events_) {
    JfrBytes bytes;
    const jfr::Type type = jfr::event_of(event.wait);
    bytes.number(type).number(event.time);
    if (type != jfr::kExecutionSample) bytes.number(event.weight);
    bytes.number(event.thread).number(event.stack);
    if (type == jfr::kExecutionSample) bytes.number(kRunnable);
    if (type == jfr::kOffCpu) bytes.string(to_string(event.wait));
    all += bytes.as_event();
  }
  return all;
}

std::string JfrWriter::bytes(const ProfileHead& head) const {
  const std::string body = events();
  JfrBytes checkpoint;
  // No checkpoint before it; not flushed early.
  checkpoint.number(jfr::kCheckpoint).number(head.start).number(0).number(0).flag(false).raw(pools());
  const std::string pool = checkpoint.as_event(), metadata = jfr::metadata(head.start, head.elapsed);
  const std::uint64_t pool_at = kHeaderBytes + body.size(), metadata_at = pool_at + pool.size();
  JfrBytes file;
  file.raw(std::string_view("FLR\0", 4)).big_endian(std::uint16_t{2}).big_endian(std::uint16_t{0});
  file.big_endian(metadata_at + metadata.size()).big_endian(pool_at).big_endian(metadata_at);
  file.big_endian(head.start).big_endian(head.elapsed);
  file.big_endian(head.start).big_endian(std::uint64_t{1'000'000'000});  // ticks are ns since the epoch
  file.big_endian(kCompressedNumbers);
  return file.raw(body).raw(pool).raw(metadata).text();
}

}  // namespace jtrace::sampling
