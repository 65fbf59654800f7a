// The strength of each object: what is reached by strong references first, then what the next weaker ones add.
//
// Each thread follows references from a list of its own, and gives half of it away if another has nothing to do. What
// is reached is the same in any order.
#include <array>
#include <condition_variable>
#include <mutex>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

class ObjectGraph::Marking {
 public:
  using Objects = std::vector<std::uint32_t>;

  explicit Marking(ObjectGraph& graph) : graph_(graph) { next_[0].assign(graph.roots_.begin(), graph.roots_.end()); }

  void run() {
    for (std::size_t now = 0; now + 1 < kStrengths; ++now) {
      now_ = static_cast<Strength>(now);
      Objects open;
      for (const std::uint32_t object : next_[now])
        if (meets(object)) open.push_back(object);
      Objects().swap(next_[now]);
      if (open.empty()) continue;
      idle_ = 0;
      is_done_ = false;
      given_.push_back(std::move(open));
      on_threads(graph_.threads_, [&] { work(); });
    }
  }

 private:
  static constexpr std::size_t kWorthGiving = 1024;
  struct Found {
    std::array<Objects, kStrengths> next;
    std::uint64_t lost = 0, unloaded = 0;
  };

  // True for the first thread that comes to the object.
  bool meets(std::uint32_t object) {
    auto& strength = graph_.strength_[object];
    if (graph_.threads_ == 1) return strength == Strength::kGarbage && (strength = now_, true);
    const std::atomic_ref shared(strength);
    Strength expected = Strength::kGarbage;
    return shared.load(std::memory_order_relaxed) == expected &&
           shared.compare_exchange_strong(expected, now_, std::memory_order_relaxed);
  }
  void work() {
    Objects open;
    Found found;
    while (take(open)) follow(open, found);
    const std::lock_guard lock(mutex_);
    graph_.lost_edges_ += found.lost;
    graph_.unloaded_ += found.unloaded;
    for (std::size_t i = 0; i < kStrengths; ++i)
      next_[i].insert(next_[i].end(), found.next[i].begin(), found.next[i].end());
  }
  void follow(Objects& open, Found& found) {
    while (!open.empty()) {
      if (is_hungry_.load(std::memory_order_relaxed) && open.size() >= kWorthGiving) give_half(open);
      const std::uint32_t from = open.back();
      const EdgeList edges = graph_.edges_of(from);
      std::uint64_t lost = 0;
      open.pop_back();
      for (std::uint32_t i = 0; i < edges.size(); ++i) {
        const Edge edge = edges.raw(i);
        lost += edge.lost ? 1 : 0;
        if (edge.target == kNoObject) continue;
        if (edge.by > now_) found.next[static_cast<std::size_t>(edge.by)].push_back(edge.target);
        else if (meets(edge.target)) open.push_back(edge.target);
      }
      if (lost > 0) (graph_.is_archive_table(from) ? found.unloaded : found.lost) += lost;
    }
  }
  void give_half(Objects& open) {
    const auto half = open.begin() + static_cast<std::ptrdiff_t>(open.size() / 2);
    const std::lock_guard lock(mutex_);
    given_.emplace_back(open.begin(), half);
    open.erase(open.begin(), half);
    is_hungry_ = false;
    changed_.notify_one();
  }
  // Waits until another gives something; false if all have nothing.
  bool take(Objects& open) {
    std::unique_lock lock(mutex_);
    ++idle_;
    is_done_ = is_done_ || (given_.empty() && idle_ == graph_.threads_);
    is_hungry_ = given_.empty();
    if (is_done_) changed_.notify_all();
    changed_.wait(lock, [&] { return is_done_ || !given_.empty(); });
    if (given_.empty()) return false;
    open = std::move(given_.back());
    given_.pop_back();
    --idle_;
    is_hungry_ = given_.empty() && idle_ > 0;
    return true;
  }

  ObjectGraph& graph_;
  Strength now_ = Strength::kStrong;
  std::array<Objects, kStrengths> next_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Objects> given_;
  unsigned idle_ = 0;
  bool is_done_ = false;
  std::atomic<bool> is_hungry_{false};
};

void ObjectGraph::find_strengths() {
  strength_.assign(size(), Strength::kGarbage);
  Marking(*this).run();
}

}  // namespace jtrace::coreinspect
