#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fleet/spool_reader.h"
#include "fleet/spool_records.h"
#include "fleet/spool_writer.h"
#include "tests/testlib/must.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/unit/fleet/sample_trace.h"

namespace jtrace::fleet {
namespace {

using jtrace::test::must;
using jtrace::test::ScratchDir;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::string bytes_of(std::uint64_t batch) { return std::string(100, static_cast<char>('a' + batch % 26)); }
std::vector<std::uint64_t> all_of(SpoolReader& reader) {
  std::vector<std::uint64_t> found;
  must(reader.poll());
  while (const auto batch = reader.next()) found.push_back(*batch);
  return found;
}
std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> all;
  for (; first <= last; ++first) all.push_back(first);
  return all;
}
SpoolLimits small() { return {.size = 1u << 20, .file_size = 1000, .min_free = 0}; }

TEST(Spool, GivesWhatWasWritten) {
  ScratchDir scratch;
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s"), small()));
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), 0));
  for (const std::uint64_t batch : numbers(1, 30)) EXPECT_TRUE(must(writer.append(batch, bytes_of(batch))));
  EXPECT_EQ(all_of(reader), numbers(1, 30));
  EXPECT_EQ(must(reader.read(7)), bytes_of(7));
  EXPECT_EQ(reader.waiting(), 30u);
  must(writer.append(31, bytes_of(31)));
  EXPECT_EQ(all_of(reader), numbers(31, 31));
}

TEST(Spool, HasOneWriterAndOneReader) {
  ScratchDir scratch;
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s")));
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), 0));
  const auto second = SpoolWriter::open(scratch.file("s"));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("another writer works there already"));
  const auto sender = SpoolReader::open(scratch.file("s"), 0);
  ASSERT_FALSE(sender);
  EXPECT_THAT(sender.error().message(), HasSubstr("another sender"));
}

TEST(Spool, TakesNothingBeyondItsLimit) {
  ScratchDir scratch;
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s"), {.size = 2000, .file_size = 500, .min_free = 0}));
  std::uint64_t taken = 0;
  while (must(writer.append(taken + 1, bytes_of(taken + 1)))) ++taken;
  EXPECT_EQ(taken, 2000u / 124u);
  EXPECT_LE(spool_size(scratch.file("s")), 2000u);
  // What was acknowledged makes room.
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), 0));
  for (const std::uint64_t batch : all_of(reader)) reader.acknowledge(batch, kSecond);
  must(reader.save(kSecond));
  EXPECT_TRUE(must(writer.append(taken + 1, bytes_of(taken + 1))));
  EXPECT_EQ(all_of(reader), numbers(taken + 1, taken + 1));
}

TEST(Spool, LeavesTheDiskItsRoom) {
  ScratchDir scratch;
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s"), {.min_free = UINT64_MAX / 2}));
  EXPECT_FALSE(must(writer.append(1, "x")));
}

TEST(Spool, KeepsWhatWasAcknowledgedForATime) {
  ScratchDir scratch;
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s"), small()));
  for (const std::uint64_t batch : numbers(1, 30)) must(writer.append(batch, bytes_of(batch)));
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), 180 * kSecond));
  for (const std::uint64_t batch : all_of(reader)) reader.acknowledge(batch, 1000 * kSecond);
  EXPECT_TRUE(reader.is_empty());
  must(reader.save(1100 * kSecond));
  reader.resend_all();
  EXPECT_EQ(all_of(reader), numbers(1, 30));
  EXPECT_EQ(all_of(reader), numbers(1, 0));
  must(reader.save(1181 * kSecond));
  reader.resend_all();
  EXPECT_LT(all_of(reader).size(), 10u);  // those of the last file
}

TEST(Spool, TheNextSenderGoesOnAfterWhatWasAcknowledged) {
  ScratchDir scratch;
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s"), small()));
  for (const std::uint64_t batch : numbers(1, 30)) must(writer.append(batch, bytes_of(batch)));
  {
    SpoolReader reader = must(SpoolReader::open(scratch.file("s"), kSecond));
    all_of(reader);
    for (const std::uint64_t batch : std::vector<std::uint64_t>{1, 2, 3, 5, 6}) reader.acknowledge(batch, 0);
    must(reader.save(0));
  }
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), kSecond));
  EXPECT_EQ(all_of(reader), numbers(4, 30));  // 5 and 6 once more: harmless
}

TEST(Spool, APartOfARecordIsCutOff) {
  ScratchDir scratch;
  {
    SpoolWriter writer = must(SpoolWriter::open(scratch.file("s")));
    for (const std::uint64_t batch : numbers(1, 5)) must(writer.append(batch, bytes_of(batch)));
  }
  const std::string name = spool_file_name(scratch.file("s"), 1);
  fs::resize_file(name, fs::file_size(name) - 3);
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), 0));
  EXPECT_EQ(all_of(reader), numbers(1, 4));
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s")));
  EXPECT_EQ(writer.last_batch(), 4u);
  EXPECT_EQ(writer.cut_bytes(), 124u - 3u);
  must(writer.append(5, bytes_of(5)));
  EXPECT_EQ(all_of(reader), numbers(5, 5));
  EXPECT_EQ(reader.damaged_bytes(), 0u);
}

TEST(Spool, DamageIsCounted) {
  ScratchDir scratch;
  {
    SpoolWriter writer = must(SpoolWriter::open(scratch.file("s"), small()));
    for (const std::uint64_t batch : numbers(1, 30)) must(writer.append(batch, bytes_of(batch)));
  }
  {
    std::fstream file(spool_file_name(scratch.file("s"), 1), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(124 * 2 + 50);
    file.put('#');
  }
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), 0));
  const auto found = all_of(reader);
  EXPECT_EQ(found[1], 2u);
  EXPECT_EQ(found[2], 9u);  // eight records a file
  EXPECT_EQ(reader.damaged_bytes(), 6u * 124u);
}

TEST(Spool, KnowsTheStreamAndItsEnd) {
  ScratchDir scratch;
  const auto batches = test::sample_batches(50, "stream-7");
  SpoolWriter writer = must(SpoolWriter::open(scratch.file("s")));
  SpoolReader reader = must(SpoolReader::open(scratch.file("s"), 0));
  for (const auto& [header, bytes] : batches) {
    must(reader.poll());
    EXPECT_FALSE(reader.has_end());
    must(writer.append(header.batch, bytes));
  }
  must(reader.poll());
  EXPECT_TRUE(reader.has_end());
  EXPECT_EQ(reader.stream(), "stream-7");
  EXPECT_EQ(spool_folders(scratch.path()), std::vector<std::string>{scratch.file("s")});
}

std::uint64_t number_in(const std::string& file) {
  std::uint64_t number = 0;
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&number), sizeof number);
  return number;
}

void wait_for_more(const std::string& file) {
  const std::uint64_t before = number_in(file);
  for (int i = 0; i < 10'000 && number_in(file) == before; ++i) ::usleep(1000);
}

// A writer that is killed at any moment leaves all that append() has taken, and the next one continues.
TEST(Spool, SurvivesKills) {
  ScratchDir scratch;
  const std::string folder = scratch.file("s"), told = scratch.file("told");
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto writer = SpoolWriter::open(folder, {.file_size = 100'000, .min_free = 0});
      const int fd = ::open(told.c_str(), O_WRONLY | O_CREAT, 0600);
      if (!writer) ::_exit(1);
      for (std::uint64_t batch = writer->last_batch() + 1;; ++batch) {
        if (!writer->append(batch, bytes_of(batch))) ::_exit(2);
        if (::pwrite(fd, &batch, sizeof batch, 0) != sizeof batch) ::_exit(3);
      }
    }
    // Every second one is killed as it appends, the others at any moment: on a slow machine some as they open the
    // spool.
    if (round % 2 == 0) wait_for_more(told);
    ::usleep(static_cast<useconds_t>(3000 + round * 700));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  }
  const std::uint64_t last = number_in(told);
  ASSERT_GE(last, 10u);
  SpoolReader reader = must(SpoolReader::open(folder, 0));
  const auto found = all_of(reader);
  ASSERT_GE(found.size(), last);
  EXPECT_EQ(found, numbers(1, found.size()));
  EXPECT_EQ(must(reader.read(last)), bytes_of(last));
  EXPECT_EQ(reader.damaged_bytes(), 0u);
}

}  // namespace
}  // namespace jtrace::fleet
