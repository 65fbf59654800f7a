#include "tests/testlib/line_collector.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace jtrace::test {

LineCollector::LineCollector(UniqueFd fd) : fd_(std::move(fd)), reader_([this] { read_all(); }) {}

LineCollector::~LineCollector() { reader_.join(); }

void LineCollector::read_all() {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    const std::lock_guard lock(mutex_);
    if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
    ended_ = count <= 0;
    changed_.notify_all();
    if (ended_) return;
  }
}

std::optional<std::string> LineCollector::take_line(std::string_view prefix) {
  for (std::size_t end; (end = text_.find('\n', taken_)) != std::string::npos;) {
    const std::string_view line = std::string_view(text_).substr(taken_, end - taken_);
    taken_ = end + 1;
    if (line.substr(0, prefix.size()) == prefix) return std::string(line);
  }
  return std::nullopt;
}

std::optional<std::string> LineCollector::wait_line(std::string_view prefix, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (auto line = take_line(prefix)) return line;
    if (ended_ || changed_.wait_until(lock, deadline) == std::cv_status::timeout) return take_line(prefix);
  }
}

void LineCollector::wait_end(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return ended_; });
}

std::string LineCollector::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

bool LineCollector::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

}  // namespace jtrace::test
