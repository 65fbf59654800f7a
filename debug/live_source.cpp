#include <thread>

#include "debug/source.h"
#include "debug/source_parts.h"

namespace jtrace::debug {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Sight = coreinspect::CollectionWatch::Sight;

constexpr int kTries = 3;  // to take the stacks, and to answer a command, between two collections
constexpr std::chrono::seconds kLongestCollection{10};

}  // namespace

Result<> LiveSource::available() const { return check_runs(*inspection_.target().process()); }

Result<> LiveSource::check(const coreinspect::Inspection& inspection) {
  const coreinspect::CollectionWatch watch(inspection);
  if (watch.moves_meanwhile())
    return fail(ErrorCategory::kRefused,
                "--no-stop cannot be used: " + inspection.vm().collector_text() +
                    " moves objects while the program runs, so that no reference would stay right",
                "without --no-stop the debugger gets a copy; --hold stops the JVM while it is connected");
  if (!watch.can_see())
    return fail(ErrorCategory::kRefused,
                "--no-stop cannot be used: this JVM does not tell when its collector moves objects",
                "without --no-stop the debugger gets a copy");
  return {};
}

Result<> LiveSource::take() {
  JTRACE_RETURN_IF_ERROR(read_anew(inspection_));
  watch_.emplace(inspection_);
  for (const auto until = steady_clock::now() + kLongestCollection;
       watch_->look() == Sight::kRuns && steady_clock::now() < until;)
    std::this_thread::sleep_for(milliseconds(1));
  runs_ = unloaded_ = false;
  const auto unloaded = World::unloaded_classes(inspection_);
  JTRACE_ASSIGN_OR_RETURN(auto snapshot, coreinspect::take_thread_snapshot(
                                             inspection_, {.max_stop = snapshot_.max_stop, .details = false}));
  world_ = std::make_unique<World>(inspection_, std::move(snapshot), options_);
  world_->let_run(unloaded);
  return {};
}

Result<World*> LiveSource::begin() {
  told_of_moves_ = told_of_classes_ = false;
  options_.name = "process " + std::to_string(inspection_.target().process()->pid()) + ", which runs: its stacks at " +
                  time_of_day() + ", its objects as they are when asked for";
  // Where collections follow each other closely, the stacks come without their references.
  for (int tries = 1; tries <= kTries; ++tries) {
    JTRACE_RETURN_IF_ERROR(take());
    if (is_settled()) break;
  }
  const auto& snapshot = world_->threads().snapshot();
  snapshot_.say("the JVM was stopped for " + stop_text(snapshot.pause) +
                " and runs: the debugger sees its stacks of that moment, and objects as they are when it asks");
  if (snapshot.batches > 1)
    snapshot_.say("missing: the threads were stopped in " + std::to_string(snapshot.batches) +
                  " groups, one after the other: --max-stop");
  for (const std::string& line : world_->missing()) snapshot_.say("missing: " + line);
  if (!world_->tells_of_unloading())
    snapshot_.say(
        "missing: classes of the program's own class loaders: without performance counters (-XX:-UsePerfData) this JVM "
        "does not tell when it unloads them");
  tell();
  return world_.get();
}

// What has happened since the stop, once.
void LiveSource::tell() {
  const auto say = [&](bool has_happened, bool& told, const char* line) {
    if (has_happened && !std::exchange(told, true)) snapshot_.say(line);
  };
  say(world_->objects_have_moved() || runs_, told_of_moves_,
      "a collection has moved objects: the debugger must get its references anew, and those in frames are lost");
  say(unloaded_, told_of_classes_,
      "classes were unloaded: those of the program's own class loaders are not shown any more, and may be others by "
      "now; a debugger that connects anew sees them");
}

// Whether no collection has begun and no class was unloaded since the last look. Otherwise, once it has ended, finds
// the threads' objects anew.
bool LiveSource::is_settled() {
  switch (world_->drop_unloaded_classes()) {
    case World::Unloading::kNone: break;
    case World::Unloading::kSome: unloaded_ = true; return false;
    case World::Unloading::kUnknown:
      std::this_thread::sleep_for(milliseconds(1));
      return !check_runs(*inspection_.target().process());  // of a JVM that has ended nothing changes
  }
  const Sight sight = watch_->look();
  if (sight == Sight::kNone && !runs_) return true;
  runs_ = sight == Sight::kRuns;
  if (!runs_) world_->follow_objects();  // and the caller looks again: another one may have begun
  return false;
}

// Waits for the end of a collection that runs. False: it takes too long.
bool LiveSource::catch_up() {
  for (const auto until = steady_clock::now() + kLongestCollection; steady_clock::now() < until;) {
    if (is_settled()) return true;
    tell();
    if (runs_) std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

std::string LiveSource::answer(World& world, Client& client, const CommandHeader& header,
                               std::span<const std::byte> body) {
  for (int tries = 0; tries < kTries && catch_up(); ++tries) {
    world.refresh();
    std::string reply = debug::answer(world, client, header, body);
    const bool settled = is_settled();
    tell();
    if (settled) return reply;
  }
  return reply_packet(header.id, JdwpError::kInternal, {});
}

std::string LiveSource::is_over() {
  return check_runs(*inspection_.target().process()) ? std::string() : "the JVM has ended";
}

}  // namespace jtrace::debug
