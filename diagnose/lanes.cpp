#include "diagnose/lanes.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace jtrace::diagnose {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

milliseconds since(Clock::time_point then) { return std::chrono::duration_cast<milliseconds>(Clock::now() - then); }

struct LaneState {
  Lane steps;
  std::size_t at = 0;
  std::optional<Clock::time_point> began;  // of the step that runs
  bool ended = false;
  bool left_behind = false;
};

// Shared by the lanes; abandoned lanes keep it alive.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<LaneState> lanes;
  Clock::time_point start = Clock::now();
  Collected collected;
  std::optional<Error> needed;

  bool all_ended() const {
    return std::all_of(lanes.begin(), lanes.end(), [](const LaneState& lane) { return lane.ended; });
  }
  void record(const Step& step, milliseconds used, std::string problem) {
    collected.steps.push_back({step.name, step.budget, used, std::move(problem)});
  }
  void skip_rest(LaneState& lane, const std::string& why) {
    for (; lane.at < lane.steps.size(); ++lane.at) record(lane.steps[lane.at], milliseconds(0), why);
    lane.ended = true;
    changed.notify_all();
  }
};

void take_outcome(Board& board, LaneState& lane, Result<Publish> outcome) {
  const Step& step = lane.steps[lane.at];
  board.record(step, since(*lane.began), outcome ? "" : outcome.error().message());
  lane.began.reset();
  ++lane.at;
  if (outcome) (*outcome)(board.collected);
  else if (step.needed) {
    if (!board.needed) board.needed = outcome.error();
    board.skip_rest(lane, "not begun: " + step.name + " failed");
  }
}

void work(const std::shared_ptr<Board>& board, std::size_t index) {
  std::unique_lock lock(board->mutex);
  LaneState& lane = board->lanes[index];
  while (lane.at < lane.steps.size()) {
    const auto run = lane.steps[lane.at].run;
    const auto begin = board->start + lane.steps[lane.at].not_before;
    lock.unlock();
    std::this_thread::sleep_until(begin);
    lock.lock();
    lane.began = Clock::now();
    board->changed.notify_all();
    lock.unlock();
    auto outcome = run();
    lock.lock();
    if (lane.ended) return;  // its thread was detached
    take_outcome(*board, lane, std::move(outcome));
  }
  lane.ended = true;
  board->changed.notify_all();
}

// Abandons lanes that exceed their budget. Returns the next deadline; nothing if no step runs.
std::optional<Clock::time_point> watch(Board& board) {
  std::optional<Clock::time_point> next;
  for (LaneState& lane : board.lanes) {
    if (lane.ended || !lane.began) continue;
    const Step& step = lane.steps[lane.at];
    const auto deadline = *lane.began + step.budget;
    if (Clock::now() < deadline) {
      next = next ? std::min(*next, deadline) : deadline;
      continue;
    }
    board.collected.left_behind = lane.left_behind = true;
    board.record(step, since(*lane.began), "no answer within its " + std::to_string(step.budget.count()) + " ms");
    ++lane.at;
    board.skip_rest(lane, "not begun: " + step.name + " did not answer");
  }
  return next;
}

}  // namespace

LanesEnd run_lanes(std::vector<Lane> lanes, Collected& collected) {
  const auto board = std::make_shared<Board>();
  board->collected = std::move(collected);
  for (Lane& lane : lanes) board->lanes.push_back({.steps = std::move(lane)});
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < board->lanes.size(); ++i) threads.emplace_back(work, board, i);
  std::unique_lock lock(board->mutex);
  while (!board->all_ended()) {
    const auto next = watch(*board);
    if (board->all_ended()) break;
    if (next) board->changed.wait_until(lock, *next);
    else board->changed.wait(lock);
  }
  collected = std::move(board->collected);
  lock.unlock();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (board->lanes[i].left_behind) threads[i].detach();
    else threads[i].join();
  }
  return {std::move(board->needed)};
}

}  // namespace jtrace::diagnose
