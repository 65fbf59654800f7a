#include "agent/methods/method_counts.h"

#include <stdio.h>

#include <string_view>

#include "agent/callback_guard.h"
#include "agent/guarded_classes.h"
#include "agent/methods/call_counts.h"
#include "agent/methods/rewrite_results.h"
#include "agent/recorder.h"
#include "agent/registry.h"
#include "trace/option_keys.h"

namespace jtrace::agent {
namespace {

constexpr int kMostWaits = 500;
constexpr std::uint64_t kWaitNs = 10'000'000;

// Classes that the filters include and whose methods have no counter.
struct Uncounted {
  std::uint32_t guarded = 0;
  std::uint32_t hidden = 0;
};

void add(const Recorder& recorder, jclass klass, Uncounted& uncounted) {
  JvmtiText signature(recorder.jvmti);
  if (recorder.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::string_view name = internal_name(signature.view());
  // An array or a primitive type ("I").
  if (signature.view().size() < 3 || name.front() == '[' || !recorder.registry->includes_class(name)) return;
  jboolean modifiable = JNI_FALSE;
  recorder.jvmti->IsModifiableClass(klass, &modifiable);
  if (modifiable == JNI_FALSE) ++uncounted.hidden;
  else if (is_guarded_class(name)) ++uncounted.guarded;
}

}  // namespace

int count_coverage(const Recorder& recorder, const RewriteResults& results, JNIEnv* jni, std::size_t counted,
                   char* text, std::size_t size) {
  Uncounted uncounted;
  for_each_loaded_class(recorder.jvmti, jni, [&](jclass klass) { add(recorder, klass, uncounted); });
  return snprintf(text, size, "counted=%zu,native=%u,abstract=%u,skipped=%u,guardedClasses=%u,hiddenClasses=%u",
                  counted, results.native(), results.abstract(), results.skipped(), uncounted.guarded,
                  uncounted.hidden);
}

void write_method_counts(Recorder& recorder, const RewriteResults& results, const CallCounts& counts,
                         const std::vector<std::uint32_t>& counted, JNIEnv* jni, const CallbackGuard& guard) {
  int waits = 0;
  for (const std::uint32_t number : counted) {
    for (; !recorder.writer.has_room() && waits < kMostWaits; ++waits) recorder.writer.wait_for_pass(kWaitNs);
    record::CountRecord made{};
    made.header.number = number;
    made.count = counts.sum(number);
    guard.write(made, record::RecordKind::kMethodCount);
  }
  char text[256];
  const int length = count_coverage(recorder, results, jni, counted.size(), text, sizeof text);
  recorder.definitions.append_option(trace::kCountedKey, std::string_view(text, static_cast<std::size_t>(length)));
}

}  // namespace jtrace::agent
