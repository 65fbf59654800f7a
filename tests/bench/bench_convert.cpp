// Speed of reading and converting traces: a generated document (16 threads, 2,000 classes, 20,000 methods; 94 % entries
// and exits, 4 % allocations, 2 % monitors) in a file. Reading is compared with the bare parsers expat and libxml2
// (SAX, push), interleaved in the same run; each conversion runs in a process of its own, for its memory, and is
// printed beside the time of reading. Prints element rates, ratios, seconds, the largest resident size. Exit status 1:
// a conversion failed.
//
//   bench_convert [MB (500)] [read | roundtrip | report | merge | FORMAT]...   (all by default; FORMAT as in --to)
#include <expat.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#if JTRACE_HAS_LIBXML2
#include <libxml/parser.h>
#endif

#include "base/strings.h"
#include "trace/file_sink.h"
#include "trace/io/converter.h"
#include "trace/io/merger.h"
#include "trace/io/open_source.h"
#include "trace/io/report.h"
#include "trace/io/sqlite_writer.h"
#include "trace/io/trace_id_sink.h"
#include "trace/xml_writer.h"

namespace {

using namespace jtrace;
using namespace jtrace::trace;
using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}
[[noreturn]] void die(const std::string& text) {
  std::fprintf(stderr, "bench_convert: %s\n", text.c_str());
  std::_Exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result) die(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// -- The document
class Generator {
 public:
  Generator(const std::string& path, std::uint64_t size)
      : bytes_(must(FileSink::create(path))), writer_(*bytes_, {.single_trace = true}), size_(size) {}

  std::uint64_t run() {
    head();
    while (bytes_->bytes_written() < size_) step();
    const Time end(time_);
    for (std::uint64_t thread = 1; thread <= kThreads; ++thread)
      while (!stacks_[thread].empty()) leave(thread);
    put(TraceEnd{.traceIdRef = "t", .time = end});
    put(AgentDestroy{.agentIdRef = "a", .time = end});
    must(writer_.finish());
    return elements_;
  }

 private:
  static constexpr std::uint64_t kThreads = 16, kClasses = 2'000, kMethods = 20'000;
  struct Frame {
    std::uint64_t method, ticket;
  };
  template <class Element>
  void put(Element element) {
    if constexpr (requires { element.collationValue; }) element.collationValue = ++collation_;
    must(writer_.write(element));
    ++elements_;
  }
  std::uint64_t random() {
    seed_ ^= seed_ << 13;
    seed_ ^= seed_ >> 7;
    return seed_ ^= seed_ << 17;
  }
  void head() {
    put(Node{.nodeId = "n", .hostname = "host", .ipaddress = "", .time = Time(time_)});
    put(ProcessCreate{.processId = "p", .name = "app.Main", .pid = 42, .nodeIdRef = "n", .time = Time(time_)});
    put(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "bench", .time = Time(time_)});
    put(TraceStart{.traceId = "t", .agentIdRef = "a", .time = Time(time_)});
    for (std::uint64_t id = 1; id <= kThreads; ++id)
      put(ThreadStart{.threadId = ThreadId(id), .time = Time(time_), .threadName = "worker-" + std::to_string(id)});
    for (std::uint64_t id = 1; id <= kClasses; ++id) {
      const std::string name = "org/example/app/module" + std::to_string(id % 40) + "/Class" + std::to_string(id);
      put(ClassDef{.classId = ClassId(id), .sourceName = "Class.java", .name = name});
    }
    for (std::uint64_t id = 1; id <= kMethods; ++id)
      put(MethodDef{.name = "method" + std::to_string(id),
                    .signature = "(Ljava/lang/String;I)V",
                    .startLineNumber = id % 900,
                    .classIdRef = ClassId(1 + id % kClasses),
                    .methodId = MethodId(id)});
    for (std::uint64_t id = 1; id <= 64; ++id) put(ObjDef{.objId = ObjectId(id), .classIdRef = ClassId(id)});
  }
  void step() {
    const std::uint64_t thread = 1 + random() % kThreads, what = random() % 100;
    time_ += 100 + random() % 400;
    if (what < 4) {
      put(ObjAlloc{.threadIdRef = ThreadId(thread),
                   .time = Time(time_),
                   .isArray = 0,
                   .objId = ObjectId(++objects_),
                   .size = 16 + 8 * (random() % 64),
                   .classIdRef = ClassId(1 + random() % kClasses)});
    } else if (what < 6) {
      const ObjectId object(1 + random() % 64);
      if (blocked_[thread].present())
        put(MonContendedEntered{.threadIdRef = ThreadId(thread), .time = Time(time_), .objIdRef = blocked_[thread]});
      else
        put(MonContendedEnter{.threadIdRef = ThreadId(thread),
                              .time = Time(time_),
                              .objIdRef = object,
                              .threadOwner = ThreadId(1 + random() % kThreads)});
      blocked_[thread] = blocked_[thread].present() ? ObjectId() : object;
    } else if (auto& stack = stacks_[thread]; stack.empty() || (stack.size() < 40 && random() % 2 == 0)) {
      // Each method calls a few others, as in real programs.
      const std::uint64_t caller = stack.empty() ? thread : stack.back().method;
      stack.push_back({1 + (caller * 7 + random() % 3) % kMethods, ++tickets_});
      put(MethodEntry{.threadIdRef = ThreadId(thread),
                      .time = Time(time_),
                      .methodIdRef = MethodId(stack.back().method),
                      .ticket = stack.back().ticket,
                      .classIdRef = ClassId(1 + stack.back().method % kClasses),
                      .stackDepth = stack.size()});
    } else {
      leave(thread);
    }
  }
  void leave(std::uint64_t thread) {
    const Frame frame = stacks_[thread].back();
    stacks_[thread].pop_back();
    put(MethodExit{.threadIdRef = ThreadId(thread),
                   .time = Time(++time_),
                   .ticket = frame.ticket,
                   .methodIdRef = MethodId(frame.method),
                   .classIdRef = ClassId(1 + frame.method % kClasses)});
  }

  std::unique_ptr<FileSink> bytes_;
  XmlWriter writer_;
  std::uint64_t size_, elements_ = 0, collation_ = 0, time_ = 1'763'650'001'200'012'345, seed_ = 88'172'645'463'325'252;
  std::uint64_t objects_ = 64, tickets_ = 0;
  std::vector<Frame> stacks_[kThreads + 1];
  ObjectId blocked_[kThreads + 1];
};

// -- Reading
template <class Feed>
void feed_file(const std::string& path, Feed feed) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<char> piece(256u << 10);
  for (;;) {
    const ssize_t size = ::read(fd.get(), piece.data(), piece.size());
    if (size < 0) die("cannot read " + path);
    feed(piece.data(), static_cast<int>(size));
    if (size == 0) return;
  }
}
void expat_start(void* count, const XML_Char*, const XML_Char**) { ++*static_cast<std::uint64_t*>(count); }
std::uint64_t parse_with_expat(const std::string& path) {
  std::uint64_t count = 0;
  XML_Parser parser = XML_ParserCreate("UTF-8");
  XML_SetUserData(parser, &count);
  XML_SetStartElementHandler(parser, expat_start);
  feed_file(path, [&](const char* bytes, int size) {
    if (XML_Parse(parser, bytes, size, size == 0) != XML_STATUS_OK) die("expat refuses the document");
  });
  XML_ParserFree(parser);
  return count;
}
#if JTRACE_HAS_LIBXML2
void libxml2_start(void* count, const xmlChar*, const xmlChar*, const xmlChar*, int, const xmlChar**, int, int,
                   const xmlChar**) {
  ++*static_cast<std::uint64_t*>(count);
}
std::uint64_t parse_with_libxml2(const std::string& path) {
  std::uint64_t count = 0;
  xmlSAXHandler handler{};
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = libxml2_start;
  xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, &count, nullptr, 0, nullptr);
  feed_file(path, [&](const char* bytes, int size) {
    if (xmlParseChunk(parser, bytes, size, size == 0) != 0) die("libxml2 refuses the document");
  });
  xmlFreeParserCtxt(parser);
  return count;
}
#endif
std::uint64_t read_with_jtrace(const std::string& path) {
  io::FaultLog faults;
  NullSink sink;
  auto source = must(io::open_event_source(path, faults));
  const auto summary = must(source->read(sink));
  if (faults.total() != 0) die("the reader finds faults");
  return summary.elements;
}

// `work` in a child process: its seconds and its largest resident size in MB.
struct Run {
  double seconds, megabytes;
};
Run in_child(const std::function<void()>& work) {
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status != 0) die("a child failed");
  return {std::chrono::duration<double>(Clock::now() - start).count(), static_cast<double>(usage.ru_maxrss) / 1024};
}

void measure_reading(const std::string& path, std::uint64_t elements) {
  constexpr int kTurns = 3;
  std::vector<double> ours, expat, libxml2;
  double resident = 0;
  std::uint64_t counted = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const Run run = in_child([&] {
      if (read_with_jtrace(path) != elements) die("the reader loses elements");
    });
    ours.push_back(run.seconds);
    resident = std::max(resident, run.megabytes);
    expat.push_back(seconds_of([&] { counted = parse_with_expat(path); }));
    if (counted != elements + 1) die("expat counts otherwise");
#if JTRACE_HAS_LIBXML2
    libxml2.push_back(seconds_of([&] { counted = parse_with_libxml2(path); }));
    if (counted != elements + 1) die("libxml2 counts otherwise");
#endif
  }
  const auto median = [](std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  };
  const double rate = static_cast<double>(elements) / 1e6;
  std::printf("read: %.2f M elements/s (%.2f s, %.0f MB resident); expat's bare parse %.2f M/s, ratio %.2f",
              rate / median(ours), median(ours), resident, rate / median(expat), median(expat) / median(ours));
  if (libxml2.empty()) std::printf("; built without libxml2, not compared with it\n");
  else std::printf("; libxml2's %.2f M/s, ratio %.2f\n", rate / median(libxml2), median(libxml2) / median(ours));
}

// -- Converting
void read_into(const std::string& path, EventSink& sink) {
  io::FaultLog faults;
  auto source = must(io::open_event_source(path, faults));
  must(source->read(sink));
}
void convert(const std::string& path, const std::string& out, const std::string& format) {
  if (format == "sqlite") {
    auto writer = must(io::make_sqlite_writer(out));
    read_into(path, *writer);
    return must(writer->finish());
  }
  auto bytes = must(FileSink::create(out));
  if (format == "xml" || format == "fragments") {
    XmlWriter writer(*bytes, {.form = format == "xml" ? XmlForm::kDocument : XmlForm::kFragments});
    io::TraceIdSink with_ids(writer);
    EventSink& sink = format == "xml" ? static_cast<EventSink&>(writer) : with_ids;
    read_into(path, sink);
    return must(sink.finish());
  }
  if (format == "report") {
    const auto report = io::make_report_collector();
    read_into(path, *report);
    must(report->finish());
    must(report->write(*bytes, {.title = "bench"}));
    return must(bytes->finish());
  }
  if (format == "merge") {
    io::Merger merger({.spool_folder = out.substr(0, out.rfind('/'))});
    io::FaultLog faults;
    auto source = must(io::open_event_source(path, faults));
    must(merger.add(*source, path));
    XmlWriter writer(*bytes, {.single_trace = true});
    must(merger.write(writer));
    return must(writer.finish());
  }
  std::unique_ptr<io::Converter> writer;
  if (format == "jsonl") writer = io::make_jsonl_writer(*bytes);
  else if (format == "chrome") writer = io::make_chrome_writer(*bytes);
  else if (format == "speedscope") writer = io::make_speedscope_writer(*bytes, "bench");
  else if (format == "collapsed") writer = io::make_collapsed_writer(*bytes, io::Weight::kWall);
  else if (format == "sddf") writer = io::make_sddf_writer(*bytes);
  else die("unknown word " + format);
  read_into(path, *writer);
  must(writer->finish());
}
bool same_bytes(const std::string& a, const std::string& b) {
  std::FILE* first = std::fopen(a.c_str(), "rb");
  std::FILE* second = std::fopen(b.c_str(), "rb");
  std::vector<char> x(1u << 20), y(1u << 20);
  bool same = first != nullptr && second != nullptr;
  while (same) {
    const std::size_t size = std::fread(x.data(), 1, x.size(), first);
    same = std::fread(y.data(), 1, y.size(), second) == size && std::memcmp(x.data(), y.data(), size) == 0;
    if (size == 0) break;
  }
  if (first != nullptr) std::fclose(first);
  if (second != nullptr) std::fclose(second);
  return same;
}
std::uint64_t size_of(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return 0;
  std::fseek(file, 0, SEEK_END);
  const auto size = static_cast<std::uint64_t>(std::ftell(file));
  std::fclose(file);
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t megabytes = 500;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (const auto number = parse_decimal<std::uint64_t>(argv[i])) megabytes = *number;
    else wanted.emplace_back(argv[i]);
  }
  if (wanted.empty())
    wanted = {"read",       "xml",       "fragments", "jsonl",  "sddf", "chrome",
              "speedscope", "collapsed", "sqlite",    "report", "merge"};
  const char* base = std::getenv("TMPDIR");
  std::string folder = std::string(base != nullptr ? base : "/tmp") + "/jtrace-bench.XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) die("cannot create a folder");
  const std::string path = folder + "/in.trcxml", out = folder + "/out";
  std::uint64_t elements = 0;
  const double made = seconds_of([&] { elements = Generator(path, megabytes * 1'000'000).run(); });
  std::printf("document: %.0f MB, %.2f M elements, written in %.2f s\n", static_cast<double>(size_of(path)) / 1e6,
              static_cast<double>(elements) / 1e6, made);
  for (const std::string& format : wanted) {
    std::fflush(stdout);
    if (format == "read") {
      measure_reading(path, elements);
      continue;
    }
    const Run run = in_child([&] { convert(path, out, format); });
    std::printf("%-10s %6.2f s  %4.0f MB resident  %6.1f MB written", format.c_str(), run.seconds, run.megabytes,
                static_cast<double>(size_of(out)) / 1e6);
    if (format == "xml" || format == "merge") {
      const bool same = same_bytes(path, out);
      std::printf("  %s", same ? "byte-identical" : "NOT THE SAME");
      if (!same) return 1;
    }
    std::printf("\n");
    ::unlink(out.c_str());
  }
  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
  return 0;
}
