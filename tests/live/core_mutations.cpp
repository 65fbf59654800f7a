// core_mutations CORE COUNT [SEED]: reads COUNT damaged copies of a core, each in a child process: bits flipped in
// pages that the views read, or the end cut off. A child that crashes, or takes longer than 30 s, is a failure; the
// views' output is not checked. Prints a line of totals; exit status 1 if a child failed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "coreinspect/tools/snapshot_events.h"
#include "target/target.h"
#include "trace/xml_writer.h"

namespace jtrace {
namespace {

constexpr unsigned kSecondsEach = 30;
constexpr rlim_t kMemoryEach = rlim_t{12} << 30;  // the core itself is mapped
constexpr std::size_t kPage = 4096;

// The java.lang.Thread of the first thread, by its address.
std::string some_object(const coreinspect::Inspection& inspection) {
  const auto threads = coreinspect::java_thread_addresses(inspection.vm());
  if (!threads || threads->empty()) return "0";
  return coreinspect::hex(coreinspect::read_java_thread(inspection.objects(), threads->front()).object);
}

// Everything that can be asked of a core. True if all of it was answered completely.
bool look_into(std::span<const std::byte> core, bool seen = false) {
  auto file = target::CoreFile::of_view(core, "core");
  if (!file) return false;
  auto target = target::Target::of_core(std::move(*file));
  if (!target) return false;
  auto opened = coreinspect::Inspection::open(std::move(*target));
  if (!opened) return false;
  coreinspect::Inspection& inspection = **opened;
  bool whole = inspection.target().missing().empty();
  auto views = coreinspect::views();
  views.push_back({"stack", "", "", coreinspect::view_stack});
  for (const coreinspect::View& view : views) {
    coreinspect::ViewOptions options{.json = true, .all = true};
    if (view.name == "find") options.arguments = {"7f0000001000"};
    else if (view.name == "method") options.arguments = {"java.lang.Thread.run"};
    else if (view.argument == "ADDRESS") options.arguments = {some_object(inspection)};
    else if (!view.argument.empty()) options.arguments = {"java.lang.Thread"};
    if (!view.run) continue;
    trace::FdSink dump(UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC)), "/dev/null");
    options.heap.dump = &dump;
    options.heap.depth = 3;
    const auto result = view.run(inspection, options);
    // No core tells what was in memory, and `find` looks for nothing that is there.
    const bool is_never_whole = view.name == "find" || view.name == "memory";
    whole = whole && (is_never_whole || (result && result->missing.empty()));
    if (seen && !(result && result->missing.empty()))
      std::printf("%.*s: %s\n", static_cast<int>(view.name.size()), view.name.data(),
                  result ? result->missing.front().c_str() : result.error().message().c_str());
  }
  trace::MemorySink bytes;
  trace::XmlWriter xml(bytes);
  coreinspect::ViewOptions events;
  events.heap.in_events = true;
  const auto parts = coreinspect::find_view("events")->parts(events);
  whole = coreinspect::write_snapshot_events(inspection, xml, coreinspect::identify_target(inspection), parts, {})
              .has_value() &&
          whole;
  return whole;
}

struct Core {
  std::byte* bytes = nullptr;
  std::size_t size = 0;
};

// A private mapping: changes stay in the process that makes them.
Core map_core(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0) return {};
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) return {};
  ::madvise(at, size, MADV_RANDOM);  // no pages around those that are read
  return {static_cast<std::byte*>(at), size};
}

// The pages of the mapping that this process has touched (/proc/PID/pagemap: bit 63 says present).
std::vector<std::size_t> touched_pages(const Core& core) {
  std::vector<std::size_t> pages;
  const int fd = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::vector<std::uint64_t> entries(core.size / kPage);
  const auto offset = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(core.bytes) / kPage * 8);
  const ssize_t got = ::pread(fd, entries.data(), entries.size() * 8, offset);
  for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got) / 8; ++i)
    if (entries[i] >> 63 != 0) pages.push_back(i);
  ::close(fd);
  return pages;
}

enum Outcome { kWhole, kPartial, kOutcomes };

[[noreturn]] void damage_and_look(const Core& core, const std::vector<std::size_t>& pages, std::uint64_t seed) {
  ::alarm(kSecondsEach);
  const rlimit memory{kMemoryEach, kMemoryEach};
  ::setrlimit(RLIMIT_AS, &memory);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::mt19937_64 random(seed);
  std::size_t size = core.size;
  if (random() % 8 == 0) size = random() % core.size;
  const std::size_t flips = std::size_t{1} << (random() % 10);
  for (std::size_t i = 0; i < flips; ++i) {
    // A quarter of them in the headers and notes.
    const std::size_t page =
        random() % 4 == 0 ? random() % std::min<std::size_t>(16, core.size / kPage) : pages[random() % pages.size()];
    core.bytes[page * kPage + random() % kPage] ^= std::byte{1} << (random() % 8);
  }
  ::_exit(look_into({core.bytes, size}) ? kWhole : kPartial);
}

int run(const char* path, std::uint64_t count, std::uint64_t seed) {
  const Core core = map_core(path);
  if (core.size < kPage) {
    std::fprintf(stderr, "cannot map %s\n", path);
    return 2;
  }
  const bool whole = look_into({core.bytes, core.size}, true);
  const auto pages = touched_pages(core);
  std::printf("undamaged: %s, %zu pages read\n", whole ? "whole" : "partial", pages.size());
  if (pages.empty()) return 2;
  std::uint64_t outcomes[kOutcomes] = {}, failures = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) damage_and_look(core, pages, seed + i);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) < kOutcomes) {
      ++outcomes[WEXITSTATUS(status)];
      continue;
    }
    ++failures;
    std::printf("seed %llu: %s %d\n", static_cast<unsigned long long>(seed + i),
                WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  std::printf("%llu damaged cores: %llu whole, %llu partial or refused, %llu crashed or hung\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(outcomes[kWhole]),
              static_cast<unsigned long long>(outcomes[kPartial]), static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace jtrace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: core_mutations CORE COUNT [SEED]\n");
    return 2;
  }
  return jtrace::run(argv[1], std::strtoull(argv[2], nullptr, 10), argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
}
