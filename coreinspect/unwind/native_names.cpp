#include "coreinspect/unwind/native_names.h"

#include <cxxabi.h>

#include <cstdlib>

#include "target/symbol_files.h"

namespace jtrace::coreinspect {
namespace {

// A C++ function as in its source, without the linker's version suffixes ("@@GLIBC_2.34").
std::string readable(std::string_view symbol) {
  const std::string plain(symbol.substr(0, symbol.find('@')));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 && text ? std::string(text.get()) : plain;
}

}  // namespace

Frame NativeNames::frame_of(const NativeFrame& native) {
  if (native.signal) return look_up(native);
  if (known_.size() >= kMostKnown) known_.clear();
  auto [known, fresh] = known_.try_emplace(native.pc << 1 | (native.exact ? 1 : 0));
  if (fresh) known->second = look_up(native);
  Frame frame = known->second;
  frame.sp = native.sp;
  frame.fp = native.fp;
  return frame;
}

Frame NativeNames::look_up(const NativeFrame& native) {
  Frame frame{.kind = FrameKind::kNative, .pc = native.pc, .sp = native.sp, .fp = native.fp};
  if (native.signal) frame.name = "<signal handler called>";
  // The kernel sets the return address of a handler to the first byte of its function.
  const Address pc = native.pc - (native.exact || native.signal ? 0 : 1);
  const target::Mapping* mapping = target::find_mapping(target_.mappings(), pc);
  if (!mapping || mapping->path.empty()) return frame;
  frame.module = mapping->file_name();
  frame.module_offset = mapping->offset + (native.pc - mapping->start);
  const Images& images = images_of(*mapping);
  if (!native.signal && !images.empty()) name(frame, images, mapping->offset + (pc - mapping->start));
  // Of its inner functions it has no symbols, and no file that could have them.
  if (frame.name.empty() && mapping->path == target::kVdso) frame.name = target::kVdso;
  return frame;
}

// Offsets refer to the mapped file; the addresses are the same in the file with its debug information.
void NativeNames::name(Frame& frame, const Images& images, std::uint64_t offset) {
  const target::ElfImage& mapped = images.back();
  const auto vaddr = mapped.vaddr_of_offset(offset);
  if (!vaddr) return;
  for (const target::ElfImage& image : images)
    if (const target::ElfSymbol* symbol = image.symbol_at(*vaddr)) {
      frame.name = readable(symbol->name);
      return;
    }
  const auto start = mapped.function_start(*vaddr);
  if (start && *vaddr - *start <= offset) frame.function_offset = offset - (*vaddr - *start);
}

const NativeNames::Images& NativeNames::images_of(const target::Mapping& mapping) {
  const auto known = images_.find(mapping.path);
  if (known != images_.end()) return known->second;
  return images_.emplace(mapping.path, target::open_symbol_files(target_, mapping)).first->second;
}

}  // namespace jtrace::coreinspect
