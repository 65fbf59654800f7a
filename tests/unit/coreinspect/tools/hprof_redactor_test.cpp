// What is left of a made-up heap dump after its redaction, and of damaged ones.
#include "coreinspect/tools/hprof_redactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/graph/heap_tree.h"
#include "coreinspect/hprof/redaction.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kObject = 0x1000, kList = 0x1100, kApp = 0x1200, kArray = 0x1300, kFirst = 0x2000;
constexpr std::uint32_t kNumber = 0x41424344;  // "ABCD"

HprofFile file_of(const std::string& dump) { return test::must(HprofFile::of_view(bytes_of(dump), "dump")); }

struct Redacted {
  std::string dump;
  RedactionCounts counts;
};
Redacted redact(const std::string& dump, const std::vector<std::string>& keep = {}) {
  trace::MemorySink sink;
  Redacted made;
  made.counts = test::must(redact_dump(file_of(dump), sink, {}, test::must(KeptFields::of(keep))));
  (void)sink.flush();
  made.dump = std::string(sink.text());
  return made;
}

void add_classes(HprofBuilder& builder) {
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.add_class(kList, "java/util/ArrayList", kObject, {"elementData"}, {.ints = {"size", "modCount"}});
  builder.add_class(kApp, "App", kList, {"other"}, {.statics = {{"KEPT", kFirst}}, .ints = {"number"}});
}
std::string small_dump() {
  HprofBuilder builder;
  add_classes(builder);
  // Of the class itself first: other, number; then elementData, size, modCount.
  builder.segment().sub(HprofSub::kInstanceDump);
  for (const std::uint64_t each : {kFirst}) builder.segment().id(each);
  builder.segment().u4(1);
  builder.segment().id(kApp);
  builder.segment().u4(8 + 4 + 8 + 4 + 4);
  builder.segment().id(kFirst + 0x100);
  builder.segment().u4(kNumber);
  builder.segment().id(kFirst + 0x200);
  builder.segment().u4(7);
  builder.segment().u4(kNumber);
  builder.add_text(kFirst + 0x100, "a secret of the heap");
  builder.add_array(kFirst + 0x200, kArray, {kFirst + 0x100, 0});
  builder.add_root(kFirst);
  return builder.dump();
}

TEST(HprofRedactor, KeepsSizesReferencesAndSomeFields) {
  const std::string before = small_dump();
  const Redacted after = redact(before);
  EXPECT_THAT(after.dump, Not(HasSubstr("secret")));
  EXPECT_THAT(after.dump, Not(HasSubstr("ABCD")));
  EXPECT_EQ(after.counts.objects, 3u);
  EXPECT_EQ(after.counts.zeroed, 20u + 4 + 4);
  EXPECT_EQ(after.counts.blanked, 0u);
  EXPECT_THAT(after.counts.missing, IsEmpty());
  EXPECT_EQ(after.dump.size(), before.size() + 9 + 8 + kRedactedMark.size());
  const HprofFile file = file_of(after.dump);
  EXPECT_TRUE(file.is_redacted());
  EXPECT_FALSE(file_of(before).is_redacted());
  EXPECT_EQ(file.class_name(kApp), "App");
  std::vector<std::uint64_t> values;
  file.each_object([&](const HprofObject& object, std::uint64_t) {
    if (object.id != kFirst) return;
    values = {file.number(object.body, 8), file.number(object.body + 8, 4), file.number(object.body + 12, 8),
              file.number(object.body + 20, 4), file.number(object.body + 24, 4)};
  });
  EXPECT_THAT(values, ElementsAre(kFirst + 0x100, 0u, kFirst + 0x200, 7u, 0u));
}

TEST(HprofRedactor, ChangesNothingTheSecondTime) {
  const std::string once = redact(small_dump()).dump;
  EXPECT_EQ(redact(once).dump, once);
}

TEST(HprofRedactor, KeepsTheContentsOfChosenFields) {
  const Redacted after = redact(small_dump(), {"App.other", "A*#numb?r"});
  EXPECT_THAT(after.dump, HasSubstr("a secret of the heap"));
  EXPECT_THAT(after.dump, HasSubstr("ABCD"));
  EXPECT_EQ(after.counts.kept, 20u);
  EXPECT_EQ(after.counts.zeroed, 4u) << "modCount, which ArrayList declares";
  EXPECT_EQ(file_of(after.dump).kept_fields(), "App.other, A*.numb?r");
  EXPECT_EQ(redact(after.dump, {"App.other", "A*#numb?r"}).dump, after.dump) << "once more changes nothing";
  EXPECT_EQ(redact(after.dump).dump, redact(small_dump()).dump) << "and nothing is kept unless it is wanted again";
}

TEST(HprofRedactor, KeepsStringsAndElementsOfArrays) {
  HprofBuilder builder;
  add_classes(builder);
  builder.add_class(0x1500, "java/lang/String", kObject, {"value"});
  builder.add_class(0x1600, "Shop", kObject, {"names", "secrets"});
  builder.add_instance(0x5000, 0x1600, {0x5100, 0x5200});
  for (const std::uint64_t array : {0x5100u, 0x5200u}) {
    builder.add_array(array, kArray, {array + 0x10, 0});
    builder.add_instance(array + 0x10, 0x1500, {array + 0x20});
    builder.add_text(array + 0x20, array == 0x5100 ? "Köln" : "hidden");
  }
  const std::string dump = builder.dump();
  const Redacted after = redact(dump, {"Shop.names"});
  EXPECT_THAT(after.dump, HasSubstr("Köln"));
  EXPECT_THAT(after.dump, Not(HasSubstr("hidden")));
  EXPECT_THAT(redact(dump, {"java.lang.String.value"}).dump, HasSubstr("hidden")) << "all strings";
}

TEST(HprofRedactor, RefusesToKeepWhatIsNot) {
  const auto refused = [](const std::string& dump, const std::string& keep) {
    trace::MemorySink sink;
    const auto done = redact_dump(file_of(dump), sink, {}, test::must(KeptFields::of({keep})));
    return done ? "" : done.error().text;
  };
  EXPECT_THAT(refused(small_dump(), "App.othre"), HasSubstr("no field is called App.othre"));
  EXPECT_THAT(refused(redact(small_dump()).dump, "App.other"), HasSubstr("is redacted already"));
  for (const char* bad : {"App", "App.", ".other", "", "A.b, C.d"}) EXPECT_FALSE(KeptFields::of({bad})) << bad;
}

TEST(HprofRedactor, LeavesOutWhatDoesNotStay) {
  const std::string before = small_dump();
  trace::MemorySink sink;
  const auto counts = test::must(rewrite_dump(
      file_of(before), sink, {}, {.redact = false, .stays = [](std::uint64_t id) { return id != kFirst + 0x200; }}));
  (void)sink.flush();
  EXPECT_EQ(counts.objects, 2u);
  EXPECT_EQ(counts.left_out, 1u);
  const std::string after(sink.text());
  EXPECT_THAT(after, HasSubstr("a secret of the heap"));
  EXPECT_EQ(after.size(), before.size() - (1 + 8 + 4 + 4 + 8 + 2 * 8)) << "the array of two";
  const HprofFile file = file_of(after);
  EXPECT_FALSE(file.is_redacted());
  EXPECT_THAT(file.missing(), IsEmpty());
  std::vector<std::uint64_t> ids;
  file.each_object([&](const HprofObject& object, std::uint64_t) { ids.push_back(object.id); });
  EXPECT_THAT(ids, ElementsAre(kFirst, kFirst + 0x100));
  EXPECT_EQ(file.roots().size(), 1u);
}

TEST(HprofRedactor, ZerosStaticFieldsAndConstants) {
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  HprofBuffer& segment = builder.segment();
  const std::uint64_t name = builder.text("KEY");
  segment.sub(HprofSub::kClassDump);
  segment.id(kApp);
  segment.u4(1);
  for (const std::uint64_t each :
       {kObject, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}})
    segment.id(each);
  segment.u4(0);
  segment.u2(1);  // one constant
  segment.u2(1);
  segment.u1(10);
  segment.u4(kNumber);
  segment.u2(2);  // two static fields
  segment.id(name);
  segment.u1(10);
  segment.u4(kNumber);
  segment.id(name);
  segment.u1(2);
  segment.id(kFirst);
  segment.u2(0);
  const Redacted after = redact(builder.dump());
  EXPECT_THAT(after.dump, Not(HasSubstr("ABCD")));
  const HprofFile file = file_of(after.dump);
  ASSERT_EQ(file.classes().size(), 2u);
  const auto& statics = file.classes().back().statics;
  ASSERT_EQ(statics.size(), 2u);
  EXPECT_EQ(statics[0].value, 0u);
  EXPECT_EQ(statics[1].value, kFirst);
}

TEST(HprofRedactor, BlanksTextsThatAreNoNames) {
  HprofBuilder builder;
  add_classes(builder);
  (void)builder.text("a thread's secret");
  const Redacted after = redact(builder.dump());
  EXPECT_THAT(after.dump, Not(HasSubstr("secret")));
  EXPECT_EQ(after.counts.blanked, 1u);
  EXPECT_THAT(after.dump, HasSubstr("elementData"));
}

TEST(HprofRedactor, ZerosObjectsWhoseClassIsNotThere) {
  HprofBuilder builder;
  add_classes(builder);
  builder.add_instance(kFirst, 0x9999, {0x4142434445464748}, {kNumber});
  const Redacted after = redact(builder.dump());
  EXPECT_THAT(after.dump, Not(HasSubstr("ABCD")));
  EXPECT_THAT(after.counts.missing, ElementsAre(HasSubstr("1 object of classes that the dump does not have")));
}

// Wherever it is cut: no content, no crash, and a dump.
TEST(HprofRedactor, OfACutDumpHasNoContents) {
  const std::string whole = small_dump();
  for (std::size_t size = 31; size < whole.size(); ++size) {
    const Redacted after = redact(whole.substr(0, size));
    EXPECT_THAT(after.dump, Not(HasSubstr("secret"))) << size;
    EXPECT_THAT(after.dump, Not(HasSubstr("ABCD"))) << size;
    EXPECT_TRUE(file_of(after.dump).is_redacted()) << size;
  }
}

TEST(HprofRedactor, LeavesUnknownRecordsOut) {
  std::string dump = small_dump();
  const std::string record = std::string("\x55\0\0\0\0\0\0\0\6", 9) + "secret";
  const Redacted after = redact(dump.insert(dump.size() - 9, record));
  EXPECT_THAT(after.dump, Not(HasSubstr("secret")));
  EXPECT_THAT(after.counts.missing, ElementsAre(HasSubstr("1 record of unknown kinds")));
}

TEST(Redaction, KeepsWhatSaysHowLargeAThingIs) {
  EXPECT_TRUE(stays_redacted("java/util/HashMap", "size"));
  EXPECT_TRUE(stays_redacted("java.util.HashMap", "size"));
  EXPECT_FALSE(stays_redacted("java.util.HashMap$Node", "hash"));
  EXPECT_FALSE(stays_redacted("java.lang.String", "hash"));
  EXPECT_FALSE(stays_redacted("App", "size"));
}

}  // namespace
}  // namespace jtrace::coreinspect
