// The tracepoint that tells who woke a thread.
#include "sampling/wakeups.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace jtrace::sampling {
namespace {

constexpr const char* kFormat = R"(name: sched_waking
ID: 375
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t pid;	offset:24;	size:4;	signed:1;
	field:int prio;	offset:28;	size:4;	signed:1;
	field:int target_cpu;	offset:32;	size:4;	signed:1;

print fmt: "comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu
)";

TEST(Wakeups, FindTheirFieldsInTheFormat) {
  const auto format = parse_waking_format(kFormat);
  ASSERT_TRUE(format);
  EXPECT_EQ(format->id, 375u);
  EXPECT_EQ(format->flags, 2u);
  EXPECT_EQ(format->woken, 24u);
}

TEST(Wakeups, DoNotGuessAFormat) {
  EXPECT_FALSE(parse_waking_format(""));
  std::string text = kFormat;
  text.replace(text.find(" pid;"), 5, " who;");
  EXPECT_FALSE(parse_waking_format(text));
  text = kFormat;
  text.replace(text.find("ID: 375"), 7, "ID: all");
  EXPECT_FALSE(parse_waking_format(text));
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// pid, tid, time, size, raw: as the kernel writes them.
std::string record(char flags) {
  std::string raw(36, '\0');
  raw[2] = flags;
  const std::uint32_t woken = 77;
  std::memcpy(&raw[24], &woken, sizeof woken);
  std::string bytes;
  append(bytes, std::uint32_t{5});
  append(bytes, std::uint32_t{6});
  append(bytes, std::uint64_t{1000});
  append(bytes, static_cast<std::uint32_t>(raw.size()));
  return bytes + raw;
}

TEST(Wakeups, HaveWhoDidItAndWhen) {
  const WakingFormat format = parse_waking_format(kFormat).value();
  const std::string bytes = record(1);  // interrupts were off: no interrupt
  const auto wakeup = read_wakeup(std::as_bytes(std::span(bytes)), format);
  ASSERT_TRUE(wakeup);
  EXPECT_EQ(wakeup->tid, 77u);
  EXPECT_EQ(wakeup->waker_pid, 5u);
  EXPECT_EQ(wakeup->waker_tid, 6u);
  EXPECT_EQ(wakeup->time, 1000u);
  EXPECT_FALSE(wakeup->interrupt);
}

TEST(Wakeups, TellAnInterruptFromTheThreadThatItCameUpon) {
  const WakingFormat format = parse_waking_format(kFormat).value();
  for (const char flags : {'\x08', '\x10', '\x19'}) {
    const std::string bytes = record(flags);
    EXPECT_TRUE(read_wakeup(std::as_bytes(std::span(bytes)), format)->interrupt);
  }
}

TEST(Wakeups, AreNotReadBeyondTheirRecord) {
  const WakingFormat format = parse_waking_format(kFormat).value();
  const std::string bytes = record(0);
  for (const std::size_t size : {std::size_t{0}, std::size_t{12}, std::size_t{20}, bytes.size() - 20})
    EXPECT_FALSE(read_wakeup(std::as_bytes(std::span(bytes)).first(size), format)) << size;
}

}  // namespace
}  // namespace jtrace::sampling
