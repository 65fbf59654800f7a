// VmStructsImage: the four tables of libjvm.so in a buffer, for tests without a JVM. Header only.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/types/type_database.h"
#include "target/buffer_memory.h"

namespace jtrace::test {

class VmStructsImage {
 public:
  static constexpr std::uint64_t kBase = 0x10000;

  VmStructsImage() {
    // The layout that vmStructs.hpp has: names first, then numbers.
    for (const char* entry :
         {"gHotSpotVMStructEntry", "gHotSpotVMTypeEntry", "gHotSpotVMIntConstantEntry", "gHotSpotVMLongConstantEntry"})
      variable(std::string(entry) + "ArrayStride", 48);
    const std::pair<const char*, std::uint64_t> layout[] = {
        {"StructEntryTypeNameOffset", 0},     {"StructEntryFieldNameOffset", 8},    {"StructEntryTypeStringOffset", 16},
        {"StructEntryIsStaticOffset", 24},    {"StructEntryOffsetOffset", 32},      {"StructEntryAddressOffset", 40},
        {"TypeEntryTypeNameOffset", 0},       {"TypeEntrySuperclassNameOffset", 8}, {"TypeEntryIsOopTypeOffset", 16},
        {"TypeEntryIsIntegerTypeOffset", 20}, {"TypeEntryIsUnsignedOffset", 24},    {"TypeEntrySizeOffset", 32},
        {"IntConstantEntryNameOffset", 0},    {"IntConstantEntryValueOffset", 8},   {"LongConstantEntryNameOffset", 0},
        {"LongConstantEntryValueOffset", 8}};
    for (const auto& [name, value] : layout) variable(std::string("gHotSpotVM") + name, value);
  }
  void field(std::string_view type, std::string_view name, std::string_view text, bool is_static, std::uint64_t at) {
    rows_["gHotSpotVMStructs"].push_back({string(type), string(name), text.empty() ? 0 : string(text),
                                          is_static ? 1u : 0u, is_static ? 0 : at, is_static ? at : 0});
  }
  void type(std::string_view name, std::string_view super, std::uint64_t size) {
    rows_["gHotSpotVMTypes"].push_back({string(name), super.empty() ? 0 : string(super), 0, 0, size, 0});
  }
  void int_constant(std::string_view name, std::int32_t value) {
    rows_["gHotSpotVMIntConstants"].push_back({string(name), static_cast<std::uint32_t>(value), 0, 0, 0, 0});
  }
  // The bytes with the tables appended; afterwards symbols() is complete.
  const std::vector<std::byte>& build() {
    for (const char* table :
         {"gHotSpotVMStructs", "gHotSpotVMTypes", "gHotSpotVMIntConstants", "gHotSpotVMLongConstants"}) {
      align();
      const std::uint64_t start = kBase + bytes_.size();
      for (const auto& row : rows_[table])
        for (std::uint64_t word : row) append(word);
      for (int i = 0; i < 6; ++i) append(0);
      variable(table, start);
    }
    return bytes_;
  }
  Result<target::Address> find(std::string_view name) const {
    const auto found = symbols_.find(std::string(name));
    if (found == symbols_.end()) return fail(ErrorCategory::kMalformed, "no symbol " + std::string(name));
    return found->second;
  }
  Result<coreinspect::TypeDatabase> read() {
    build();
    const target::BufferMemory memory(kBase, bytes_);
    return coreinspect::TypeDatabase::read(memory, [this](std::string_view name) { return find(name); });
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  // The symbols that libjvm.so exports, by name; complete after build().
  const std::map<std::string, target::Address>& symbols() const { return symbols_; }

 private:
  void align() { bytes_.resize((bytes_.size() + 7) & ~std::size_t{7}); }
  void append(std::uint64_t word) {
    bytes_.resize(bytes_.size() + 8);
    std::memcpy(bytes_.data() + bytes_.size() - 8, &word, 8);
  }
  void variable(const std::string& name, std::uint64_t value) {
    align();
    symbols_[name] = kBase + bytes_.size();
    append(value);
  }
  std::uint64_t string(std::string_view text) {
    const std::uint64_t at = kBase + bytes_.size();
    const auto from = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), from.begin(), from.end());
    bytes_.push_back(std::byte{0});
    return at;
  }

  std::vector<std::byte> bytes_;
  std::map<std::string, target::Address> symbols_;
  std::map<std::string, std::vector<std::vector<std::uint64_t>>> rows_;
};

}  // namespace jtrace::test
