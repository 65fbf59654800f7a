// The chain of objects in a region, and what ends it.
#include "coreinspect/gc/heap_walker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "target/buffer_memory.h"
#include "tests/unit/coreinspect/vm/made_up_vm.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;

constexpr Address kHeap = 0x70000000, kSize = 0x400;
constexpr Address kObject = 0x1000000, kPair = 0x1001000, kLarge = 0x1002000;  // classes, of 16, 24 and 216 bytes

class HeapWalk : public ::testing::Test {
 protected:
  HeapWalk() : words_(kSize / 8) {
    vm_.flag("UseCompressedOops", false);
    vm_.flag("ObjectAlignmentInBytes", std::uint64_t{8});
    vm_.flag("UseCompressedClassPointers", false);
    vm_.field("Klass", "_layout_helper", 0);
    vm_.field("Klass", "_name", 8);
    vm_.field("Klass", "_super", 16);
    vm_.field("Symbol", "_length", 0);
    vm_.field("Symbol", "_body", 8);
    add_class(kObject, "java/lang/Object", 16, 0);
    add_class(kPair, "Pair", 24, kObject);
    add_class(kLarge, "Large", 216, kObject);
    region_.start = kHeap;
    region_.end = region_.top = kHeap + kSize;
    region_.type = "small";
    region_.zeros_unused = true;
    region_.alignment = 8;
  }
  void add_class(Address at, std::string_view name, std::uint32_t size, Address super) {
    const Address symbol = at + 0x100;
    vm_.put(symbol, static_cast<std::uint16_t>(name.size()));
    vm_.put_bytes(symbol + 8, std::as_bytes(std::span(name)));
    vm_.words(at, {size, symbol, super});
  }
  void object(Address offset, Address klass) {
    words_[offset / 8] = 1;
    words_[offset / 8 + 1] = klass;
  }
  // Offsets of the objects that are passed.
  std::vector<Address> walk(const std::vector<AddressRange>& holes = {}) {
    const ClassModel classes(vm_.open());
    const ObjectModel objects(classes);
    KlassTable table(objects);
    const target::BufferMemory memory(kHeap, std::as_bytes(std::span(words_)));
    HeapWalker walker(table, header_shape(objects), memory);
    std::vector<Address> found;
    walker.walk(region_, holes, region_.start, [&](const HeapObject& each) { found.push_back(each.address - kHeap); });
    totals_ = walker.totals();
    return found;
  }

  test::MadeUpVm vm_{"17.0.1+12"};
  std::vector<std::uint64_t> words_;
  HeapRegion region_;
  WalkTotals totals_;
};

TEST_F(HeapWalk, PassesEachObject) {
  object(0, kPair);
  object(24, kLarge);
  object(240, kObject);
  EXPECT_THAT(walk(), ElementsAre(0, 24, 240));
  EXPECT_EQ(totals_.bytes, 256u);
  EXPECT_EQ(totals_.free, kSize - 256);
  EXPECT_EQ(totals_.unparsable, 0u);
}

// At 24 a thread was given memory that it has not written yet: it shows an object of the page's former use.
TEST_F(HeapWalk, FindsACopyAfterWhatMemoryShowsFromBefore) {
  object(0, kPair);
  object(24, kLarge);  // would end at 240
  object(48, kPair);   // the copy
  object(72, kObject);
  region_.starts = {kHeap + 48};
  EXPECT_THAT(walk(), ElementsAre(0, 48, 72));
  EXPECT_EQ(totals_.unparsable, 24u);
  EXPECT_EQ(totals_.breaks, 1u);
}

TEST_F(HeapWalk, FindsABufferAfterWhatMemoryShowsFromBefore) {
  object(0, kLarge);  // would end at 216
  object(48, kPair);  // the beginning of a buffer
  object(72, kPair);
  const std::vector<AddressRange> holes = {{.start = kHeap + 96, .end = kHeap + 256, .buffer = kHeap + 48}};
  object(256, kObject);
  EXPECT_THAT(walk(holes), ElementsAre(48, 72, 256));
  EXPECT_EQ(totals_.unparsable, 48u);
  EXPECT_EQ(totals_.holes, 160u);
}

TEST_F(HeapWalk, GoesOnAfterWhatIsNoObject) {
  object(0, kPair);
  words_[3] = words_[4] = words_[5] = 0x1234567;
  for (Address at = 48; at < 48 + 5 * 24; at += 24) object(at, kPair);
  EXPECT_THAT(walk(), ElementsAre(0, 48, 72, 96, 120, 144));
  EXPECT_EQ(totals_.unparsable, 24u);
}

TEST_F(HeapWalk, LeavesOutWhatWasCopied) {
  object(0, kPair);
  object(24, kPair);
  region_.copied = {kHeap + 24};
  EXPECT_THAT(walk(), ElementsAre(0));
  EXPECT_EQ(totals_.forwarded, 24u);
}

}  // namespace
}  // namespace jtrace::coreinspect
