// ProfileFiles: the output of `jtrace profile`: one file, or a new one at an interval, of which those of the last time
// are kept. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sampling/profile_output.h"

namespace jtrace::sampling {

struct Rotation {
  std::uint64_t every = 0;  // ns; 0: one file
  std::uint64_t keep = 0;   // ns; 0: all
};

// What is known of a profile at the end of a file.
struct ProfileEnd {
  std::uint64_t lost = 0;  // samples since the beginning of the profile
  std::string no_wakers;   // as in ProfileHead
  std::vector<std::string> missing;
};

class ProfileFiles {
 public:
  using OpenOutput = std::function<Result<std::unique_ptr<ProfileOutput>>(const std::string& path)>;

  // `output`: the path that was asked for. `head`: of each file, with its own start and length.
  static Result<std::unique_ptr<ProfileFiles>> open(std::string output, OpenOutput open_output, Rotation rotation,
                                                    ProfileHead head);

  ProfileOutput& output() { return *output_; }
  // Whether it is time for the next file.
  bool is_due() const;
  // Ends the file, begins the next, and removes those that are too old.
  Result<> rotate(ProfileEnd last);
  Result<> finish(ProfileEnd last);

 private:
  ProfileFiles(std::string output, OpenOutput open_output, Rotation rotation, ProfileHead head)
      : path_(std::move(output)), open_output_(std::move(open_output)), rotation_(rotation), head_(std::move(head)) {}
  Result<> begin();
  Result<> end(ProfileEnd end);
  std::string ending() const;
  std::string new_name() const;

  const std::string path_;
  const OpenOutput open_output_;
  const Rotation rotation_;
  ProfileHead head_;
  std::unique_ptr<ProfileOutput> output_;
  std::uint64_t began_ = 0, lost_before_ = 0;  // CLOCK_MONOTONIC, ns
};

}  // namespace jtrace::sampling
