// Messages and exit statuses of hsperf if there is nothing to read: each row of the table of bad inputs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "base/bytes.h"
#include "perfdata/region_writer.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/require.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using perfdata::RegionWriter;
using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;
namespace fs = std::filesystem;

RegionWriter two_counters() { return RegionWriter().add_long("sun.a", 1).add_text("sun.b", "text"); }
// Offsets of format 2.0: the first entry at 32, its fields in perfdata/format.h.
constexpr std::size_t kEntry = 32;

template <class T>
Bytes patched(std::size_t offset, T value) {
  Bytes bytes = two_counters().bytes();
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

Bytes cut(std::size_t size) {
  Bytes bytes = two_counters().bytes();
  bytes.resize(size);
  return bytes;
}

struct Row {
  std::string name;
  Bytes bytes;
  int status;
  std::string words;                 // part of its one line
  std::vector<std::string> options;  // options for reading it
  int status_with_options;
  friend std::ostream& operator<<(std::ostream& stream, const Row& row) { return stream << row.name; }
};

std::vector<Row> rows() {
  return {
      {"empty", {}, 8, "the file is empty", {}, 0},
      {"of_16_bytes", Bytes(16), 8, "truncated: 16 bytes, the prologue needs 32", {}, 0},
      {"prologue_only", cut(32), 8, "truncated at entry 0 of 2: has 32 of", {"--partial"}, 9},
      {"cut_in_an_entry", cut(48), 8, "truncated", {"--partial"}, 9},
      {"no_magic", patched<std::uint32_t>(0, 0), 8, "not hsperfdata (magic 00000000)", {}, 0},
      {"major_3", patched<std::uint8_t>(5, 3), 8, "format 3.0", {}, 0},
      {"major_1", patched<std::uint8_t>(5, 1), 8, "format 1.0", {}, 0},
      {"byte_order_7", patched<std::uint8_t>(4, 7), 8, "byte order", {}, 0},
      {"not_accessible", two_counters().set_accessible(false).bytes(), 6, "is starting", {"--any-state"}, 0},
      {"entry_length_negative", patched<std::int32_t>(kEntry, -8), 8, "corrupt entry 0 at offset 32", {"--partial"}, 9},
      {"entry_length_4", patched<std::int32_t>(kEntry, 4), 8, "corrupt entry 0", {"--partial"}, 9},
      {"entry_beyond_the_file", patched<std::int32_t>(kEntry, 1 << 20), 8, "entry 0", {"--partial"}, 9},
      {"entry_length_0", patched<std::int32_t>(kEntry, 0), 9, "entry 0 of 2", {}, 9},
      {"name_offset_negative", patched<std::int32_t>(kEntry + 4, -50), 8, "corrupt entry 0", {"--partial"}, 9},
      {"data_offset_out_of_the_entry",
       patched<std::int32_t>(kEntry + 16, 1'000'000),
       8,
       "data beyond its length, at 1000000",
       {"--partial"},
       9},
      {"vector_longer_than_the_entry", patched<std::int32_t>(kEntry + 8, 1000), 8, "entry 0", {"--partial"}, 9},
      {"unknown_type", patched<char>(kEntry + 12, 'Q'), 0, "", {}, 0},
      {"unknown_unit", patched<std::uint8_t>(kEntry + 14, 99), 0, "", {}, 0},
      {"unknown_variability", patched<std::uint8_t>(kEntry + 15, 99), 0, "", {}, 0},
      {"entry_offset_33", patched<std::int32_t>(24, 33), 8, "corrupt prologue", {}, 0},
      {"entry_offset_negative", patched<std::int32_t>(24, -4), 8, "corrupt prologue", {}, 0},
      {"a_million_entries_declared",
       patched<std::int32_t>(28, 1'000'000),
       0,
       "2 entries found, 1000000 declared",
       {},
       0},
      {"overflow", two_counters().set_overflow(4000).bytes(), 0, "4000 bytes of counters did not fit", {}, 0},
      {"twice_the_same_name", RegionWriter().add_long("a", 1).add_long("a", 2).bytes(), 0, "occurs twice", {}, 0},
      {"big_endian", RegionWriter(std::endian::big).add_long("sun.a", 1).bytes(), 0, "", {}, 0},
  };
}

class BadFile : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, BadFile, ::testing::ValuesIn(rows()), [](const auto& row) { return row.param.name; });

void expect_one_line(const std::string& text) {
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_TRUE(text.starts_with("hsperf: ")) << text;
}

TEST_P(BadFile, HasItsLineAndItsStatus) {
  const Row& row = GetParam();
  const ScratchDir folder;
  const std::string file = folder.file("saved");
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(row.bytes.data()), static_cast<std::streamsize>(row.bytes.size()));
  const auto done = must(run_hsperf({"snap", file}));
  EXPECT_EQ(done.status, row.status) << done.err;
  if (row.words.empty()) {
    EXPECT_EQ(done.out.find("sun.a="), 0U) << done.out;
    return;
  }
  EXPECT_THAT(done.err, HasSubstr(row.words));
  expect_one_line(done.err);
  if (row.options.empty()) return;
  std::vector<std::string> words{"snap", file};
  words.insert(words.end(), row.options.begin(), row.options.end());
  const auto read = must(run_hsperf(words));
  EXPECT_EQ(read.status, row.status_with_options) << read.err;
}

// Expects this status and this one line for `words`.
void expect_refusal(const std::vector<std::string>& words, int status, const std::string& line,
                    const CommandOptions& options = {}) {
  const auto done = must(run_hsperf(words, options));
  EXPECT_EQ(done.status, status) << done.err;
  EXPECT_THAT(done.err, HasSubstr(line));
  expect_one_line(done.err);
  EXPECT_EQ(done.out, "");
}

TEST(Refusals, OfCountersThatNoNameMatches) {
  const ScratchDir folder;
  const std::string file = folder.file("saved");
  const Bytes bytes = two_counters().bytes();
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  for (const char* command : {"snap", "poll"})
    expect_refusal({command, file, "--counters", "old,threads"}, 2, "no counter has a name that matches");
  EXPECT_EQ(must(run_hsperf({"snap", file, "--counters", "sun.a|threads"})).out, "sun.a=1\n");
}

TEST(Refusals, OfFilesThatOthersCouldHavePutInPlaceAndOfStaleOnes) {
  const ScratchDir scratch;
  const std::string folder = scratch.file("hsperfdata_test");
  ::mkdir(folder.c_str(), 0755);
  const auto put = [&](const std::string& name) {
    const Bytes bytes = two_counters().bytes();
    std::ofstream(folder + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    ::chmod((folder + "/" + name).c_str(), 0600);
    return folder + "/" + name;
  };
  const std::string stale = put("1"), writable = put("2"), linked = put("3");
  expect_refusal({"snap", stale}, 3, "stale file of a JVM that has ended, last changed 2");
  EXPECT_EQ(run_hsperf({"snap", stale, "--stale"})->status, 0);
  ::chmod(writable.c_str(), 0622);
  expect_refusal({"snap", writable}, 5, "writable by others");
  EXPECT_EQ(run_hsperf({"snap", writable, "--stale", "--trust"})->status, 0);
  fs::create_hard_link(linked, scratch.file("other"));
  expect_refusal({"snap", linked}, 5, "has 2 names");
  fs::create_symlink(stale, folder + "/4");
  expect_refusal({"snap", folder + "/4"}, 5, "the file is a symlink");
  ASSERT_EQ(::mkfifo((folder + "/5").c_str(), 0600), 0);
  expect_refusal({"snap", folder + "/5"}, 5, "not a regular file");
  fs::create_directory_symlink(folder, scratch.file("hsperfdata_link"));
  expect_refusal({"snap", scratch.file("hsperfdata_link/1")}, 5, "the directory is a symlink");
  ::chmod(folder.c_str(), 0777);
  expect_refusal({"snap", stale}, 5, "the directory is writable by others");
}

TEST(Refusals, OfProcessesSayWhy) {
  expect_refusal({"snap", "4194304"}, 3, "4194304");
  expect_refusal({"snap", std::to_string(::getpid())}, 4, "has no libjvm.so mapped");
  expect_refusal({"snap", "/nowhere/saved"}, 3, "/nowhere/saved");
  expect_refusal({"snap", hsperf_binary()}, 4, "not a core");
  expect_refusal({"snap", "NoSuchMainClassAnywhere"}, 3, "NoSuchMainClassAnywhere");
  expect_refusal({"stat", "-gcutl", "1"}, 2, "did you mean -gcutil?");
  expect_refusal({"check", "1", "heap.used >"}, 2, "at character");
}

TEST(Refusals, OfAFullDiskSayWhy) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm = must(JvmProcess::start(*jdk, "Idle"));
  for (const char* format : {"xml", "csv"})
    expect_refusal({"poll", jvm->pid_text(), "--count", "2", "--interval", "10", "--format", format, "-o", "/dev/full"},
                   1, "No space left on device");
}

TEST(Refusals, OfJvmsWithoutCountersAndOfThoseOfOthersSayWhy) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto none = must(JvmProcess::start(*jdk, "Idle", {.flags = {"-XX:-UsePerfData"}}));
  auto hidden = must(JvmProcess::start(*jdk, "Idle", {.flags = {"-XX:+PerfDisableSharedMem"}}));
  auto plain = must(JvmProcess::start(*jdk, "Idle", {.flags = {"-XX:PerfDataMemorySize=4096"}}));
  expect_refusal({"snap", none->pid_text()}, 1, "runs with -XX:-UsePerfData: it keeps no counters");
  const auto small = run_hsperf({"snap", plain->pid_text()});
  EXPECT_EQ(small->status, 0);
  EXPECT_THAT(small->err, HasSubstr("start the JVM with -XX:PerfDataMemorySize=64k"));
  if (::geteuid() != 0) JTRACE_SKIP("ptrace", "not root: cannot become another user");
  // As another user, who may execute a copy of the tool and nothing else.
  const ScratchDir folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string tool = folder.file("hsperf");
  fs::copy_file(hsperf_binary(), tool);
  ::chmod(tool.c_str(), 0755);
  for (const auto& jvm : {plain.get(), hidden.get()}) {
    const auto done = must(run_command({tool, "snap", jvm->pid_text()}, {.in_child = [] {
                                         if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(99);
                                       }}));
    EXPECT_EQ(done.status, 5) << done.err;
    expect_one_line(done.err);
    EXPECT_THAT(done.err, HasSubstr("root"));
  }
}

}  // namespace
}  // namespace jtrace::test
