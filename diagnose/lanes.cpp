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
  milliseconds origin{};                   // of Step::not_before, since the start of all lanes
  bool ended = false;
  bool left_behind = false;
};

// Shared by the lanes; abandoned lanes keep it alive.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<LaneState> lanes;
  Clock::time_point start = Clock::now();
  milliseconds total{};
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
  if (step.starts_anew) lane.origin = std::min(since(board.start), *step.starts_anew);
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
    const auto begin = board->start + lane.origin + lane.steps[lane.at].not_before;
    if (board->changed.wait_until(lock, begin, [&] { return lane.ended; })) return;
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

void abandon(Board& board, LaneState& lane, const std::string& time) {
  if (!lane.began) return board.skip_rest(lane, "not begun within " + time);
  const Step& step = lane.steps[lane.at];
  board.collected.left_behind = lane.left_behind = true;
  board.record(step, since(*lane.began), "no answer within " + time);
  ++lane.at;
  board.skip_rest(lane, "not begun: " + step.name + " did not answer");
}

// Abandons lanes that exceed their budget. Returns the next deadline.
Clock::time_point watch(Board& board) {
  const auto ms = [](milliseconds time) { return std::to_string(time.count()) + " ms"; };
  const auto end = board.start + board.total, now = Clock::now();
  auto next = end;
  for (LaneState& lane : board.lanes) {
    if (lane.ended) continue;
    const milliseconds budget = lane.steps[lane.at].budget;
    if (now >= end) abandon(board, lane, "the " + ms(board.total) + " for everything");
    else if (lane.began && now >= *lane.began + budget) abandon(board, lane, "its " + ms(budget));
    else if (lane.began) next = std::min(next, *lane.began + budget);
  }
  return next;
}

}  // namespace

LanesEnd run_lanes(std::vector<Lane> lanes, milliseconds total, Collected& collected) {
  const auto board = std::make_shared<Board>();
  board->total = total;
  board->collected = std::move(collected);
  for (Lane& lane : lanes) board->lanes.push_back({.steps = std::move(lane)});
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < board->lanes.size(); ++i) threads.emplace_back(work, board, i);
  std::unique_lock lock(board->mutex);
  while (!board->all_ended()) {
    const auto next = watch(*board);
    if (!board->all_ended()) board->changed.wait_until(lock, next);
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
