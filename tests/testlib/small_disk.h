// SmallDisk: a file system of a few bytes that only those see who are let in; gone when the object goes.
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

  // Where those who entered see it.
  const std::string& path() const { return folder_.path(); }
  // Where everybody sees it, as long as the object lives.
  std::string outside_path() const { return "/proc/" + std::to_string(keeper_->pid()) + "/root" + path(); }
  // For CommandOptions::in_child: the command sees the disk.
  std::function<void()> enter() const;

 private:
  SmallDisk() = default;

  ScratchDir folder_{"jtrace-disk"};
  std::unique_ptr<BackgroundCommand> keeper_;
};

}  // namespace jtrace::test
