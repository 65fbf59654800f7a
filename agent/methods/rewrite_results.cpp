#include "agent/methods/rewrite_results.h"

#include <stdio.h>

#include <algorithm>

#include "agent/definition_stream.h"
#include "trace/option_keys.h"

namespace jtrace::agent {
namespace {

using classfile::ClassFile;
using classfile::MethodPlan;
using classfile::Outcome;

constexpr unsigned kAccNative = 0x0100;  // JVMS 4.6
// methods without callouts that the trace names; further ones are only counted
constexpr std::uint32_t kMostNotes = 50;

}  // namespace

void RewriteResults::clear() {
  for (std::atomic<std::uint32_t>* figure : {&classes_, &methods_, &reduced_, &skipped_, &refused_, &unreadable_,
                                             &native_, &abstract_, &unseen_news_, &unseen_calls_})
    *figure = 0;
}

void RewriteResults::add(const ClassFile& klass, const std::vector<MethodPlan>& plans) {
  bool any = false;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const MethodPlan& plan = plans[i];
    any = any || plan.done != 0;
    if (plan.done != 0) methods_.fetch_add(1, std::memory_order_relaxed);
    if ((plan.done & classfile::kCalloutNew) != 0) unseen_news_.fetch_add(plan.unseen_news, std::memory_order_relaxed);
    if ((plan.done & classfile::kCalloutCalls) != 0)
      unseen_calls_.fetch_add(plan.unseen_calls, std::memory_order_relaxed);
    if (plan.outcome == Outcome::kNoCode) {
      const bool is_native = (klass.methods()[i].access & kAccNative) != 0;
      (is_native ? native_ : abstract_).fetch_add(1, std::memory_order_relaxed);
    }
    if (plan.outcome == Outcome::kUntouched || plan.outcome == Outcome::kRewritten || plan.outcome == Outcome::kNoCode)
      continue;
    (plan.outcome == Outcome::kReduced ? reduced_ : skipped_).fetch_add(1, std::memory_order_relaxed);
    note(klass.name(), klass.methods()[i].name, to_text(plan.outcome));
  }
  if (any) classes_.fetch_add(1, std::memory_order_relaxed);
}

void RewriteResults::note(std::string_view klass, std::string_view method, std::string_view why) {
  if (notes_.fetch_add(1) >= kMostNotes) return;
  char text[512];
  const int length =
      snprintf(text, sizeof text, "%.*s%s%.*s: %.*s", static_cast<int>(std::min<std::size_t>(klass.size(), 400)),
               klass.data(), method.empty() ? "" : ".", static_cast<int>(method.size()), method.data(),
               static_cast<int>(why.size()), why.data());
  definitions_.append_option(
      trace::kUnrewrittenKey,
      std::string_view(text, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1)));
}

int RewriteResults::figures(bool with_calls, char* text, std::size_t size) const {
  int length =
      snprintf(text, size, "classes=%u,methods=%u,reduced=%u,skipped=%u,refusedClasses=%u,unreadable=%u,unseenNews=%u",
               classes_.load(), methods_.load(), reduced_.load(), skipped_.load(), refused_.load(), unreadable_.load(),
               unseen_news_.load());
  if (with_calls)
    length += snprintf(text + length, size - static_cast<std::size_t>(length), ",unseenCalls=%u", unseen_calls_.load());
  return length;
}

}  // namespace jtrace::agent
