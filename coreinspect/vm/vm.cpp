#include "coreinspect/vm/vm.h"

#include <array>
#include <cstdio>

#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxFlags = 20000;

// JVMFlag::FlagType of 17 to 27 (jvmFlag.hpp), the order of JVM_FLAG_NON_STRING_TYPES_DO and the two string types.
constexpr std::array<std::string_view, 10> kFlagTypes = {"bool",     "int",    "uint",   "intx",  "uintx",
                                                         "uint64_t", "size_t", "double", "ccstr", "ccstrlist"};

std::string text_of_double(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%f", value);
  return text;
}

template <class T>
Result<std::string> number_at(const target::MemoryReader& memory, Address at) {
  JTRACE_ASSIGN_OR_RETURN(const T value, memory.read<T>(at));
  return std::to_string(value);
}

}  // namespace

std::string_view VmFlag::origin_name() const {
  // JVMFlagOrigin (jvmFlag.hpp); 8 has the same numbers (globals.hpp).
  constexpr std::array<std::string_view, 9> names = {"default",     "command line", "environment",
                                                     "config file", "management",   "ergonomic",
                                                     "attach",      "internal",     "jimage"};
  return origin >= 0 && static_cast<std::size_t>(origin) < names.size() ? names[static_cast<std::size_t>(origin)]
                                                                        : "unknown";
}

Vm::Vm(const target::Target& target) : target_(target), memory_(&target.memory()) {
  if (!target.process()) return;
  cached_ = std::make_unique<CachedMemory>(target.memory());
  memory_ = cached_.get();
}

Error Vm::no_field(std::string_view type, std::string_view name) {
  return {.category = ErrorCategory::kMalformed,
          .text = "this JVM's tables have no field " + std::string(type) + "::" + std::string(name)};
}

Error malformed(std::string text, target::Address at) {
  Error error{.category = ErrorCategory::kMalformed, .text = std::move(text)};
  error.address = at;
  return error;
}

Result<std::unique_ptr<Vm>> Vm::open(const target::Target& target) {
  std::unique_ptr<Vm> vm(new Vm(target));
  auto types =
      TypeDatabase::read(*vm->memory_, [&](std::string_view name) { return target.libjvm().find_exported(name); });
  if (!types) {
    Error error = types.error().with_context("cannot read the tables of " + target.libjvm_mapping().path);
    const auto missing = target.missing();
    for (const std::string& line : missing)
      if (line.find("/libjvm.so") != line.npos || line.find("cut off") != line.npos) error.help = line;
    // Eclipse OpenJ9 has a libjvm.so that only loads its own VM.
    if (error.category == ErrorCategory::kNotAttachable) {
      if (error.help.empty()) error.help = "is it HotSpot? OpenJ9 and others have no such tables";
      else error.category = ErrorCategory::kMalformed;  // the tables may be in what is missing
    }
    if (error.help.empty() && target.core()) error.help = "give the libjvm.so of the process with --libjvm";
    return fail(std::move(error));
  }
  vm->types_ = std::move(*types);
  JTRACE_RETURN_IF_ERROR(vm->read_identity());
  if (auto flags = vm->read_flags(); !flags) vm->warn("flags: " + flags.error().message());
  return vm;
}

Result<std::string> Vm::read_static_text(std::string_view type, std::string_view name) const {
  JTRACE_ASSIGN_OR_RETURN(const Address at, read_static<Address>(type, name));
  if (at == 0) return std::string();
  return memory_->read_cstring(at, 1u << 20);
}

Result<> Vm::read_identity() {
  auto release = read_static_text("Abstract_VM_Version", "_s_vm_release");
  if (!release) return fail(release.error().with_context("cannot read the version of the JVM"));
  if (release->empty())
    return fail(ErrorCategory::kNotAttachable, "this JVM is not initialised: it has no version yet");
  release_ = std::move(*release);
  const std::string_view text = release_;
  const auto major = parse_decimal<int>(text.substr(0, text.find_first_not_of("0123456789")));
  if (!major) return fail(ErrorCategory::kMalformed, "the JVM's version is invalid: " + release_);
  // JDK 8 names its libjvm version 25.N. Its flags are of type Flag, those of JDK 9 and later JVMFlag.
  feature_ = types_.has("JVMFlag", "flags") ? *major : 8;
  quirks_ = JdkQuirks::of(feature_, types_.has("InstanceKlass", "_fieldinfo_stream"), target_.isa());
  constexpr std::array known = {8, 11, 17, 21, 25, 27};
  if (std::find(known.begin(), known.end(), feature_) == known.end())
    warn("JDK " + std::to_string(feature_) +
         " is not among the tested versions (8, 11, 17, 21, 25, 27): what cannot be read is left out");
  return {};
}

std::string Vm::internal_info() const {
  return read_static_text("Abstract_VM_Version", "_s_internal_vm_info_string").value_or("");
}

Result<> Vm::read_flags() {
  const std::string_view type = types_.has("JVMFlag", "flags") ? "JVMFlag" : "Flag";
  JTRACE_ASSIGN_OR_RETURN(const Address first, read_static<Address>(type, "flags"));
  JTRACE_ASSIGN_OR_RETURN(const auto count, read_static<std::uint64_t>(type, "numFlags"));
  const auto stride = types_.size_of(type);
  if (!stride || *stride == 0 || count > kMaxFlags)
    return fail(ErrorCategory::kMalformed, "impossible flag table of " + counted(count, "flag"));
  std::size_t unreadable = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto flag = read_flag(first + i * *stride, type);
    if (!flag) ++unreadable;
    else if (!flag->name.empty()) flags_.push_back(std::move(*flag));
  }
  if (unreadable > 0) warn(counted(unreadable, "flag") + " could not be read");
  return {};
}

Result<VmFlag> Vm::read_flag(Address at, std::string_view type_name) const {
  VmFlag flag;
  JTRACE_ASSIGN_OR_RETURN(const Address name, read_pointer(at, type_name, "_name"));
  if (name == 0) return flag;  // the last entry, and holes
  JTRACE_ASSIGN_OR_RETURN(flag.name, memory_->read_cstring(name, 256));
  if (quirks_.flag_type_is_text) {
    JTRACE_ASSIGN_OR_RETURN(const Address type, read_pointer(at, type_name, "_type"));
    JTRACE_ASSIGN_OR_RETURN(flag.type, memory_->read_cstring(type, 64));
  } else {
    JTRACE_ASSIGN_OR_RETURN(const auto type, read_field<std::uint32_t>(at, type_name, "_type"));
    flag.type = type < kFlagTypes.size() ? kFlagTypes[type] : "unknown";
  }
  JTRACE_ASSIGN_OR_RETURN(const auto bits, read_field<std::uint32_t>(at, type_name, "_flags"));
  flag.origin = static_cast<int>(bits & 15);
  JTRACE_ASSIGN_OR_RETURN(const Address value, read_pointer(at, type_name, "_addr"));
  flag.address = value;
  JTRACE_ASSIGN_OR_RETURN(flag.value, flag_value(value, flag.type));
  return flag;
}

Result<std::string> Vm::flag_value(Address at, std::string_view type) const {
  if (type == "bool") {
    JTRACE_ASSIGN_OR_RETURN(const auto value, memory_->read<std::uint8_t>(at));
    return std::string(value ? "true" : "false");
  }
  if (type == "int") return number_at<std::int32_t>(*memory_, at);
  if (type == "uint") return number_at<std::uint32_t>(*memory_, at);
  if (type == "intx") return number_at<std::int64_t>(*memory_, at);
  if (type == "uintx" || type == "uint64_t" || type == "size_t") return number_at<std::uint64_t>(*memory_, at);
  if (type == "double") {
    JTRACE_ASSIGN_OR_RETURN(const auto value, memory_->read<double>(at));
    return text_of_double(value);
  }
  if (type == "ccstr" || type == "ccstrlist") {
    JTRACE_ASSIGN_OR_RETURN(const Address text, memory_->read<Address>(at));
    if (text == 0) return std::string();
    return memory_->read_cstring(text, 1u << 20);
  }
  return std::string("?");
}

const VmFlag* Vm::flag(std::string_view name) const {
  for (const VmFlag& flag : flags_)
    if (flag.name == name) return &flag;
  return nullptr;
}

bool Vm::flag_is_true(std::string_view name) const {
  const VmFlag* found = flag(name);
  return found && found->value == "true";
}

bool Vm::moves_while_running() const { return collector() == "Z" || collector() == "Shenandoah"; }

std::string Vm::collector_text() const { return collector() == "Z" ? "ZGC" : std::string(collector()); }

std::string_view Vm::collector() const {
  constexpr std::pair<std::string_view, std::string_view> collectors[] = {{"UseG1GC", "G1"},
                                                                          {"UseParallelGC", "Parallel"},
                                                                          {"UseParallelOldGC", "Parallel"},
                                                                          {"UseSerialGC", "Serial"},
                                                                          {"UseZGC", "Z"},
                                                                          {"UseShenandoahGC", "Shenandoah"},
                                                                          {"UseConcMarkSweepGC", "CMS"},
                                                                          {"UseEpsilonGC", "Epsilon"}};
  for (const auto& [flag, name] : collectors)
    if (flag_is_true(flag)) return name;
  return "unknown";
}

}  // namespace jtrace::coreinspect
