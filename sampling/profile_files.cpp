#include "sampling/profile_files.h"

#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "sampling/rotated_names.h"

namespace jtrace::sampling {

std::string ProfileFiles::ending() const {
  for (const char* ending : {".speedscope.json", ".pb.gz"})
    if (path_.ends_with(ending)) return ending;
  return std::filesystem::path(path_).extension().string();
}

Result<std::unique_ptr<ProfileFiles>> ProfileFiles::open(std::string output, OpenOutput open_output, Rotation rotation,
                                                         ProfileHead head) {
  std::unique_ptr<ProfileFiles> files(
      new ProfileFiles(std::move(output), std::move(open_output), rotation, std::move(head)));
  JTRACE_RETURN_IF_ERROR(files->begin());
  return files;
}

// The clock may have been set back: a file that is there stays.
std::string ProfileFiles::new_name() const {
  std::error_code failed;
  for (std::uint64_t time = head_.start;; time += kNanosPerSecond) {
    std::string name = rotated_name(path_, ending(), time);
    if (!std::filesystem::exists(name, failed)) return name;
  }
}

Result<> ProfileFiles::begin() {
  began_ = monotonic_ns();
  head_.start = realtime_ns();
  JTRACE_ASSIGN_OR_RETURN(output_, open_output_(rotation_.every == 0 ? path_ : new_name()));
  return {};
}

Result<> ProfileFiles::end(ProfileEnd end) {
  head_.elapsed = monotonic_ns() - began_;
  head_.lost = end.lost - lost_before_;
  lost_before_ = end.lost;
  head_.no_wakers = std::move(end.no_wakers);
  head_.missing = std::move(end.missing);
  return output_->finish(head_);
}

bool ProfileFiles::is_due() const { return rotation_.every != 0 && monotonic_ns() - began_ >= rotation_.every; }

Result<> ProfileFiles::rotate(ProfileEnd last) {
  JTRACE_RETURN_IF_ERROR(end(std::move(last)));
  if (rotation_.keep != 0) {
    // The name has the time at which the file begins; the age counts from its end.
    const std::uint64_t age = rotation_.keep + rotation_.every, now = realtime_ns();
    for (const std::string& old : rotated_before(path_, ending(), now > age ? now - age : 0)) {
      std::error_code failed;
      if (!std::filesystem::remove(old, failed) && failed)
        log_warning("cannot remove " + old + ": " + failed.message());
    }
  }
  return begin();
}

Result<> ProfileFiles::finish(ProfileEnd last) { return end(std::move(last)); }

}  // namespace jtrace::sampling
