// MadeUpCode: a code cache in a MadeUpVm, with the layout of the given JDK: code heaps with segment maps, blobs,
// compiled methods with debug information, an interpreter and Java methods.
#pragma once

#include <array>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coreinspect/code/code_cache.h"
#include "tests/unit/coreinspect/vm/made_up_vm.h"

namespace jtrace::test {

// UNSIGNED5 of small numbers, as the given JDK writes it; numbers from 192 on are not needed here.
inline std::vector<std::byte> unsigned5(std::initializer_list<unsigned> numbers, int jdk) {
  std::vector<std::byte> bytes;
  for (unsigned number : numbers) bytes.push_back(static_cast<std::byte>(number + (jdk >= 21 ? 1 : 0)));
  return bytes;
}

class MadeUpCode {
 public:
  using Address = target::Address;
  static constexpr Address kCode = 0x40000000, kSegments = 0x50000000;  // of the first code heap
  static constexpr Address kSegment = 128, kHeader = 16;                // bytes
  static constexpr Address kCommitted = 1024 * kSegment;
  static constexpr Address kInterpreter = kCode + 0x100, kInterpreterEnd = kCode + 0x1000;
  static constexpr Address kCallStubReturn = kCode + 40 * kSegment + 100;  // in the blob of stubs

  explicit MadeUpCode(int jdk) : vm(jdk == 8 ? "25.402-b06" : std::to_string(jdk) + ".0.1+1"), jdk_(jdk) {
    describe_heaps();
    describe_blobs();
    describe_methods();
    add_heap(kCode, kSegments);
    vm.words(kQueue, {kInterpreter, kInterpreterEnd - kInterpreter});
    vm.variable("AbstractInterpreter", "_code", kQueue);
    vm.variable("StubRoutines", "_call_stub_return_address", kCallStubReturn);
    blob(1, 32, "Interpreter", 0);
    blob(40, 4, "StubRoutines (1)", 0);
  }

  // Another code heap, as in JDK 9 and later.
  void add_heap(Address low, Address segments) {
    const Address at = 0x1000000 + heaps_.size() * 0x1000;
    vm.words(at, {0, low + 2 * kCommitted, low, low + kCommitted});  // boundaries, low, high
    vm.words(at + 0x40, {0, 0, segments, segments + kCommitted / kSegment});
    vm.word(at + 0x80, 7);
    heaps_.push_back(at);
    const std::vector<std::byte> free(kCommitted / kSegment, std::byte{0xff});
    vm.put_bytes(segments, free);
    vm.word(low + kCommitted - 8, 0);
  }

  // Makes a blob in these segments of the first heap and returns its address; its code begins 64 bytes later.
  // `frame_size`: words.
  Address blob(unsigned segment, unsigned count, std::string_view name, unsigned frame_size,
               unsigned frame_complete = 0) {
    const Address block = kCode + segment * kSegment, at = block + kHeader;
    vm.words(block, {count, 1});  // HeapBlock::Header: _length, _used
    for (unsigned i = 0; i < count; ++i) vm.put(kSegments + segment + i, back_of(i));
    vm.words(at, {vm.string(name), count * kSegment - kHeader, frame_size, frame_complete, at + 64, 64});
    return at;
  }
  void free_block(unsigned segment) { vm.word(kCode + segment * kSegment + 8, 0); }
  static Address code_of(Address blob) { return blob + 64; }

  // A place in compiled code with debug information: code offset, and its methods, the innermost first.
  struct Scope {
    Address method;
    unsigned bci;
  };
  struct Place {
    int pc_offset;
    std::vector<Scope> scopes;
  };
  // Makes an nmethod of 8 segments with these places, which are sorted by pc.
  Address nmethod(unsigned segment, Address method, unsigned frame_size, const std::vector<Place>& places,
                  unsigned frame_complete = 0) {
    const Address at = blob(segment, 8, "nmethod", frame_size, frame_complete);
    // Addresses of the parts: descriptors, metadata and scopes are in the blob up to JDK 24, outside of it later.
    const Address data = jdk_ >= 25 ? 0x60000000 + at - kCode : at;
    const unsigned scopes_at = 512, pcs_at = 320, metadata_at = 448;
    std::vector<Address> metadata;
    Address next_scope = data + scopes_at + 1;  // 0 is "no sender"
    std::vector<std::int32_t> pcs{-1, 0, 0, 0};
    for (const Place& place : places) {
      unsigned sender = 0;
      for (auto scope = place.scopes.rbegin(); scope != place.scopes.rend(); ++scope) {
        metadata.push_back(scope->method);
        const auto index = static_cast<unsigned>(metadata.size());
        const auto bytes = unsigned5({sender, index, scope->bci + 1, 0, 0, 0}, jdk_);
        vm.put_bytes(next_scope, bytes);
        sender = static_cast<unsigned>(next_scope - data - scopes_at);
        next_scope += bytes.size();
      }
      pcs.insert(pcs.end(), {place.pc_offset, static_cast<std::int32_t>(sender), 0, 0});
    }
    vm.put_bytes(next_scope, std::vector<std::byte>(64));
    pcs.insert(pcs.end(), {std::numeric_limits<std::int32_t>::max(), 0, 0, 0});
    vm.put_bytes(data + pcs_at, std::as_bytes(std::span(pcs)));
    const auto pcs_end = pcs_at + static_cast<unsigned>(pcs.size() * 4);
    vm.words(at + metadata_at, metadata);
    vm.words(at + 64 + 128, {method, 0, data + scopes_at, deopt_handler(at)});
    vm.put(at + 64 + 160, std::array<std::uint32_t, 5>{pcs_at, metadata_at, scopes_at, pcs_end, kOriginalPc});
    vm.words(at + 64 + 184, {data, at + metadata_at - 16, 16});  // _immutable_data, _mutable_data, _relocation_size
    vm.put(at + 64 + 208, static_cast<std::uint32_t>(deopt_handler(at) - at));
    return at;
  }
  // Frames of invalidated code return to the handler; the slot has their real pc: bytes from the unextended sp.
  static Address deopt_handler(Address nmethod) { return nmethod + 64 + 100; }
  static constexpr unsigned kOriginalPc = 24;

  // The maps of a blob's references, for a VM that has any (0: for none): a code offset, and the VMRegs with
  // references. Returns the address of their number.
  struct OopMapPlace {
    int pc_offset;
    std::vector<unsigned> vmregs;
  };
  static constexpr unsigned kStack0 = 2;
  Address oop_maps(Address blob, const std::vector<OopMapPlace>& maps) {
    describe_oop_maps();
    const bool is_list = jdk_ == 8;  // pointers to maps; later pairs of a place and a distance, then the maps
    const Address list = kMaps + 64, first = is_list ? list + 8 * maps.size() : kMaps + 8 + 8 * maps.size();
    vm.words(kMaps, {maps.size(), is_list ? list : 0});
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const Address map = first + i * 64;
      const auto count = static_cast<std::int32_t>(maps[i].vmregs.size());
      std::vector<std::byte> bytes;
      for (const unsigned vmreg : maps[i].vmregs)
        for (const std::byte each : unsigned5({is_list ? vmreg << 5 | 1 : vmreg << 2}, jdk_)) bytes.push_back(each);
      const Address data = map + (is_list ? 24 : jdk_ >= 21 ? 12 : 4);
      vm.put_bytes(data, bytes);
      if (is_list) {
        vm.word(list + i * 8, map);
        vm.put(map, std::array<std::int32_t, 2>{maps[i].pc_offset, count});
        vm.word(map + 16, data);
      } else {
        vm.put(map, count);
        vm.put(kMaps + 8 + i * 8, std::array<std::int32_t, 2>{maps[i].pc_offset, static_cast<std::int32_t>(i) * 64});
      }
    }
    if (blob != 0) vm.word(blob + 56, kMaps);
    return kMaps;
  }

  // Makes a method with that many bytes of bytecode; its code is at code_of_method().
  Address method(std::string_view class_name, std::string_view name, std::uint16_t code_size = 100,
                 std::uint16_t access = 0) {
    const Address at = next_method_, constant = at + 0x100, pool = at + 0x200, klass = at + 0x300;
    next_method_ += 0x1000;
    vm.words(at, {constant, access});
    vm.words(constant, {pool, 0});
    vm.put(constant + 8, std::array<std::uint16_t, 4>{1, 2, code_size, 0});
    vm.word(constant + 16, 0);
    vm.words(pool, {klass, 3});
    vm.words(pool + 32, {0, symbol(at + 0x400, name), symbol(at + 0x500, "()V")});
    vm.word(klass, symbol(at + 0x600, class_name));
    return at;
  }
  static Address code_of_method(Address method) { return method + 0x100 + 32; }

  coreinspect::CodeCache open() { return must(read()); }
  Result<coreinspect::CodeCache> read() {
    if (std::exchange(is_open_, true)) return coreinspect::CodeCache::read(vm.open());
    if (jdk_ == 8) {
      vm.variable("CodeCache", "_heap", heaps_.front());
    } else {
      vm.words(kHeapArray, {heaps_.size(), kHeapArray + 16});
      vm.words(kHeapArray + 16, heaps_);
      vm.variable("CodeCache", "_heaps", kHeapArray);
    }
    return coreinspect::CodeCache::read(vm.open());
  }

  MadeUpVm vm;

 private:
  static constexpr Address kQueue = 0x1100000, kHeapArray = 0x1200000, kMaps = 0x1300000;

  // CodeHeap::mark_segmap_as_used: distance to the start of the block, at most 0xfe; then it begins again at 1.
  static std::uint8_t back_of(unsigned segment) {
    return static_cast<std::uint8_t>(segment == 0 ? 0 : (segment - 1) % 0xfe + 1);
  }
  Address symbol(Address at, std::string_view text) {
    vm.put(at, static_cast<std::uint16_t>(text.size()));
    vm.put_bytes(at + 8, std::as_bytes(std::span(text)));
    return at;
  }
  void describe_heaps() {
    vm.field("CodeHeap", "_memory", 0, "VirtualSpace");
    vm.field("CodeHeap", "_segmap", 0x40, "VirtualSpace");
    vm.field("CodeHeap", "_log2_segment_size", 0x80);
    vm.field("VirtualSpace", "_high_boundary", 8);
    vm.field("VirtualSpace", "_low", 16);
    vm.field("VirtualSpace", "_high", 24);
    vm.field("GenericGrowableArray", "_len", 0);
    vm.field("GrowableArray<int>", "_data", 8);
    vm.field("HeapBlock::Header", "_length", 0);
    vm.field("HeapBlock::Header", "_used", 8);
    vm.type("HeapBlock", kHeader);
    vm.field("StubQueue", "_stub_buffer", 0);
    vm.field("StubQueue", "_buffer_limit", 8);
  }
  void describe_blobs() {
    vm.field("CodeBlob", "_name", 0);
    vm.field("CodeBlob", "_size", 8);
    vm.field("CodeBlob", "_frame_size", 16);
    vm.field("CodeBlob", "_frame_complete_offset", 24);
    // A pointer up to JDK 21, a distance before 9 and later.
    if (jdk_ > 8 && jdk_ < 22) vm.field("CodeBlob", "_code_begin", 32);
    else vm.field("CodeBlob", "_code_offset", 40);
    const bool compiled_method = jdk_ > 8 && jdk_ < 25;
    vm.field(compiled_method ? "CompiledMethod" : "nmethod", "_method", 64 + 128);
    if (compiled_method) {
      vm.field("CompiledMethod", "_scopes_data_begin", 64 + 144);
      vm.field("CompiledMethod", "_deopt_handler_begin", 64 + 152);
    } else {
      vm.field("nmethod", "_scopes_data_offset", 64 + 168);
      vm.field("nmethod", jdk_ == 8 ? "_deoptimize_offset" : "_deopt_handler_offset", 64 + 208);
    }
    vm.field("nmethod", "_scopes_pcs_offset", 64 + 160);
    vm.field("nmethod", "_metadata_offset", 64 + 164);
    vm.field("nmethod", "_orig_pc_offset", 64 + 176);
    if (jdk_ >= 25) {
      vm.field("nmethod", "_immutable_data", 64 + 184);
      vm.field("nmethod", "_immutable_data_size", 64 + 172);
      vm.field("CodeBlob", "_mutable_data", 64 + 192);
      vm.field("CodeBlob", "_relocation_size", 64 + 200);
    } else {
      vm.field("nmethod", "_dependencies_offset", 64 + 172);
    }
  }
  void describe_oop_maps() {
    const bool is_list = jdk_ == 8;
    vm.field("CodeBlob", "_oop_maps", 56);
    vm.variable("VMRegImpl", "stack0", kStack0);
    vm.constant("OopMapValue::type_mask", is_list ? 31 : 3);
    vm.constant("OopMapValue::register_shift", is_list ? 5 : 2);
    vm.constant("OopMapValue::register_mask", is_list ? 2047 : 0x3fff);
    vm.constant("OopMapValue::oop_value", is_list ? 1 : 0);
    vm.constant("OopMapValue::narrowoop_value", is_list ? 4 : 1);
    vm.constant("OopMapValue::callee_saved_value", is_list ? 8 : 2);
    vm.constant("OopMapValue::derived_oop_value", is_list ? 16 : 3);
    if (is_list) {
      vm.field("OopMapSet", "_om_count", 0);
      vm.field("OopMapSet", "_om_data", 8);
      vm.field("OopMap", "_pc_offset", 0);
      vm.field("OopMap", "_omv_count", 4);
      vm.field("OopMap", "_omv_data", 16);
    } else {
      vm.field("ImmutableOopMapSet", "_count", 0);
      vm.field("ImmutableOopMap", "_count", 0);
      vm.type("ImmutableOopMapSet", 8);
      vm.type("ImmutableOopMapPair", 8);
      vm.type("ImmutableOopMap", jdk_ >= 21 ? 12 : 4);
    }
  }
  void describe_methods() {
    vm.field("Method", "_constMethod", 0);
    vm.field("Method", "_access_flags", 8);
    vm.field("ConstMethod", "_constants", 0);
    vm.field("ConstMethod", "_name_index", 8);
    vm.field("ConstMethod", "_signature_index", 10);
    vm.field("ConstMethod", "_code_size", 12);
    vm.type("ConstMethod", 32);
    vm.field("ConstantPool", "_pool_holder", 0);
    vm.field("ConstantPool", "_length", 8);
    vm.type("ConstantPool", 32);
    vm.field("Klass", "_name", 0);
    vm.field("Symbol", "_length", 0);
    vm.field("Symbol", "_body", 8);
    if (jdk_ >= 21) vm.field("InstanceKlass", "_fieldinfo_stream", 0x40);  // UNSIGNED5 without zeros came with it
  }

  int jdk_;
  bool is_open_ = false;
  std::vector<Address> heaps_;
  Address next_method_ = 0x2000000;
};

}  // namespace jtrace::test
