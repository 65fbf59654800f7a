// VmFacts: what the JVM's own tables (vmStructs) have of threads and classes that probes only name.
//
// The process is read while it runs and is never stopped for it: what does not fit together (a thread that just ended,
// an object that a collection just moves, a class that was unloaded) is left out. Ownership: owns its own descriptors
// of the process. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "coreinspect/model/inspection.h"
#include "coreinspect/tools/class_definition.h"

namespace jtrace::dtrace {

// A Java thread that runs already.
struct EarlierThread {
  std::uint32_t tid = 0;      // kernel's id, ours
  std::uint64_t inner = 0;    // the same in the JVM's own pid namespace
  std::uint64_t java_id = 0;  // java.lang.Thread's own
  std::string name, group;
};

class VmFacts {
 public:
  // Errors: those of Inspection::open: not initialised yet, or not to be read by us.
  static Result<std::unique_ptr<VmFacts>> open(pid_t pid);

  // In the VM's order.
  Result<std::vector<EarlierThread>> threads();
  // A class that was just loaded; `loader_data`: its ClassLoaderData, as class__loaded gives it.
  std::optional<coreinspect::ClassDefinition> loaded_class(std::string_view name, std::uint64_t loader_data);
  // The class of that name (internal, UTF-8); nothing if several loaders have one.
  std::optional<coreinspect::ClassDefinition> class_named(std::string_view name);

  coreinspect::Inspection& inspection() { return *inspection_; }

 private:
  explicit VmFacts(std::unique_ptr<coreinspect::Inspection> inspection) : inspection_(std::move(inspection)) {}
  void read_again();
  void list_classes();
  std::optional<coreinspect::ClassDefinition> define(target::Address klass, std::string_view name);

  std::unique_ptr<coreinspect::Inspection> inspection_;
  std::unordered_map<std::string, std::vector<target::Address>> by_name_;
  std::uint64_t listed_at_ = 0;  // monotonic, ns; 0: never
};

}  // namespace jtrace::dtrace
