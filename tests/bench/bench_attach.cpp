// Dynamic Attach compared with jattach (Debian package) and the JDK's own jcmd, interleaved in one run. Prints medians
// and their ratios. A peer that is not installed is left out.
//
//   bench_attach [--full] [cold|warm|inprocess|batch|dump|safety|refusals|stream]...      all of them by default
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "attach/attach_session.h"
#include "base/file.h"
#include "base/strings.h"
#include "tests/bench/bench.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"

extern char** environ;

namespace jtrace::test {
namespace {

using attach::Clock;
bool g_full = false;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Ran {
  double microseconds = 0;
  int status = -1;
};

// Runs one program from posix_spawn to its end, with its output discarded.
Ran run(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd : {1, 2}) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const auto start = Clock::now();
  if (::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) return {};
  int status = 0;
  ::waitpid(pid, &status, 0);
  const double took = microseconds_since(start);
  ::posix_spawn_file_actions_destroy(&actions);
  return {took, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

struct Client {
  std::string name;
  std::vector<std::string> prefix;  // before the pid
  std::vector<std::string> suffix;  // after it
  int every = 1;                    // takes part in every `every`th round: jcmd is slow
  std::vector<double> times{};
  int failures = 0;

  std::vector<std::string> words(pid_t pid) const {
    std::vector<std::string> all = prefix;
    all.push_back(std::to_string(pid));
    all.insert(all.end(), suffix.begin(), suffix.end());
    return all;
  }
};

bool in_path(const std::string& program) { return run({"sh", "-c", "command -v " + program}).status == 0; }

std::vector<Client> clients_of(const Jdk& jdk, int jcmd_every) {
  std::vector<Client> clients = {{"jtrace", {jtrace_binary(), "cmd"}, {"jcmd", "VM.version"}}};
  if (in_path("jattach")) clients.push_back({"jattach", {"jattach"}, {"jcmd", "VM.version"}});
  if (!jdk.root) clients.push_back({"jcmd", {jdk.home + "/bin/jcmd"}, {"VM.version"}, jcmd_every});
  return clients;
}

void print_ratios(const char* what, const Jdk& jdk, const std::vector<Client>& clients, double goal_jattach,
                  double goal_jcmd) {
  const double ours = median(clients.front().times);
  std::printf("%-10s %-14s jtrace %9.1f us (%zu)", what, jdk.name.c_str(), ours, clients.front().times.size());
  for (std::size_t i = 1; i < clients.size(); ++i) {
    const double theirs = median(clients[i].times);
    std::printf("  | %s %9.1f us, ratio %.4f (goal <= %.2f)", clients[i].name.c_str(), theirs, ours / theirs,
                clients[i].name == "jcmd" ? goal_jcmd : goal_jattach);
  }
  for (const Client& client : clients)
    if (client.failures > 0) std::printf("  | %s FAILED %d times", client.name.c_str(), client.failures);
  std::printf("\n");
  std::fflush(stdout);
}

void take_part(Client& client, pid_t pid) {
  const Ran ran = run(client.words(pid));
  if (ran.status == 0) client.times.push_back(ran.microseconds);
  else ++client.failures;
}

std::unique_ptr<JvmProcess> start(const Jdk& jdk, std::vector<std::string> flags = {}) {
  auto jvm = JvmProcess::start(jdk, "Idle", {.flags = std::move(flags)});
  if (jvm) return std::move(*jvm);
  std::fprintf(stderr, "%s\n", jvm.error().message().c_str());
  std::exit(1);
}

// The first command of a JVM; a new JVM for each.
void bench_cold() {
  const int rounds = g_full ? 15 : 7;
  for (const Jdk& jdk : jdks()) {
    std::vector<Client> clients = clients_of(jdk, 3);
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < clients.size(); ++i) {
        Client& client = clients[(i + static_cast<std::size_t>(round)) % clients.size()];
        if (round % client.every != 0) continue;
        const auto jvm = start(jdk, {"-Xmx32m"});
        take_part(client, jvm->pid());
      }
    print_ratios("G1 cold", jdk, clients, 0.2, 0.02);
  }
}

// Commands to a JVM whose listener runs already.
void bench_warm() {
  const int rounds = g_full ? 300 : 100;
  for (const Jdk& jdk : jdks()) {
    const auto jvm = start(jdk);
    std::vector<Client> clients = clients_of(jdk, rounds / 5);
    run(clients.front().words(jvm->pid()));
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < clients.size(); ++i) {
        Client& client = clients[(i + static_cast<std::size_t>(round)) % clients.size()];
        if (round % client.every == 0) take_part(client, jvm->pid());
      }
    print_ratios("G2 warm", jdk, clients, 1.0, 0.01);
  }
}

// The shortest possible round trip: connect, send, receive to the end, close.
double raw_round_trip(const std::string& path) {
  const std::string request("1\0jcmd\0VM.version\0\0\0", 20);
  char reply[4096];
  const auto start_time = Clock::now();
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strcpy(address.sun_path, path.c_str());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return -1;
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return -1;
  while (::recv(fd.get(), reply, sizeof reply, 0) > 0) {
  }
  return microseconds_since(start_time);
}

// A command within one process.
void bench_inprocess() {
  const int rounds = g_full ? 3000 : 1500;
  for (const Jdk& jdk : jdks()) {
    const auto jvm = start(jdk);
    const auto process = target::Process::open(jvm->pid());
    const auto session = attach::AttachSession::open(*process);
    if (!session) {
      std::printf("G3 %s: %s\n", jdk.name.c_str(), session.error().message().c_str());
      continue;
    }
    const std::string path = jvm->inside("/tmp/.java_pid" + std::to_string(process->nspid()));
    std::vector<double> raw;
    std::vector<double> ours;
    for (int i = 0; i < rounds; ++i) {
      raw.push_back(raw_round_trip(path));
      const auto start_time = Clock::now();
      const auto reply = session->execute({.operation = "jcmd", .arguments = {"VM.version"}});
      if (reply && reply->code == 0) ours.push_back(microseconds_since(start_time));
    }
    std::printf("%-10s %-14s jtrace %6.1f us (%zu)  | floor %6.1f us, ratio %.2f (goal <= 2)\n", "G3 trip",
                jdk.name.c_str(), median(ours), ours.size(), median(raw), median(ours) / median(raw));
  }
}

void bench_batch() {
  const int commands = g_full ? 40'000 : 20'000;
  std::string lines;
  for (int i = 0; i < commands; ++i) lines += "jcmd VM.version\n";
  for (const Jdk& jdk : jdks()) {
    const auto jvm = start(jdk);
    const ScratchDir folder;
    const std::string file = folder.file("batch");
    std::ofstream(file) << lines;
    const Ran ran = run({jtrace_binary(), "cmd", jvm->pid_text(), "--batch", file});
    std::printf("%-10s %-14s %d commands in one process: %.0f a second (goal >= 20000), status %d\n", "G3 batch",
                jdk.name.c_str(), commands, commands / (ran.microseconds / 1e6), ran.status);
  }
}

// Milliseconds of the safepoint of each thread dump in the log.
std::vector<double> dump_pauses(const std::string& log) {
  std::vector<double> pauses;
  const std::string text = read_file(log).value_or("");
  for (std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find("At safepoint: ");
    if (line.find("\"PrintThreads\"") == line.npos || at == line.npos) continue;
    pauses.push_back(std::strtod(std::string(line.substr(at + 14)).c_str(), nullptr) / 1e6);
  }
  return pauses;
}

// The pause that one thread dump costs the target, by client, with readers that keep up and with one that sleeps.
void bench_dump() {
  const auto jdk = any_jdk(25);
  if (!jdk) {
    std::printf("G4: no JDK 25 or later here\n");
    return;
  }
  const ScratchDir folder;
  const std::string log = folder.file("safepoint.log");
  auto jvm = JvmProcess::start(*jdk, "DeepThreads",
                               {.flags = {"-Xlog:safepoint:file=" + log, "-Xss512k"}, .arguments = {"400", "150"}});
  if (!jvm) {
    std::printf("G4: %s\n", jvm.error().message().c_str());
    return;
  }
  const std::string pid = (*jvm)->pid_text();
  struct Reader {
    const char* name;
    std::string command;
    std::vector<double> pauses{};
  };
  std::vector<Reader> readers = {
      {"jtrace", jtrace_binary() + " cmd " + pid + " threaddump | cat >/dev/null"},
      {"jtrace, reader sleeps 1 s", jtrace_binary() + " cmd " + pid + " threaddump | (sleep 1; cat >/dev/null)"}};
  if (in_path("jattach")) {
    readers.push_back({"jattach", "jattach " + pid + " threaddump | cat >/dev/null"});
    readers.push_back({"jattach, reader sleeps 1 s", "jattach " + pid + " threaddump | (sleep 1; cat >/dev/null)"});
  }
  readers.push_back({"jcmd", jdk->home + "/bin/jcmd " + pid + " Thread.print | cat >/dev/null"});
  const int rounds = g_full ? 11 : 5;
  for (int round = 0; round < rounds; ++round)
    for (Reader& reader : readers) {
      const std::size_t before = dump_pauses(log).size();
      run({"sh", "-c", reader.command});
      const auto pauses = dump_pauses(log);
      for (std::size_t i = before; i < pauses.size(); ++i) reader.pauses.push_back(pauses[i]);
    }
  const double ours = median(readers.front().pauses);
  for (const Reader& reader : readers)
    std::printf("%-10s %-14s %-28s safepoint %8.1f ms (%zu)  jtrace/this %.3f\n", "G4 dump", jdk->name.c_str(),
                reader.name, median(reader.pauses), reader.pauses.size(), ours / median(reader.pauses));
  std::printf("%-10s goals: <= 0.35 of jattach, <= 0.2 of jcmd; with a sleeping reader within 20 %% of without\n",
              "G4 dump");
}

// JVMs in their first milliseconds, and programs that a SIGQUIT ends. None may die or print.
void bench_safety() {
  const int each = g_full ? 200 : 60;
  const auto jdk = any_jdk();
  if (!jdk) return;
  int dead = 0;
  int noisy = 0;
  int attached = 0;
  for (int i = 0; i < each; ++i) {
    auto jvm = JvmProcess::start(*jdk, "Idle", {.flags = {"-Xmx32m"}, .wait_ready = false});
    if (!jvm) continue;
    ::usleep(static_cast<useconds_t>(i * 50'000 / each));
    attached += run({jtrace_binary(), "cmd", (*jvm)->pid_text(), "jcmd", "VM.version"}).status == 0 ? 1 : 0;
    if (!(*jvm)->wait_line("READY", std::chrono::seconds(60))) ++dead;
    if ((*jvm)->out() != "READY\n" || !(*jvm)->err().empty()) ++noisy;
  }
  std::printf("%-10s %-14s %d JVMs 0 to 50 ms old: %d attached, %d died, %d printed (goal 0, 0)\n", "G5 safety",
              jdk->name.c_str(), each, attached, dead, noisy);
  int killed = 0;
  for (int i = 0; i < each; ++i) {
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t quit;
    ::sigemptyset(&quit);
    ::sigaddset(&quit, SIGQUIT);
    ::posix_spawnattr_setsigdefault(&attributes, &quit);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const char* argv[] = {"sleep", "600", nullptr};
    pid_t pid = -1;
    ::posix_spawnp(&pid, "sleep", nullptr, &attributes, const_cast<char**>(argv), environ);
    ::posix_spawnattr_destroy(&attributes);
    run({jtrace_binary(), "cmd", std::to_string(pid), "jcmd", "VM.version"});
    killed += ::waitpid(pid, nullptr, WNOHANG) != 0 ? 1 : 0;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  std::printf("%-10s %-14s %d programs with the default SIGQUIT: %d died (goal 0)\n", "G5 safety", "sleep", each,
              killed);
}

// The time of a refusal.
void bench_refusals() {
  const auto jdk = any_jdk();
  if (!jdk) return;
  const auto disabled = start(*jdk, {"-XX:+DisableAttachMechanism"});
  const auto stopped = start(*jdk);
  const auto reduced = start(*jdk, {"-Xrs"});
  ::unlink(reduced->inside("/tmp/.java_pid" + reduced->pid_text()).c_str());
  stopped->signal(SIGSTOP);
  const std::vector<std::pair<std::string, std::string>> rows = {{"not a number", "12abc"},
                                                                 {"no such process", "4194304"},
                                                                 {"not a JVM", std::to_string(::getpid())},
                                                                 {"attach disabled", disabled->pid_text()},
                                                                 {"stopped", stopped->pid_text()},
                                                                 {"-Xrs, socket deleted", reduced->pid_text()}};
  for (const auto& [name, who] : rows) {
    std::vector<double> times;
    int status = 0;
    for (int i = 0; i < 11; ++i) {
      const Ran ran = run({jtrace_binary(), "cmd", who, "jcmd", "VM.version"});
      times.push_back(ran.microseconds / 1000);
      status = ran.status;
    }
    std::printf("%-10s %-22s status %d, %7.2f ms, slowest %7.2f ms (goal <= 100)\n", "G6 refusal", name.c_str(), status,
                median(times), *std::max_element(times.begin(), times.end()));
  }
  const auto busy = start(*jdk);
  const auto process = target::Process::open(busy->pid());
  const auto session = attach::AttachSession::open(*process);
  // An incomplete request keeps the listener busy.
  const UniqueFd half(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strcpy(address.sun_path, busy->inside("/tmp/.java_pid" + std::to_string(process->nspid())).c_str());
  if (::connect(half.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(half.get(), "1", 1, 0) != 1)
    return;
  const Ran late = run({jtrace_binary(), "cmd", busy->pid_text(), "--timeout", "1", "jcmd", "VM.version"});
  std::printf("%-10s %-22s status %d after %.0f ms of --timeout 1 (goal 1000 to 1100)\n", "G6 timeout", "listener held",
              late.status, late.microseconds / 1000);
}

// A reply far larger than the memory that may be used for it.
void bench_stream() {
  const std::uint64_t size = g_full ? std::uint64_t{3} << 30 : std::uint64_t{512} << 20;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  const auto self = target::Process::open(::getpid());
  std::thread writer([fd = UniqueFd(ends[1]), size] {
    const std::string chunk(1 << 20, 'x');
    (void)write_whole(fd.get(), "0\n", "socket");
    for (std::uint64_t sent = 0; sent < size; sent += chunk.size())
      if (!write_whole(fd.get(), chunk, "socket")) return;
  });
  const auto start_time = Clock::now();
  attach::Exchange exchange{UniqueFd{ends[0]}, *self, 8u << 20};
  const attach::Waiter waiter(*self, Clock::now() + std::chrono::minutes(10), -1);
  Result<bool> done = false;
  while (done && !*done && waiter.wait_fd(exchange.fd(), 1) == attach::Woken::kReady) done = exchange.advance();
  writer.join();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%-10s %.2f GiB of reply in %.1f s, peak memory %.1f MiB (limit of the reply 8 MiB)%s\n", "G10 stream",
              static_cast<double>(exchange.received()) / (1 << 30), microseconds_since(start_time) / 1e6,
              static_cast<double>(usage.ru_maxrss) / 1024, done && *done ? "" : "  FAILED");
}

}  // namespace

int run_benchmarks(const std::set<std::string>& wanted) {
  const std::pair<const char*, void (*)()> all[] = {
      {"stream", bench_stream}, {"warm", bench_warm},     {"inprocess", bench_inprocess}, {"batch", bench_batch},
      {"dump", bench_dump},     {"safety", bench_safety}, {"refusals", bench_refusals},   {"cold", bench_cold}};
  for (const auto& [name, bench] : all)
    if (wanted.empty() || wanted.count(name) != 0) bench();
  return 0;
}

}  // namespace jtrace::test

int main(int argc, char** argv) {
  std::set<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--full") jtrace::test::g_full = true;
    else wanted.insert(argv[i]);
  }
  return jtrace::test::run_benchmarks(wanted);
}
