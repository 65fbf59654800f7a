// Where a debugger's World comes from: a core, which stays as it is; a live JVM, of which each client gets a copy; one
// that is held while a client looks; or one that runs on.
//
// A copy is of one moment: all threads are stopped while the memory is copied, and run again before the client gets its
// first answer. It is a core in memory, so nothing is read of the JVM after that.
// A held JVM is stopped from the client's handshake until the client has left, its time is over, or this process
// dies: the kernel then continues it (PTRACE_SEIZE). It is never stopped within a collection. Borrows the inspection.
// Of one that runs on, all threads are stopped while their stacks are copied; objects are read when they are asked for.
// A collection moves them: what a client was given before is then answered as collected (error 20), never with another
// object, as long as the program can reach its own. A command during which one runs is answered again after it.
// Threads: one, the same from begin() to end() (ptrace(2)).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "coreinspect/gc/heap_stop.h"
#include "coreinspect/model/collection_watch.h"
#include "debug/command.h"

namespace jtrace::debug {

using Say = std::function<void(const std::string& line)>;

class Source {
 public:
  virtual ~Source() = default;
  // kNotFound: the target has ended, so that there is nothing for another client.
  virtual Result<> available() const { return {}; }
  // After a client's handshake.
  virtual Result<World*> begin() = 0;
  virtual void end() = 0;  // when it has left
  // The whole reply to a command.
  virtual std::string answer(World& world, Client& client, const CommandHeader& header,
                             std::span<const std::byte> body) {
    return debug::answer(world, client, header, body);
  }
  // Whether the client must leave; "" or why.
  virtual std::string is_over() = 0;
  // Of a target that stays as it is: what could not be seen of it until now.
  virtual std::vector<std::string> missing() const { return {}; }
};

// kNotFound: it has ended, all of its threads.
Result<> check_runs(const target::Process& process);

class CoreSource final : public Source {
 public:
  static Result<std::unique_ptr<CoreSource>> open(coreinspect::Inspection& inspection, const WorldOptions& options);
  Result<World*> begin() override { return world_.get(); }
  void end() override {}
  std::string is_over() override { return {}; }
  std::vector<std::string> missing() const override { return world_->missing(); }

 private:
  CoreSource() = default;
  std::unique_ptr<World> world_;
};

struct SnapshotOptions {
  std::chrono::milliseconds max_stop{200};
  Say say;
};

class SnapshotSource final : public Source {
 public:
  // Borrows the process.
  SnapshotSource(const target::Process& process, const WorldOptions& options, SnapshotOptions snapshot)
      : process_(process), options_(options), snapshot_(std::move(snapshot)) {}
  Result<> available() const override;
  Result<World*> begin() override;
  void end() override;
  std::string is_over() override { return {}; }

 private:
  Result<> take();

  const target::Process& process_;
  WorldOptions options_;
  const SnapshotOptions snapshot_;
  UniqueFd core_;
  std::unique_ptr<coreinspect::Inspection> inspection_;
  std::unique_ptr<World> world_;
};

struct HoldOptions {
  std::chrono::seconds most{600};  // that the target is held at a time
  Say say;                         // at once, every 30 s, and at the end
};

class HoldSource final : public Source {
 public:
  HoldSource(coreinspect::Inspection& inspection, const WorldOptions& options, HoldOptions hold)
      : inspection_(inspection), options_(options), hold_(std::move(hold)) {}
  ~HoldSource() override { HoldSource::end(); }
  Result<> available() const override;
  Result<World*> begin() override;
  void end() override;
  std::string is_over() override;

 private:
  coreinspect::Inspection& inspection_;
  const WorldOptions options_;
  const HoldOptions hold_;
  std::optional<coreinspect::HeapStop> stop_;
  std::unique_ptr<World> world_;
  std::chrono::steady_clock::time_point begun_{}, told_{};
};

class LiveSource final : public Source {
 public:
  // kRefused for a collector that moves objects while the program runs.
  static Result<> check(const coreinspect::Inspection& inspection);
  LiveSource(coreinspect::Inspection& inspection, const WorldOptions& options, SnapshotOptions snapshot)
      : inspection_(inspection), options_(options), snapshot_(std::move(snapshot)) {}
  Result<> available() const override;
  Result<World*> begin() override;
  void end() override { world_.reset(); }
  std::string answer(World& world, Client& client, const CommandHeader& header,
                     std::span<const std::byte> body) override;
  std::string is_over() override;

 private:
  Result<> take();
  bool is_settled();
  bool catch_up();
  void tell();

  coreinspect::Inspection& inspection_;
  WorldOptions options_;
  const SnapshotOptions snapshot_;
  std::optional<coreinspect::CollectionWatch> watch_;
  std::unique_ptr<World> world_;
  bool runs_ = false;      // a collection, at the last look
  bool unloaded_ = false;  // classes, since the stop
  bool told_of_moves_ = false, told_of_classes_ = false;
};

}  // namespace jtrace::debug
