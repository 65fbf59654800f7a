#include "agent/methods/class_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/classfile/class_builder.h"

namespace jtrace::agent {
namespace {

using ::testing::UnorderedElementsAreArray;

constexpr std::uint64_t kClass = 7;

// A version of the class with these methods, in this order.
class Version {
 public:
  explicit Version(const std::vector<std::string>& methods) : bytes_(made_of(methods)) {
    EXPECT_TRUE(klass_.parse({bytes_.data(), bytes_.size()}));
  }
  const classfile::ClassFile& klass() const { return klass_; }

 private:
  static classfile::Bytes made_of(const std::vector<std::string>& methods) {
    classfile::ClassBuilder builder("A", "java/lang/Object");
    for (const std::string& method : methods) builder.add_native(0, method, "()V");
    return builder.finish();
  }
  classfile::Bytes bytes_;
  classfile::ClassFile klass_;
};

class ClassNumbersTest : public ::testing::Test {
 protected:
  // The numbers of a version that gets callouts, all of which count.
  std::vector<std::uint32_t> redefine(const std::vector<std::string>& methods) {
    const Version version(methods);
    Numbered numbers = numbers_.of_redefined(nullptr, version.klass(), nullptr, kClass);
    has_definitions_ = numbers.class_id == kClass;
    numbers.class_id = kClass;
    numbers.counted.resize(methods.size(), true);
    numbers_.store(numbers);
    std::vector<std::uint32_t> found;
    for (std::size_t i = 0; i < methods.size(); ++i) found.push_back(numbers.number(i));
    return found;
  }
  ClassNumbers numbers_;
  bool has_definitions_ = false;
};

TEST_F(ClassNumbersTest, MethodsInAnotherOrderKeepTheirNumbers) {
  const auto before = redefine({"a", "b", "c"});
  const auto after = redefine({"c", "a", "b"});
  EXPECT_EQ(after, (std::vector{before[2], before[0], before[1]}));
  EXPECT_EQ(redefine({"a", "b", "c"}), before);
  EXPECT_EQ(numbers_.number_of(kClass, "b", "()V"), before[1]);
  EXPECT_THAT(numbers_.counted_methods(), UnorderedElementsAreArray(before));
  EXPECT_EQ(redefine({"a", "b", "c"}), before);
  EXPECT_TRUE(has_definitions_);
}

TEST_F(ClassNumbersTest, ANewMethodGetsANumberAndOneThatIsGoneStaysCounted) {
  const auto before = redefine({"a", "b"});
  const auto after = redefine({"b", "new"});
  EXPECT_FALSE(has_definitions_);  // the new method has none yet
  EXPECT_EQ(after[0], before[1]);
  EXPECT_THAT(before, ::testing::Not(::testing::Contains(after[1])));
  EXPECT_THAT(numbers_.counted_methods(), UnorderedElementsAreArray({before[0], before[1], after[1]}));
  EXPECT_EQ(redefine({"a"})[0], before[0]);
  EXPECT_EQ(numbers_.counted_methods().size(), 3u);
}

TEST_F(ClassNumbersTest, AMethodKeepsTheIdThatItHadBeforeItsClassHadCallouts) {
  numbers_.keep_number(kClass, "b", "()V", 1'000'000);
  const auto numbers = redefine({"a", "b"});
  EXPECT_EQ(numbers[1], 1'000'000u);
  EXPECT_NE(numbers[0], 1'000'000u);
}

}  // namespace
}  // namespace jtrace::agent
