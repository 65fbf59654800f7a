// ProfileFiles: the output of `jtrace profile`: one file, or a new one at an interval, of which those of the last time
// are kept. One thread.
#pragma once

#include <memory>
#include <string>

#include "cli/profile_output.h"

namespace jtrace::cli {

struct Rotation {
  std::uint64_t every = 0;  // ns; 0: one file
  std::uint64_t keep = 0;   // ns; 0: all
};

class ProfileFiles {
 public:
  // `inspection`, for the .xml of one JVM, is borrowed. `head`: of each file, with its own start and length.
  static Result<std::unique_ptr<ProfileFiles>> open(coreinspect::Inspection& inspection, ProfilePlan plan,
                                                    Rotation rotation, sampling::ProfileHead head);

  sampling::ProfileOutput& output() { return *output_; }
  // Whether it is time for the next file.
  bool is_due() const;
  // Ends the file, begins the next, and removes those that are too old. `lost`: samples since the beginning of the
  // profile.
  Result<> rotate(std::uint64_t lost);
  Result<> finish(std::uint64_t lost);

 private:
  ProfileFiles(coreinspect::Inspection& inspection, ProfilePlan plan, Rotation rotation, sampling::ProfileHead head)
      : inspection_(inspection), plan_(std::move(plan)), rotation_(rotation), head_(std::move(head)) {}
  Result<> begin();
  Result<> end(std::uint64_t lost);
  std::string ending() const;
  std::string new_name() const;

  coreinspect::Inspection& inspection_;
  const ProfilePlan plan_;
  const Rotation rotation_;
  sampling::ProfileHead head_;
  std::unique_ptr<sampling::ProfileOutput> output_;
  std::uint64_t began_ = 0, lost_before_ = 0;  // CLOCK_MONOTONIC, ns
};

}  // namespace jtrace::cli
