#include "target/hsperfdata_strings.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace jtrace::target {
namespace {

// A region as a little-endian JVM writes it.
class Region {
 public:
  Region() : bytes_(32) {
    const unsigned char magic[] = {0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};
    std::memcpy(bytes_.data(), magic, sizeof magic);
    put(24, 32);
  }
  Region& add(const std::string& name, const std::string& value, std::uint32_t vector_length) {
    const std::size_t at = bytes_.size();
    const auto name_size = static_cast<std::uint32_t>(name.size() + 1);
    const auto length = static_cast<std::uint32_t>(20 + name_size + value.size() + 1);
    bytes_.resize(at + length);
    put(at, length);
    put(at + 4, 20);
    put(at + 8, vector_length);
    bytes_[at + 12] = std::byte{'B'};
    put(at + 16, 20 + name_size);
    std::memcpy(bytes_.data() + at + 20, name.data(), name.size());
    std::memcpy(bytes_.data() + at + 20 + name_size, value.data(), value.size());
    put(28, ++count_);
    return *this;
  }
  void put(std::size_t at, std::uint32_t value) { std::memcpy(bytes_.data() + at, &value, 4); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::uint32_t count_ = 0;
};

TEST(HsperfdataStrings, ReadsStringsByName) {
  Region region;
  region.add("java.property.java.version", "17.0.15", 8).add("sun.rt.jvmCapabilities", "1000", 5);
  const auto strings = hsperfdata_strings(region.bytes());
  EXPECT_EQ(strings.size(), 2u);
  EXPECT_EQ(strings.at("java.property.java.version"), "17.0.15");
  EXPECT_EQ(strings.at("sun.rt.jvmCapabilities"), "1000");
}

TEST(HsperfdataStrings, OtherBytesAreNone) {
  EXPECT_TRUE(hsperfdata_strings({}).empty());
  EXPECT_TRUE(hsperfdata_strings(std::vector<std::byte>(100)).empty());
}

TEST(HsperfdataStrings, AnyCutAndAnyByteIsSafe) {
  Region region;
  region.add("a.b", "value", 6).add("c.d", "other", 100000);
  for (std::size_t size = 0; size < region.bytes().size(); ++size)
    hsperfdata_strings(std::span(region.bytes()).first(size));
  for (std::size_t at = 4; at < region.bytes().size(); ++at) {
    auto bytes = region.bytes();
    bytes[at] = std::byte{0xff};
    hsperfdata_strings(bytes);
  }
}

TEST(HsperfdataStrings, AnEntryWithoutLengthEnds) {
  Region region;
  region.add("a", "b", 2);
  region.put(28, 0xffffffff);
  region.put(32, 0);
  EXPECT_TRUE(hsperfdata_strings(region.bytes()).empty());
}

}  // namespace
}  // namespace jtrace::target
