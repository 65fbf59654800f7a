// SmallDisk: a small file system, visible only to processes that enter its namespace; removed when the object is
// destroyed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tests/testlib/background_command.h"
#include "tests/testlib/scratch_dir.h"

namespace jtrace::test {

class SmallDisk {
 public:
  // A tmpfs of that size with these further mount options, mounted in a namespace of its own.
  static Result<std::unique_ptr<SmallDisk>> make(std::size_t kibibytes, const std::string& options = "mode=0700");

  // Its path for processes that have entered.
  const std::string& path() const { return folder_.path(); }
  // Its path for all processes, as long as the object lives.
  std::string outside_path() const { return "/proc/" + std::to_string(keeper_->pid()) + "/root" + path(); }
  // For CommandOptions::in_child: makes the command enter.
  std::function<void()> enter() const;

 private:
  SmallDisk() = default;

  ScratchDir folder_{"jtrace-disk"};
  std::unique_ptr<BackgroundCommand> keeper_;
};

}  // namespace jtrace::test
