// hsperf top: all JVMs on a terminal, live.
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <memory>

#include "base/clock.h"
#include "base/terminal.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "cli/one_of.h"
#include "perfdata/jvm_set.h"
#include "perfdata/top_view.h"

namespace jtrace::cli {
namespace {

struct TopArguments {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  std::string sort = "heap";
  std::uint64_t count = 0;
  bool pauses = false;
};

// What a frame shows; keys change it.
struct Shown {
  perfdata::TopOrder order = perfdata::TopOrder::kHeap;
  perfdata::TopColumns columns = perfdata::TopColumns::kHistories;
};

// Reads single keys, shows the alternate screen and hides the cursor, as long as it lives.
class ScopedScreen {
 public:
  ScopedScreen() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    (void)print_out("\033[?1049h\033[?25l");
  }
  ~ScopedScreen() {
    (void)print_out("\033[?25h\033[?1049l");
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  ScopedScreen(const ScopedScreen&) = delete;
  ScopedScreen& operator=(const ScopedScreen&) = delete;

 private:
  termios before_{};
};

Result<> draw(const perfdata::TopView& view, const Shown& shown) {
  const TerminalSize size = terminal_size(STDOUT_FILENO);
  std::string frame = "\033[H";
  for (const std::string& line : view.lines(shown.order, size.rows, size.columns, shown.columns)) {
    if (frame.size() > 3) frame += "\r\n";
    frame.append(line).append("\033[K");
  }
  return print_out(frame + "\033[J");
}

enum class Key { kNone, kShown, kQuit };

// Waits for a key, the end of the interval or a signal.
Key wait_key(int stop_fd, int timeout_ms, Shown& shown) {
  pollfd polled[] = {{.fd = stop_fd, .events = POLLIN, .revents = 0},
                     {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  if (::poll(polled, 2, timeout_ms) <= 0) return Key::kNone;
  if (polled[0].revents != 0) return Key::kQuit;
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q') return Key::kQuit;
  if (key == 'c') {
    const bool pauses = shown.columns == perfdata::TopColumns::kPauses;
    shown.columns = pauses ? perfdata::TopColumns::kHistories : perfdata::TopColumns::kPauses;
    return Key::kShown;
  }
  return perfdata::top_order_of(key, shown.order) ? Key::kShown : Key::kNone;
}

Result<> run_live(perfdata::JvmSet& jvms, Shown shown, std::uint64_t interval_ns) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
  const ScopedScreen screen;
  perfdata::TopView view;
  for (std::uint64_t next = monotonic_ns();;) {
    if (monotonic_ns() >= next) {
      jvms.refresh();
      jvms.read_all();
      view.update(jvms);
      next = monotonic_ns() + interval_ns;
    }
    JTRACE_RETURN_IF_ERROR(draw(view, shown));
    const std::uint64_t now = monotonic_ns();
    const int timeout = next > now ? static_cast<int>((next - now) / 1'000'000 + 1) : 0;
    if (wait_key(stop.get(), timeout, shown) == Key::kQuit) return {};
  }
}

// Without a terminal, or with --count: frames one after the other, as top -b prints them.
Result<> run_batch(perfdata::JvmSet& jvms, const Shown& shown, std::uint64_t interval_ns, std::uint64_t count) {
  perfdata::TopView view;
  for (std::uint64_t i = 0; i < count; ++i) {
    // The first frame needs two samples too, because shares of time are between two samples.
    for (int look = i == 0 ? 0 : 1; look < 2; ++look) {
      if (look == 1) ::usleep(static_cast<useconds_t>(interval_ns / 1000));
      jvms.refresh();
      jvms.read_all();
      view.update(jvms);
    }
    std::string frame;
    for (const std::string& line : view.lines(shown.order, 0, 0, shown.columns)) frame += line + "\n";
    JTRACE_RETURN_IF_ERROR(print_out(frame));
  }
  return {};
}

Result<> top(const TopArguments& arguments) {
  const auto interval_ns = std::max<std::uint64_t>(static_cast<std::uint64_t>(arguments.interval.count()), 10'000'000);
  Shown shown;
  perfdata::top_order_of(arguments.sort.front(), shown.order);
  if (arguments.pauses) shown.columns = perfdata::TopColumns::kPauses;
  perfdata::SourceOptions options;
  options.wait = std::chrono::milliseconds(0);
  perfdata::JvmSet jvms(options, {}, {});
  const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  if (terminal && arguments.count == 0) return run_live(jvms, shown, interval_ns);
  return run_batch(jvms, shown, interval_ns, std::max<std::uint64_t>(arguments.count, 1));
}

}  // namespace

void add_hsperf_top(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<TopArguments>();
  auto* command = app.add_subcommand("top", "all JVMs on a terminal: heap, share of time in pauses, threads");
  add_time(*command, "-i,--interval", arguments->interval, "time between frames (1s); a number alone is ms",
           kIntervalRange);
  command->add_option("-n,--count", arguments->count, "print this number of frames, one after the other");
  command->add_option("--sort", arguments->sort, "heap, gc, threads, pid or name")
      ->check(one_of({"heap", "gc", "threads", "pid", "name"}))
      ->capture_default_str();
  command->add_flag("--pauses", arguments->pauses,
                    "columns about pauses: how many, the longest seen, the last one's kind and cause (key c)");
  command->footer("example: hsperf top --sort gc");
  command->callback([arguments, &status] {
    auto done = top(*arguments);
    status = done ? ExitStatus::kOk : report(done.error());
  });
}

}  // namespace jtrace::cli
