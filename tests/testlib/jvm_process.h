// JvmProcess: a JVM that runs one of tests/apps, controlled line by line, and killed when the object is destroyed.
//
// The program prints READY when it is set up, then answers each line of its stdin with one line that starts with OK or
// ERR. It ends at the end of its stdin. The JVM is a child of this process, is killed only by its own pid, and dies
// with the thread that started it. Its working folder, the /tmp of isolated JVMs, mounts and what an attach leaves of a
// killed JVM are removed with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tests/testlib/jdk_matrix.h"
#include "tests/testlib/line_collector.h"
#include "tests/testlib/scratch_dir.h"

namespace jtrace::test {

enum class Isolation {
  kNone,       // a plain child; a JDK of the tree is still started by chroot in a mount namespace
  kMount,      // a mount namespace with its own /tmp (tmpfs) and /proc
  kContainer,  // kMount and a pid namespace: the JVM is its pid 1
};

struct JvmOptions {
  std::vector<std::string> flags = {};        // for the JVM
  std::vector<std::string> arguments = {};    // for the program
  std::vector<std::string> environment = {};  // NAME=VALUE, over the inherited ones
  Isolation isolation = Isolation::kNone;
  // A root of its own: an overlay above the JDK's root, so that a test may change files there. Needs kMount or
  // kContainer.
  bool own_root = false;
  // With own_root: /tmp is a symbolic link to this absolute path, which is a folder of that root only. "": /tmp is a
  // folder.
  std::string tmp_link = {};
  // With kMount or kContainer: a folder of the host that is its /tmp; "": a tmpfs of its own.
  std::string tmp_folder = {};
  uid_t uid = 0;  // run as this user (from root); 0: as the test
  gid_t gid = 0;
  std::chrono::milliseconds start_timeout{120'000};
  bool wait_ready = true;
  // Called in the child when its mounts are done, before chroot and exec; `root` is the JVM's root as seen there.
  // Returning false fails the start. System calls only: the child is a fork of a process with threads.
  std::function<bool(const std::string& root)> in_child = {};
};

class JvmProcess {
 public:
  // `app` is a name in tests/apps.
  static Result<std::unique_ptr<JvmProcess>> start(const Jdk& jdk, std::string_view app,
                                                   const JvmOptions& options = {});
  // The same with a folder of classes and its main class.
  static Result<std::unique_ptr<JvmProcess>> start_classes(const Jdk& jdk, const std::string& classes,
                                                           std::string_view main_class, const JvmOptions& options = {});
  ~JvmProcess();

  pid_t pid() const { return pid_; }  // as this process sees it
  std::string pid_text() const { return std::to_string(pid_); }
  const Jdk& jdk() const { return jdk_; }
  // A path inside the JVM's root as this process can open it.
  std::string inside(std::string_view path) const { return "/proc/" + pid_text() + "/root" + std::string(path); }
  // A file in its working folder, which exists as long as the object.
  std::string in_working_folder(std::string_view name) const {
    return "/proc/" + pid_text() + "/cwd/" + std::string(name);
  }

  // Sends a line, waits for its answer and returns it without "OK ". An answer ERR is an error. Errors contain the
  // line, the JVM's stderr and its crash report.
  Result<std::string> ask(std::string_view command, std::chrono::milliseconds timeout = std::chrono::seconds(120));
  Result<> send(std::string_view line);
  // The next line of stdout that starts with `prefix`.
  Result<std::string> wait_line(std::string_view prefix, std::chrono::milliseconds timeout = std::chrono::seconds(120));
  // Closes the program's stdin: it returns from main.
  void close_input() { input_.reset(); }

  // Everything it has printed so far.
  std::string out() const { return out_->text(); }
  std::string err() const;

  bool alive() const;
  void signal(int number) const;  // does nothing after the JVM was waited for
  // The wait status; waits for the end. kTimeout if it does not end in time. May be called again.
  Result<int> wait_exit(std::chrono::milliseconds timeout = std::chrono::seconds(60));
  // The text of the JVM's hs_err file if there is one (the JVM crashed), otherwise empty.
  std::string crash_report() const;

 private:
  JvmProcess(const Jdk& jdk) : jdk_(jdk) {}
  bool reap();  // waits for its end
  Result<std::string> answer_to(std::string_view command, std::chrono::milliseconds timeout);

  Jdk jdk_;
  ScratchDir folder_{"jtrace-jvm"};
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  UniqueFd input_;
  UniqueFd err_;             // a memory file
  bool shares_tmp_ = false;  // its /tmp is the test's
  bool ended_ = false;
  int wait_status_ = 0;
  std::unique_ptr<LineCollector> out_;
};

}  // namespace jtrace::test
