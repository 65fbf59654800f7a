#include "tests/testlib/jvm_process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "tests/testlib/child_words.h"
#include "tests/testlib/java_app.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;

// Everything that the child needs, prepared before the fork.
struct Plan {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string root;     // "" or the tree
  std::string classes;  // as this process sees them
  std::string folder;   // working folder of a JVM without a namespace
  bool mounts = false;
  bool pid_namespace = false;
  bool overlay = false;  // root is below `folder`, above lower
  std::string lower;
  std::string tmp_link, tmp_folder;  // as JvmOptions
};

// Path of the classes in a JVM with mounts of its own.
constexpr const char* kClassesInside = "/mnt";

Plan make_plan(const Jdk& jdk, const std::string& classes, std::string_view main_class, const JvmOptions& options,
               const std::string& folder) {
  Plan plan;
  plan.root = jdk.root.value_or("");
  plan.classes = classes;
  plan.folder = folder;
  plan.mounts = jdk.root || options.isolation != Isolation::kNone;
  plan.pid_namespace = options.isolation == Isolation::kContainer;
  plan.overlay = plan.mounts && options.own_root;
  plan.tmp_folder = options.tmp_folder;
  if (plan.overlay) {
    plan.lower = plan.root.empty() ? "/" : plan.root;
    plan.tmp_link = options.tmp_link;
    plan.root = folder + "/root";
  }
  plan.argv = {jdk.home + "/bin/java", "-Xmx256m", "-XX:ErrorFile=hs_err.log"};
  plan.argv.insert(plan.argv.end(), options.flags.begin(), options.flags.end());
  plan.argv.insert(plan.argv.end(), {"-cp", plan.mounts ? kClassesInside : classes, std::string(main_class)});
  plan.argv.insert(plan.argv.end(), options.arguments.begin(), options.arguments.end());
  plan.environment = environment_with(options.environment);
  // If this machine sets them, the JVM would report it on stderr.
  std::erase_if(plan.environment, [](const std::string& word) {
    return word.rfind("JAVA_TOOL_OPTIONS=", 0) == 0 || word.rfind("_JAVA_OPTIONS=", 0) == 0;
  });
  return plan;
}

// What the upper layer has from the start hides the lower layer's files.
bool link_tmp(const Plan& plan, const std::string& upper) {
  return plan.tmp_link.empty() || (::symlink(plan.tmp_link.c_str(), (upper + "/tmp").c_str()) == 0);
}

bool mount_overlay(const Plan& plan) {
  const std::string upper = plan.folder + "/upper";
  const std::string work = plan.folder + "/work";
  const std::string options = "lowerdir=" + plan.lower + ",upperdir=" + upper + ",workdir=" + work;
  return ::mount("tmpfs", plan.folder.c_str(), "tmpfs", 0, "mode=0755") == 0 && ::mkdir(upper.c_str(), 0755) == 0 &&
         ::mkdir(work.c_str(), 0755) == 0 && ::mkdir(plan.root.c_str(), 0755) == 0 && link_tmp(plan, upper) &&
         ::mount("overlay", plan.root.c_str(), "overlay", 0, options.c_str()) == 0;
}

// Mounts what serves as /tmp: never through the link, which would be resolved in the test's root. A folder of the host
// is mounted while it is visible: it may be below the /tmp that it covers.
bool mount_tmp(const Plan& plan) {
  const std::string tmp = plan.root + (plan.tmp_link.empty() ? "/tmp" : plan.tmp_link);
  if (!plan.tmp_link.empty() && ::mkdir(tmp.c_str(), 01777) != 0) return false;
  if (!plan.tmp_folder.empty()) return ::mount(plan.tmp_folder.c_str(), tmp.c_str(), nullptr, MS_BIND, nullptr) == 0;
  return ::mount("tmpfs", tmp.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=512m") == 0;
}

bool mount_all(const Plan& plan) {
  const std::string& root = plan.root;
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && (!plan.overlay || mount_overlay(plan)) &&
         ::mount(plan.classes.c_str(), (root + kClassesInside).c_str(), nullptr, MS_BIND, nullptr) == 0 &&
         ::mount("proc", (root + "/proc").c_str(), "proc", 0, nullptr) == 0 &&
         (root.empty() || ::mount("/dev", (root + "/dev").c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) &&
         mount_tmp(plan);
}

// Both names of an attach to the process `pid` that has the test's own /tmp. A JVM that is killed leaves its socket,
// and a later JVM with its pid, perhaps of another user, could not be attached to.
void remove_attach_files(const char* pid) {
  for (const char* prefix : {"/tmp/.java_pid", "/tmp/.attach_pid"}) {
    char path[64];
    ::stpcpy(::stpcpy(path, prefix), pid);
    ::unlink(path);
  }
}

bool enter(const Plan& plan, const JvmOptions& options) {
  if (plan.mounts && !plan.pid_namespace && ::unshare(CLONE_NEWNS) != 0) return false;
  if (plan.mounts && !mount_all(plan)) return false;
  if (options.in_child && !options.in_child(plan.root)) return false;
  if (!plan.root.empty() && ::chroot(plan.root.c_str()) != 0) return false;
  if (::chdir(plan.mounts ? "/tmp" : plan.folder.c_str()) != 0) return false;
  if (options.gid != 0 && (::setgroups(0, nullptr) != 0 || ::setgid(options.gid) != 0)) return false;
  return options.uid == 0 || ::setuid(options.uid) == 0;
}

[[noreturn]] void run_child(const Plan& plan, const JvmOptions& options, int in, int out, int err, char** argv,
                            char** environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  if (enter(plan, options)) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user has cleared it
    ::signal(SIGPIPE, SIG_DFL);
    ::execve(argv[0], argv, environment);
  }
  const char* why = ::strerrordesc_np(errno);
  [[maybe_unused]] ssize_t count = ::write(2, "starting the JVM: ", 18);
  count = ::write(2, why, std::strlen(why));
  ::_exit(126);
}

// Forks, into a new pid namespace if asked. There is only one fork, so that the returned pid is the JVM's.
pid_t fork_for(const Plan& plan) {
  if (!plan.pid_namespace) return ::fork();
  return static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

Result<std::unique_ptr<JvmProcess>> JvmProcess::start(const Jdk& jdk, std::string_view app, const JvmOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const std::string classes, compiled_app(app));
  return start_classes(jdk, classes, app, options);
}

Result<std::unique_ptr<JvmProcess>> JvmProcess::start_classes(const Jdk& jdk, const std::string& classes,
                                                              std::string_view main_class, const JvmOptions& options) {
  std::unique_ptr<JvmProcess> jvm(new JvmProcess(jdk));
  Plan plan = make_plan(jdk, classes, main_class, options, jvm->folder_.path());
  jvm->shares_tmp_ = !plan.mounts;
  if (options.uid != 0) fs::permissions(jvm->folder_.path(), fs::perms::all);
  const std::vector<char*> argv = pointers(plan.argv);
  const std::vector<char*> environment = pointers(plan.environment);
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return fail(system_error("making pipes for a JVM"));
  const UniqueFd child_in(in[0]);
  jvm->input_.reset(in[1]);
  UniqueFd child_out(out[1]);
  UniqueFd our_out(out[0]);
  jvm->err_.reset(::memfd_create("stderr of a JVM", MFD_CLOEXEC));
  jvm->pid_ = fork_for(plan);
  if (jvm->pid_ < 0) return fail(system_error("forking a JVM"));
  if (jvm->pid_ == 0)
    run_child(plan, options, child_in.get(), child_out.get(), jvm->err_.get(), const_cast<char**>(argv.data()),
              const_cast<char**>(environment.data()));
  child_out.reset();
  ::signal(SIGPIPE, SIG_IGN);  // a JVM that died must be an error of write()
  jvm->pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, jvm->pid_, 0)));
  jvm->out_ = std::make_unique<LineCollector>(std::move(our_out));
  if (options.wait_ready) JTRACE_RETURN_IF_ERROR(jvm->wait_line("READY", options.start_timeout));
  return jvm;
}

JvmProcess::~JvmProcess() {
  if (pid_ > 0 && !ended_) {
    ::kill(pid_, SIGKILL);
    (void)reap();
  }
}

bool JvmProcess::reap() {
  // Its pid is its own until waitpid().
  siginfo_t info;
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  if (shares_tmp_) remove_attach_files(pid_text().c_str());
  return ::waitpid(pid_, &wait_status_, 0) == pid_;
}

Result<> JvmProcess::send(std::string_view line) {
  return write_whole(input_.get(), std::string(line) + "\n", "stdin of the JVM");
}

Result<std::string> JvmProcess::wait_line(std::string_view prefix, std::chrono::milliseconds timeout) {
  if (auto line = out_->wait_line(prefix, timeout)) return *line;
  std::string end;
  if (out_->ended()) {
    const auto status = wait_exit(std::chrono::seconds(20));
    end = status ? ", which has ended (wait status " + std::to_string(*status) + ")" : ", which has closed its stdout";
  }
  // A JVM that cannot begin says why on stdout.
  return fail(ErrorCategory::kTimeout, "waiting for '" + std::string(prefix) + "' from " + jdk_.name + end +
                                           "; stdout: " + out().substr(0, 1000) + "; stderr: " + err() +
                                           crash_report().substr(0, 6000));
}

Result<std::string> JvmProcess::ask(std::string_view command, std::chrono::milliseconds timeout) {
  auto answer = answer_to(command, timeout);
  if (!answer) return fail(answer.error().with_context("asking '" + std::string(command) + "'"));
  return answer;
}

Result<std::string> JvmProcess::answer_to(std::string_view command, std::chrono::milliseconds timeout) {
  JTRACE_RETURN_IF_ERROR(send(command));
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto rest =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    JTRACE_ASSIGN_OR_RETURN(std::string line, wait_line("", std::max(rest, std::chrono::milliseconds(0))));
    if (line.rfind("OK", 0) == 0) return line.size() > 3 ? line.substr(3) : std::string();
    if (line.rfind("ERR", 0) == 0) return fail(ErrorCategory::kRefused, line);
  }
}

std::string JvmProcess::err() const {
  std::string text;
  struct stat status {};
  if (::fstat(err_.get(), &status) != 0) return text;
  text.resize(static_cast<std::size_t>(status.st_size));
  const ssize_t count = ::pread(err_.get(), text.data(), text.size(), 0);
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text;
}

bool JvmProcess::alive() const {
  pollfd fd{pidfd_.get(), POLLIN, 0};
  return !ended_ && ::poll(&fd, 1, 0) == 0;
}

void JvmProcess::signal(int number) const {
  if (!ended_) ::kill(pid_, number);
}

Result<int> JvmProcess::wait_exit(std::chrono::milliseconds timeout) {
  if (ended_) return wait_status_;
  pollfd fd{pidfd_.get(), POLLIN, 0};
  if (::poll(&fd, 1, static_cast<int>(timeout.count())) <= 0)
    return fail(ErrorCategory::kTimeout, "waiting for the end of " + jdk_.name + ", pid " + pid_text());
  if (!reap()) return fail(system_error("waiting for " + jdk_.name));
  ended_ = true;
  return wait_status_;
}

std::string JvmProcess::crash_report() const {
  for (const std::string& path : {folder_.file("hs_err.log"), inside("/tmp/hs_err.log")})
    if (auto text = read_file(path)) return *text;
  return {};
}

}  // namespace jtrace::test
