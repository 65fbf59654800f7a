#include "trace/file_sink.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include "base/file.h"
#include "base/unique_fd.h"
#include "tests/testlib/require.h"
#include "tests/testlib/scratch_dir.h"
#include "trace/xml_writer.h"

namespace jtrace::trace {
namespace {

using jtrace::test::ScratchDir;

std::string content(const std::string& path) {
  Result<std::string> text = read_file(path);
  EXPECT_TRUE(text) << (text ? "" : text.error().message());
  return text ? *text : std::string();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

std::size_t files_in(const std::string& directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(FileSink, VisibleAtOnceAndPrivate) {
  const ScratchDir scratch;
  const std::string path = scratch.file("out.xml");
  ::umask(0);
  Result<std::unique_ptr<FileSink>> sink = FileSink::create(path);
  ASSERT_TRUE(sink) << sink.error().message();
  EXPECT_EQ(mode_of(path), 0600u);
  ASSERT_TRUE((*sink)->write("abc\n"));
  ASSERT_TRUE((*sink)->flush());
  EXPECT_EQ(content(path), "abc\n");  // the reserved room is not visible
  ASSERT_TRUE((*sink)->write("def\n"));
  ASSERT_TRUE((*sink)->finish());
  EXPECT_EQ(content(path), "abc\ndef\n");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_LE(status.st_blocks * 512, 64 << 10);  // and is released
}

TEST(FileSink, AnExistingFileIsEmptiedAndMadePrivate) {
  const ScratchDir scratch;
  const std::string path = scratch.file("out.xml");
  ASSERT_TRUE(write_whole(open_file(path, O_WRONLY | O_CREAT, 0644)->get(), "something longer", path));
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  Result<std::unique_ptr<FileSink>> sink = FileSink::create(path);
  ASSERT_TRUE(sink);
  ASSERT_TRUE((*sink)->write("x"));
  ASSERT_TRUE((*sink)->finish());
  EXPECT_EQ(content(path), "x");
  EXPECT_EQ(mode_of(path), 0600u);
}

bool has_nameless_files(const std::string& folder) {
  const UniqueFd made(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return static_cast<bool>(made);
}

TEST(FileSink, AFileThatIsWrittenIsRefusedAndStays) {
  const ScratchDir scratch;
  const std::string path = scratch.file("out.xml");
  Result<std::unique_ptr<FileSink>> first = FileSink::create(path);
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_TRUE((*first)->write("first"));
  const auto second = FileSink::create(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().category, ErrorCategory::kRefused);
  EXPECT_NE(second.error().message().find("another jtrace or hsperf is writing it"), std::string::npos);
  ASSERT_TRUE((*first)->finish());
  EXPECT_EQ(content(path), "first");
  EXPECT_TRUE(FileSink::create(path)) << "nobody writes it any more";
}

TEST(FileSink, HiddenUntilWhole) {
  const ScratchDir scratch;
  const std::string path = scratch.file("out.json");
  Result<std::unique_ptr<FileSink>> sink = FileSink::create(path, {.visible_at_once = false});
  ASSERT_TRUE(sink) << sink.error().message();
  ASSERT_TRUE((*sink)->write("whole"));
  ASSERT_TRUE((*sink)->flush());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(files_in(scratch.path()), has_nameless_files(scratch.path()) ? 0u : 1u);
  ASSERT_TRUE((*sink)->finish());
  EXPECT_EQ(content(path), "whole");
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(files_in(scratch.path()), 1u);
}

TEST(FileSink, TheOldFileStaysUntilTheNewOneIsWhole) {
  const ScratchDir scratch;
  const std::string path = scratch.file("out.json");
  for (const std::string& text : {std::string("old"), std::string("new")}) {
    Result<std::unique_ptr<FileSink>> sink = FileSink::create(path, {.visible_at_once = false});
    ASSERT_TRUE(sink) << sink.error().message();
    ASSERT_TRUE((*sink)->write(text));
    ASSERT_TRUE((*sink)->flush());
    if (text == "new") {
      EXPECT_EQ(content(path), "old");
    }
    ASSERT_TRUE((*sink)->finish());
    EXPECT_EQ(content(path), text);
    EXPECT_EQ(files_in(scratch.path()), 1u);
  }
}

TEST(FileSink, NothingIsLeftOfAHiddenFileThatWasNotFinished) {
  const ScratchDir scratch;
  {
    Result<std::unique_ptr<FileSink>> sink = FileSink::create(scratch.file("out"), {.visible_at_once = false});
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->write("half"));
    ASSERT_TRUE((*sink)->flush());
  }
  EXPECT_EQ(files_in(scratch.path()), 0u);
}

TEST(FileSink, SomethingElseThanAFileIsWrittenAsItIs) {
  for (bool visible : {true, false}) {
    Result<std::unique_ptr<FileSink>> sink = FileSink::create("/dev/null", {.visible_at_once = visible});
    ASSERT_TRUE(sink) << sink.error().message();
    ASSERT_TRUE((*sink)->write("abc"));
    ASSERT_TRUE((*sink)->finish());
  }
  EXPECT_EQ(mode_of("/dev/null") & 0666, 0666u);
}

TEST(FileSink, ErrorsNameThePath) {
  const ScratchDir scratch;
  for (bool visible : {true, false}) {
    for (const std::string& path : {scratch.path(), scratch.file("no/such/folder")}) {
      Result<std::unique_ptr<FileSink>> sink = FileSink::create(path, {.visible_at_once = visible});
      ASSERT_FALSE(sink);
      EXPECT_EQ(sink.error().path, path);
      EXPECT_NE(sink.error().errnum, 0);
    }
  }
}

// Writes lines until the sink refuses one, then the end; returns the number of lines accepted, without the end.
std::size_t write_until_full(ByteSink& sink, Error* error = nullptr) {
  const std::string line = std::string(99, 'x') + "\n";
  std::size_t taken = 0;
  while (sink.write(line)) ++taken;
  if (error) *error = *sink.status();
  sink.begin_closing();
  EXPECT_TRUE(sink.write("end\n"));
  Result<> finished = sink.finish();
  EXPECT_TRUE(finished) << (finished ? "" : finished.error().message());
  return taken;
}

TEST(FileSink, StopsBeforeItsLimitWithRoomForTheEnd) {
  const ScratchDir scratch;
  for (std::uint64_t limit : {1'000u, 100'000u, 3'000'000u}) {
    const std::string path = scratch.file("out" + std::to_string(limit));
    Result<std::unique_ptr<FileSink>> sink = FileSink::create(path, {.max_size = limit});
    ASSERT_TRUE(sink);
    Error error;
    const std::size_t taken = write_until_full(**sink, &error);
    EXPECT_EQ(error.category, ErrorCategory::kPartial);
    EXPECT_GT(taken, 0u);
    const std::string text = content(path);
    EXPECT_LE(text.size(), limit);
    EXPECT_GE(text.size() + 2 * kClosingReserve, limit);
    EXPECT_EQ(text.size(), taken * 100 + 4);
    EXPECT_TRUE(text.ends_with("x\nend\n"));
  }
}

TEST(FileSink, KeepsSpaceFreeForOthers) {
  const ScratchDir scratch;
  Result<std::unique_ptr<FileSink>> sink = FileSink::create(scratch.file("out"), {.min_free = std::uint64_t{1} << 62});
  ASSERT_TRUE(sink);
  Result<> written = (*sink)->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().category, ErrorCategory::kPartial);
  EXPECT_THAT(written.error().message(), testing::HasSubstr("stay free"));
}

// A write limit of the process (the file system cannot reserve room): truncated to whole records, and the loss is
// counted.
TEST(FileSink, WithoutKeptRoomItCutsBackToWholeRecords) {
  const ScratchDir scratch;
  const std::string path = scratch.file("out");
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limited{1'000'050, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  Result<std::unique_ptr<FileSink>> sink = FileSink::create(path, {.buffer_size = 30'000, .allocate = false});
  ASSERT_TRUE(sink);
  Error error;
  const std::size_t taken = write_until_full(**sink, &error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(error.errnum, EFBIG);
  const std::string text = content(path);
  EXPECT_TRUE(text.ends_with("x\nend\n"));
  EXPECT_EQ(text.size() % 100, 4u);
  EXPECT_GT((*sink)->lost_bytes(), 0u);
  EXPECT_EQ(text.size() - 4 + (*sink)->lost_bytes(), taken * 100);
}

// -- a full disk ---------------------------------------------------------------------------------------------------

// Runs `body` in a child that has a file system of 2 MiB at `mount_point` for itself; returns its result.
std::string on_small_disk(const std::string& mount_point, const std::function<std::string(const std::string&)>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "pipe failed";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string result = "mount failed";
    if (::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        ::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=2m") == 0)
      result = body(mount_point);
    (void)write_whole(ends[1], result, "pipe").has_value();
    ::_exit(0);
  }
  ::close(ends[1]);
  const UniqueFd reader(ends[0]);
  Result<std::string> result = read_whole(reader.get(), "pipe");
  ::waitpid(child, nullptr, 0);
  return result ? *result : result.error().message();
}

// Writes a document until the disk is full, and closes it; returns "TAKEN LOST ERRNO" and the document.
std::string document_until_full(const std::string& path, bool allocate) {
  Result<std::unique_ptr<FileSink>> sink = FileSink::create(path, {.allocate = allocate});
  if (!sink) return sink.error().message();
  XmlWriter writer(**sink);
  std::size_t taken = 0;
  Result<> written;
  while ((written = writer.write(ThreadEnd{.threadIdRef = ThreadId(taken), .collationValue = taken + 1}))) ++taken;
  (*sink)->begin_closing();
  const Result<> last = writer.write(TraceEnd{.traceIdRef = "t", .time = Time(1)});
  const Result<> finished = writer.finish();
  if (!last || !finished) return "not closed: " + (last ? finished : last).error().message();
  Result<std::string> text = read_file(path);
  return std::to_string(taken) + " " + std::to_string((*sink)->lost_bytes()) + " " +
         std::to_string(written.error().errnum) + "\n" + (text ? *text : text.error().message());
}

class FullDisk : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Allocating, FullDisk, testing::Bool());

TEST_P(FullDisk, TheDocumentIsClosedWithWhatFits) {
  const std::string missing = jtrace::test::why_no_namespaces();
  if (!missing.empty()) JTRACE_SKIP("live", missing);
  const ScratchDir scratch;
  const std::string result = on_small_disk(scratch.path(), [](const std::string& directory) {
    return document_until_full(directory + "/out.xml", GetParam());
  });
  std::size_t taken = 0, lost = 0;
  int errnum = 0;
  ASSERT_EQ(std::sscanf(result.c_str(), "%zu %zu %d", &taken, &lost, &errnum), 3) << result.substr(0, 300);
  EXPECT_EQ(errnum, ENOSPC);
  const std::string text = result.substr(result.find('\n') + 1);
  EXPECT_TRUE(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n<threadEnd threadIdRef=\"0\""));
  EXPECT_TRUE(text.ends_with("/>\n<traceEnd traceIdRef=\"t\" time=\"0.000000001\"/>\n</TRACE>\n"));
  EXPECT_GT(text.size(), 800u << 10);
  const std::size_t kept = lines_of(text) - 4;
  if (GetParam()) {
    // Everything that was accepted is in the file.
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(kept, taken);
  } else {
    EXPECT_GT(lost, 0u);
    EXPECT_LT(kept, taken);
  }
  // The last one is complete, and has the number of its position.
  const std::string last = "<threadEnd threadIdRef=\"" + std::to_string(kept - 1) + "\" collationValue=\"" +
                           std::to_string(kept) + "\"/>\n<traceEnd";
  EXPECT_THAT(text.substr(text.size() - 200), testing::HasSubstr(last));
}

}  // namespace
}  // namespace jtrace::trace
