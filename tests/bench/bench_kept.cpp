// Checks that every call is kept and that losses are counted: a program makes calls (and returns), on each of JDK 17
// and 25 that is installed.
//   block: the given number of events is spilled without a limit for the waiting; read again, each entry has its exit,
// and their number is that of the program. drop: a small ring memory, so that most events are lost; those written and
// those counted as lost add up to all.
//
//   bench_kept [MILLIONS]   events under block; default 100
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/strings.h"
#include "session/spill/spill_source.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "trace/io/byte_source.h"

namespace {

using namespace jtrace;
using namespace jtrace::test;
using Clock = std::chrono::steady_clock;

constexpr int kFib = 27;  // some 300,000 calls a command

// Matches calls and returns by thread and ticket.
class Matcher final : public trace::EventSink {
 public:
  Result<> write(const trace::Event& event) override {
    if (const auto* entry = std::get_if<trace::MethodEntry>(&event)) {
      ++entries;
      open_[entry->threadIdRef.value()].push_back(entry->ticket.value());
    } else if (const auto* exit = std::get_if<trace::MethodExit>(&event)) {
      ++exits;
      std::vector<std::uint64_t>& stack = open_[exit->threadIdRef.value()];
      if (stack.empty() || stack.back() != exit->ticket.value()) ++unmatched;
      else stack.pop_back();
    }
    return {};
  }
  Result<> finish() override { return {}; }
  std::uint64_t open() const {
    std::uint64_t count = 0;
    for (const auto& [thread, stack] : open_) count += stack.size();
    return count;
  }
  std::uint64_t entries = 0, exits = 0, unmatched = 0;

 private:
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> open_;
};

struct Run {
  std::uint64_t calls = 0;  // that the program made
  int status = -1;
  std::string said;
  double seconds = 0;
};

// A spill of `calls` calls of fib; nothing if it could not be made.
std::optional<Run> spill(const Jdk& jdk, const std::string& path, std::uint64_t calls,
                         const std::vector<std::string>& options) {
  auto jvm = JvmProcess::start(jdk, "Calls", attachable(jdk));
  if (!jvm) return std::nullopt;
  std::vector<std::string> words{
      jtrace_binary(), "attach",   std::to_string((*jvm)->pid()), "--spill",  path,       "--events",
      "methods",       "--filter", "Calls fib include",           "--filter", "* exclude"};
  words.insert(words.end(), options.begin(), options.end());
  auto command = BackgroundCommand::start(words);
  if (!command ||
      !wait_for_bytes(path, "jtrace.rewritten", std::chrono::seconds(60), [&] { return (*command)->alive(); }))
    return std::nullopt;
  Run run;
  const auto start = Clock::now();
  while (run.calls < calls) {
    const auto answer = (*jvm)->ask("fib " + std::to_string(kFib), std::chrono::minutes(10));
    if (!answer) return std::nullopt;
    run.calls += static_cast<std::uint64_t>(value_in(*answer, "fib"));
  }
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  (*command)->signal(SIGINT);
  run.status = (*command)->wait_exit(std::chrono::minutes(5)).value_or(-1);
  run.said = (*command)->err();
  return run;
}

bool bench_block(const Jdk& jdk, const std::string& path, std::uint64_t events) {
  const auto run = spill(jdk, path, events / 2, {"--when-full", "block", "--block-limit", "10000"});
  if (!run) return std::printf("%s: not measured\n", jdk.name.c_str()), false;
  Matcher matcher;
  trace::io::FaultLog faults;
  auto bytes = trace::io::open_byte_source(path);
  auto source = bytes ? session::open_spill(std::move(*bytes), path, faults) : fail(bytes.error());
  const auto start = Clock::now();
  const auto summary = source ? (*source)->read(matcher) : fail(source.error());
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const bool whole = summary && !summary->truncated && run->status == 0 && matcher.entries == run->calls &&
                     matcher.exits == run->calls && matcher.unmatched == 0 && matcher.open() == 0;
  const auto made = static_cast<double>(2 * run->calls);
  std::printf(
      "%s: block: %llu calls made, %llu entries, %llu exits, %llu unmatched, %llu open: %s; %.1f M events/s"
      " spilled, %.1f M/s read again\n",
      jdk.name.c_str(), static_cast<unsigned long long>(run->calls), static_cast<unsigned long long>(matcher.entries),
      static_cast<unsigned long long>(matcher.exits), static_cast<unsigned long long>(matcher.unmatched),
      static_cast<unsigned long long>(matcher.open()), whole ? "0 lost" : "NOT WHOLE", made / run->seconds / 1e6,
      made / seconds / 1e6);
  return whole;
}

// The number before `word` in jtrace's closing message.
std::uint64_t number_before(const std::string& text, const std::string& word) {
  const std::size_t end = text.find(" " + word);
  if (end == std::string::npos) return 0;
  std::size_t start = end;
  while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') --start;
  return parse_decimal<std::uint64_t>(std::string_view(text).substr(start, end - start)).value_or(0);
}

bool bench_drop(const Jdk& jdk, const std::string& path) {
  const auto run = spill(jdk, path, 5'000'000, {"--ring-memory", "1M"});
  if (!run) return std::printf("%s: not measured\n", jdk.name.c_str()), false;
  const std::string last = run->said.substr(run->said.rfind('\n', run->said.size() - 2) + 1);
  const std::uint64_t written = number_before(last, "events, ");
  const std::uint64_t lost = number_before(last, "events lost");
  const bool exact = written + lost == 2 * run->calls && lost != 0 && run->status == 9;
  std::printf("%s: drop: %llu calls made, %llu events written, %llu counted as lost: %s\n", jdk.name.c_str(),
              static_cast<unsigned long long>(run->calls), static_cast<unsigned long long>(written),
              static_cast<unsigned long long>(lost), exact ? "exact" : "NOT EXACT");
  return exact;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t millions = argc > 1 ? parse_decimal<std::uint64_t>(argv[1]).value_or(0) : 100;
  if (millions == 0) {
    std::fprintf(stderr, "usage: bench_kept [MILLIONS]\n");
    return 2;
  }
  bool sound = true;
  for (const Jdk& jdk : jdks()) {
    if (jdk.root || (jdk.version != 17 && jdk.version != 25)) continue;
    const ScratchDir folder;
    sound = bench_block(jdk, folder.file("block.spill"), millions * 1'000'000) && sound;
    sound = bench_drop(jdk, folder.file("drop.spill")) && sound;
    std::fflush(stdout);
  }
  return sound ? 0 : 1;
}
