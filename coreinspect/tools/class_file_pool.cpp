#include "coreinspect/tools/class_file_pool.h"

#include "coreinspect/oops/constant_tag.h"

namespace jtrace::coreinspect {
namespace {

std::string utf8_entry(std::string_view text) {
  return ClassFileBytes().u1(kUtf8).u2(static_cast<std::uint32_t>(text.size())).append(text).bytes();
}

}  // namespace

Result<ClassFilePool> ClassFilePool::read(const ClassModel& classes, Address pool) {
  const Vm& vm = classes.vm();
  JTRACE_ASSIGN_OR_RETURN(const Address tag_array, vm.read_pointer(pool, "ConstantPool", "_tags"));
  JTRACE_ASSIGN_OR_RETURN(const auto tags, classes.array<std::uint8_t>(tag_array, "Array<u1>"));
  const auto head = vm.types().size_of("ConstantPool");
  if (!head) return fail(Vm::no_field("ConstantPool", "(size)"));
  if (tags.empty() || tags.size() > 65535) return fail(malformed("no constant pool", pool));
  std::vector<std::uint64_t> slots(tags.size());
  JTRACE_RETURN_IF_ERROR(vm.memory().read_exactly(pool + *head, std::as_writable_bytes(std::span(slots))));
  ClassFilePool made;
  made.entries_.resize(tags.size());
  for (std::size_t i = 1; i < tags.size(); ++i) {  // texts first: the others are looked up among them
    if (tags[i] != kUtf8) continue;
    JTRACE_ASSIGN_OR_RETURN(const std::string text, classes.symbol(slots[i]));
    made.entries_[i] = utf8_entry(text);
    made.utf8_.emplace(text, static_cast<std::uint16_t>(i));
  }
  for (std::size_t i = 1; i < tags.size(); ++i) {
    if (tags[i] == kUtf8 || tags[i] == 0) continue;
    JTRACE_ASSIGN_OR_RETURN(made.entries_[i], made.entry(classes, pool, tags[i], slots[i]));
    if (made.entries_[i].front() == kClass)
      made.classes_.emplace(static_cast<std::uint16_t>(static_cast<std::uint8_t>(made.entries_[i][1]) << 8 |
                                                       static_cast<std::uint8_t>(made.entries_[i][2])),
                            static_cast<std::uint16_t>(i));
  }
  return made;
}

Result<std::string> ClassFilePool::entry(const ClassModel& classes, Address pool, std::uint8_t tag, std::uint64_t raw) {
  ClassFileBytes bytes;
  const auto low = static_cast<std::uint32_t>(raw & 0xffff), high = static_cast<std::uint32_t>(raw >> 16 & 0xffff);
  switch (tag) {
    case kInteger:
    case kFloat: return bytes.u1(tag).u4(static_cast<std::uint32_t>(raw)).bytes();
    case kLong:
    case kDouble:
      return bytes.u1(tag).u4(static_cast<std::uint32_t>(raw >> 32)).u4(static_cast<std::uint32_t>(raw)).bytes();
    case kString: {  // has the symbol it was made from
      JTRACE_ASSIGN_OR_RETURN(const std::string text, classes.symbol(raw & ~std::uint64_t{1}));
      return bytes.u1(tag).u2(utf8(text)).bytes();
    }
    case kClass:
    case kUnresolvedClass:
    case kUnresolvedClassInError: {
      JTRACE_ASSIGN_OR_RETURN(const auto name, class_name(classes, pool, tag, raw));
      return bytes.u1(kClass).u2(name).bytes();
    }
    case kField:
    case kMethod:
    case kInterfaceMethod:
    case kNameAndType:
    case kDynamic:
    case kInvokeDynamic: return bytes.u1(tag).u2(low).u2(high).bytes();
    case kDynamicInError: return bytes.u1(kDynamic).u2(low).u2(high).bytes();
    case kMethodHandle:
    case kMethodHandleInError: return bytes.u1(kMethodHandle).u1(low).u2(high).bytes();
    case kMethodType:
    case kMethodTypeInError: return bytes.u1(kMethodType).u2(low).bytes();
    default: return fail(malformed("a constant of an unknown kind " + std::to_string(tag), pool));
  }
}

// JDK 8: a Klass or, if unresolved, a Symbol, marked by the lowest bit. Later: the index of the name in the upper half.
Result<std::uint16_t> ClassFilePool::class_name(const ClassModel& classes, Address pool, std::uint8_t tag,
                                                std::uint64_t raw) {
  if (classes.vm().types().has("ConstantPool", "_resolved_klasses")) {
    const auto index = static_cast<std::uint16_t>(raw >> 16);
    if (!is_utf8(index)) return fail(malformed("a class without a name", pool));
    return index;
  }
  JTRACE_ASSIGN_OR_RETURN(const std::string name,
                          tag == kClass ? classes.internal_name(raw) : classes.symbol(raw & ~std::uint64_t{1}));
  return utf8(name);
}

std::uint16_t ClassFilePool::add(std::string bytes) {
  entries_.push_back(std::move(bytes));
  return static_cast<std::uint16_t>(entries_.size() - 1);  // bytes() reports a pool that is too large
}

std::uint16_t ClassFilePool::utf8(std::string_view text) {
  const auto known = utf8_.find(text);
  if (known != utf8_.end()) return known->second;
  return utf8_[std::string(text)] = add(utf8_entry(text));
}

std::uint16_t ClassFilePool::class_entry(std::string_view name) {
  const std::uint16_t text = utf8(name);
  const auto known = classes_.find(text);
  if (known != classes_.end()) return known->second;
  return classes_[text] = add(ClassFileBytes().u1(kClass).u2(text).bytes());
}

bool ClassFilePool::is_utf8(std::uint32_t index) const {
  return index < entries_.size() && !entries_[index].empty() && entries_[index].front() == kUtf8;
}

Result<std::string> ClassFilePool::bytes() const {
  if (entries_.size() > 65535) return fail(malformed("more constants than a class file can have", 0));
  ClassFileBytes bytes;
  bytes.u2(static_cast<std::uint32_t>(entries_.size()));
  for (const std::string& entry : entries_) bytes.append(entry);
  return bytes.bytes();
}

}  // namespace jtrace::coreinspect
