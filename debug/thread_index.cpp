#include "debug/thread_index.h"

#include <algorithm>
#include <set>
#include <utility>

#include "coreinspect/oops/java_collections.h"

namespace jtrace::debug {
namespace {

using coreinspect::Frame;

constexpr int kDepthBits = 20;  // walks end after 20,000 frames
constexpr std::size_t kMaxDepth = 1000;
constexpr std::uint32_t kMaxGroups = 65536;

// JavaThread::is_hidden_from_external_view() of 8 to 27, by name: nothing else identifies these threads.
bool is_hidden(const coreinspect::ThreadReport& report) {
  const std::string& name = report.java.name;
  if (!report.java.daemon || !report.walk.frames.empty()) return false;
  for (const char* hidden : {"Service Thread", "Monitor Deflation Thread", "StringDedupProcessor"})
    if (name == hidden) return true;
  return name.starts_with("C1 CompilerThread") || name.starts_with("C2 CompilerThread") ||
         name.starts_with("JVMCI CompilerThread") || name == "Sweeper thread" || name == "C1 Compiler Thread";
}

std::vector<const Frame*> java_frames(const coreinspect::Walk& walk) {
  std::vector<const Frame*> frames;
  for (const Frame& frame : walk.frames)
    if (frame.method != nullptr) frames.push_back(&frame);
  return frames;
}

}  // namespace

// java.lang.Thread.State's bits (javaThreadStatus.hpp; JVMTI_THREAD_STATE_*): sleeping, blocked, waiting.
std::uint32_t ThreadIndex::status_of(std::uint32_t status) {
  constexpr std::uint32_t kAlive = 1, kSleeping = 0x40, kWaiting = 0x80, kBlocked = 0x400;
  if ((status & kAlive) == 0) return 0;
  if ((status & kSleeping) != 0) return 2;
  if ((status & kBlocked) != 0) return 3;
  return (status & kWaiting) != 0 ? 4 : 1;
}

ThreadIndex::ThreadIndex(const coreinspect::Inspection& inspection, coreinspect::ThreadSnapshot snapshot)
    : inspection_(inspection), snapshot_(std::move(snapshot)) {
  const auto* core = inspection.target().core();
  const pid_t first = core && !core->threads().empty() ? core->threads().front().tid : 0;
  for (const auto& report : snapshot_.threads) {
    add(report);
    if (first != 0 && report.native_id == first) crashed_ = report.java.object;
  }
  if (!snapshot_.virtual_threads.empty()) group_of_virtual_threads_ = group_of_virtual_threads();
  for (const auto& thread : snapshot_.virtual_threads) add(thread);
  index_objects();
}

// The threads by their objects, and the groups.
void ThreadIndex::index_objects() {
  by_object_.clear();
  groups_.clear();
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i].object != 0) by_object_.emplace(threads_[i].object, i);
  for (const DebugThread& thread : threads_) (void)groups_of(thread);
}

std::vector<Address> ThreadIndex::groups_of(const DebugThread& thread) {
  std::vector<Address> groups;
  for (Address at = thread.group; at != 0 && groups.size() < kMaxDepth; at = group(at).parent) groups.push_back(at);
  return groups;
}

// A JavaThread is freed when its thread ends, and another one may be at its address then.
void ThreadIndex::follow_objects() {
  const auto running = coreinspect::java_thread_addresses(inspection_.vm()).value_or(std::vector<Address>());
  const std::set<Address> keys(running.begin(), running.end());
  for (DebugThread& thread : threads_) {
    thread.object = thread.group = 0;
    if (thread.is_virtual || !keys.contains(thread.key)) continue;
    const auto java = coreinspect::read_java_thread_once(inspection_.objects(), thread.key);
    if (java.object == 0 || java.native_id != thread.native_id) continue;
    if (thread.id != 0 && java.id != thread.id) continue;
    thread.object = java.object;
    thread.group = group_of(java.object);
  }
  index_objects();
}

Address ThreadIndex::group_of(Address thread) const {
  const auto& objects = inspection_.objects();
  const auto holder = objects.reference(thread, "holder");  // JDK 19 and later
  return objects.reference(holder && *holder != 0 ? *holder : thread, "group").value_or(0);
}

// That of all virtual threads (JVMTI GetThreadInfo): JDK 21 and later.
Address ThreadIndex::group_of_virtual_threads() const {
  const auto constants = inspection_.classes().find("java/lang/Thread$Constants");
  if (!constants || constants->empty()) return 0;
  return coreinspect::static_reference(inspection_.objects(), constants->front(), "VTHREAD_GROUP").value_or(0);
}

// It runs a virtual thread, whose frames are its innermost ones.
bool ThreadIndex::carries(Address thread) const {
  return std::any_of(snapshot_.virtual_threads.begin(), snapshot_.virtual_threads.end(),
                     [&](const auto& each) { return each.mounted && each.carrier == thread; });
}

void ThreadIndex::add(const coreinspect::ThreadReport& report) {
  if (report.java.address == 0 || report.java.object == 0 || is_hidden(report)) return;
  DebugThread thread{.object = report.java.object, .key = report.java.address, .native_id = report.java.native_id};
  if (report.java.problem.empty()) thread.id = report.java.id;
  thread.name = report.java.name;
  thread.status = status_of(report.java.status);
  thread.group = group_of(thread.object);
  thread.frames = java_frames(report.walk);
  if (carries(thread.object)) {
    const auto below = std::find_if(thread.frames.begin(), thread.frames.end(), [](const Frame* frame) {
      return coreinspect::is_of_continuation(frame->method, "run");
    });
    thread.frames.erase(thread.frames.begin(), below);
  }
  if (thread.status != 0) threads_.push_back(std::move(thread));  // one that ends has no group any more
}

void ThreadIndex::add(const coreinspect::VirtualThread& report) {
  DebugThread thread{.object = report.object, .key = report.object};
  thread.name = report.name;
  thread.is_virtual = true;
  thread.group = group_of_virtual_threads_;
  const std::string_view state = report.state();
  thread.status = state == "TERMINATED" ? 0 : state == "RUNNABLE" ? 1 : state == "BLOCKED" ? 3 : 4;
  thread.frames = java_frames(report.walk);
  threads_.push_back(std::move(thread));
}

const DebugThread* ThreadIndex::find(Address object) const {
  const auto known = by_object_.find(object);
  return known == by_object_.end() ? nullptr : &threads_[known->second];
}

const DebugThread* ThreadIndex::first_to_show() const {
  const auto with_frames = [](const DebugThread& thread) { return !thread.is_virtual && !thread.frames.empty(); };
  if (const DebugThread* crashed = find(crashed_); crashed && with_frames(*crashed)) return crashed;
  for (const DebugThread& thread : threads_)
    if (with_frames(thread) && thread.name == "main") return &thread;
  const auto first = std::find_if(threads_.begin(), threads_.end(), with_frames);
  if (first != threads_.end()) return &*first;
  return threads_.empty() ? nullptr : &threads_.front();
}

const ThreadIndex::Group& ThreadIndex::group(Address object) {
  const auto [known, is_new] = groups_.try_emplace(object);
  Group& group = known->second;
  if (!is_new) return group;
  const auto& objects = inspection_.objects();
  group.object = object;
  group.name = objects.text_field(object, "name").value_or("");
  group.parent = objects.reference(object, "parent").value_or(0);
  const auto array = objects.reference(object, "groups");
  const auto count = objects.value<std::int32_t>(object, "ngroups");
  if (!array || *array == 0 || !count || *count <= 0) return group;
  const std::uint32_t length = objects.array_length(*array).value_or(0);
  for (std::uint32_t i = 0; i < std::min({length, static_cast<std::uint32_t>(*count), kMaxGroups}); ++i)
    if (const Address child = objects.element(*array, i).value_or(0); child != 0) group.groups.push_back(child);
  return group;
}

std::vector<Address> ThreadIndex::top_groups() const {
  std::vector<Address> top;
  for (const auto& [object, group] : groups_)
    if (group.parent == 0) top.push_back(object);
  return top;
}

Id ThreadIndex::frame_id(const DebugThread& thread, std::size_t depth) const {
  const auto place = static_cast<Id>(&thread - threads_.data());
  return (place + 1) << kDepthBits | depth;
}

std::optional<std::size_t> ThreadIndex::depth_of(const DebugThread& thread, Id frame) const {
  const std::size_t depth = frame & ((1u << kDepthBits) - 1);
  if (frame_id(thread, depth) != frame || depth >= thread.frames.size()) return std::nullopt;
  return depth;
}

const coreinspect::LockFacts& ThreadIndex::locks() {
  if (!locks_) locks_.emplace(inspection_, snapshot_);
  return *locks_;
}

// A thread in Object.wait still has the object in its frame's list, and a thread that was notified wants it again.
ThreadIndex::Owned ThreadIndex::owned(const DebugThread& thread) {
  const coreinspect::Wait* wait = locks().wait_of(thread.key);
  const Address waits_on = wait != nullptr && wait->kind != "park" ? wait->object : 0;
  Owned owned;
  for (std::size_t depth = 0; depth < thread.frames.size(); ++depth)
    for (const Address lock : thread.frames[depth]->locks)
      if (lock != waits_on) owned.emplace_back(lock, depth);
  return owned;
}

}  // namespace jtrace::debug
