#include "coreinspect/model/inspection.h"

#include <algorithm>
#include <ctime>

#include "coreinspect/model/core_death.h"

namespace jtrace::coreinspect {

namespace {

constexpr int kTests = 10;  // of a live JVM, which may be moving the objects
constexpr timespec kBetweenTests{0, 5'000'000};

Result<> test_objects(const Inspection& inspection) {
  JTRACE_ASSIGN_OR_RETURN(const auto threads, java_thread_addresses(inspection.vm()));
  return self_test(inspection.objects(), threads);
}

// Some rules are not in the tables. They are tested on a method that every JVM has: java.lang.Thread.run.
Result<> check_methods(const ClassModel& classes, const MethodModel& methods) {
  JTRACE_ASSIGN_OR_RETURN(const auto found, classes.find("java/lang/Thread"));
  JTRACE_ASSIGN_OR_RETURN(const auto addresses, classes.methods(found.front()));
  for (Address address : addresses) {
    JTRACE_ASSIGN_OR_RETURN(const JavaMethod* method, methods.method(address));
    if (method->name != "run" || method->signature != "()V") continue;
    const auto last = method->lines.rbegin();
    if (method->code_size == 0 || (last != method->lines.rend() && last->first >= static_cast<int>(method->code_size)))
      break;
    return {};
  }
  return fail(ErrorCategory::kMalformed, "java.lang.Thread.run is not where it should be");
}

}  // namespace

// CollectedHeap::_is_gc_active; _is_stw_gc_active from 23 on (collectedHeap.hpp).
bool Inspection::collection_is_active() const {
  const auto heap = vm_->read_static<Address>("Universe", "_collectedHeap");
  if (!heap || *heap == 0) return false;
  for (const char* field : {"_is_stw_gc_active", "_is_gc_active"})
    if (const auto active = vm_->read_field<std::uint8_t>(*heap, "CollectedHeap", field)) return *active != 0;
  return false;
}

bool Inspection::collects_now() const {
  if (vm_->cached_memory()) vm_->cached_memory()->forget();
  return collection_is_active();
}

std::vector<std::string> Inspection::missing() const {
  auto lines = target_->missing();
  if (died_in_gc_)
    lines.push_back(std::string(died_by_signal(*target_->core()) ? "the JVM died" : "the core was taken") +
                    " inside a collection: objects may be only partly moved");
  return lines;
}

Result<std::unique_ptr<Inspection>> Inspection::open(std::unique_ptr<target::Target> target) {
  std::unique_ptr<Inspection> inspection(new Inspection);
  inspection->target_ = std::move(target);
  JTRACE_ASSIGN_OR_RETURN(inspection->vm_, Vm::open(*inspection->target_));
  inspection->classes_ = std::make_unique<ClassModel>(*inspection->vm_);
  inspection->objects_ = std::make_unique<ObjectModel>(*inspection->classes_);
  inspection->methods_ = std::make_unique<MethodModel>(*inspection->classes_);
  inspection->healthy_ = test_objects(*inspection);
  for (int i = 1; i < kTests && !inspection->healthy_ && inspection->vm_->cached_memory(); ++i) {
    ::nanosleep(&kBetweenTests, nullptr);
    inspection->vm_->cached_memory()->forget();
    inspection->healthy_ = test_objects(*inspection);
  }
  if (!inspection->healthy_) inspection->vm_->warn(inspection->healthy_.error().message());
  else if (const auto methods = check_methods(*inspection->classes_, *inspection->methods_); !methods)
    inspection->vm_->warn(methods.error().with_context("bytecodes and lines cannot be trusted in this JVM").message());
  inspection->died_in_gc_ = inspection->target_->core() && inspection->collection_is_active();
  return inspection;
}

Result<const CodeCache*> Inspection::code() const {
  // A JVM that is starting may have none yet.
  if (!code_ || (!*code_ && target_->process())) code_.emplace(CodeCache::read(*vm_));
  if (!*code_) return fail(code_->error().with_context("cannot read the code cache"));
  return &**code_;
}

}  // namespace jtrace::coreinspect
