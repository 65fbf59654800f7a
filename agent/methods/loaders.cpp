#include "agent/methods/loaders.h"

#include "agent/jvm_support.h"

namespace jtrace::agent {

bool Loaders::start(JNIEnv* jni) {
  jclass loader_class = jni->FindClass("java/lang/ClassLoader");
  if (loader_class != nullptr) parent_ = jni->GetFieldID(loader_class, "parent", "Ljava/lang/ClassLoader;");
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (loader_class != nullptr) jni->DeleteLocalRef(loader_class);
  all_.clear();
  all_.emplace_back().serial = next_serial_++;
  return parent_ != nullptr;
}

void Loaders::clear(JNIEnv* jni) {
  for (Loader& each : all_) drop(jni, each);
  all_ = {};
  free_ = {};
  by_hash_ = {};
  by_name_ = {};
  watches = {};
  cursor_ = 0;
}

std::uint32_t Loaders::place_of(JNIEnv* jni, jobject loader) { return place_of(jni, loader, 0); }

std::uint32_t Loaders::place_of(JNIEnv* jni, jobject loader, int depth) {
  if (loader == nullptr || depth == kMostParents) return kBoot;
  jint identity = 0;
  jvmti_->GetObjectHashCode(loader, &identity);
  const std::uint64_t hash = std::uint64_t{static_cast<std::uint32_t>(identity)} + 1;
  for (std::uint32_t node = by_hash_.first(hash); node != 0; node = by_hash_.next(node))
    if (jni->IsSameObject(all_[by_hash_.value(node)].reference, loader)) return by_hash_.value(node);
  jobject parent = jni->GetObjectField(loader, parent_);
  const std::uint32_t parent_place = place_of(jni, parent, depth + 1);
  if (parent != nullptr) jni->DeleteLocalRef(parent);
  return parent_place == kNone ? kNone : add(jni, loader, hash, parent_place);
}

std::uint32_t Loaders::add(JNIEnv* jni, jobject loader, std::uint64_t hash, std::uint32_t parent) {
  const jweak reference = jni->NewWeakGlobalRef(loader);
  if (reference == nullptr) {
    jni->ExceptionClear();
    return kNone;
  }
  sweep(jni);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(all_.size()));
    all_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  Loader& made = all_[place];
  made.reference = reference;
  made.serial = next_serial_++;
  made.node = by_hash_.add(hash, place);
  made.parent = parent;
  return place;
}

void Loaders::sweep(JNIEnv* jni) {
  for (int i = 0; i < 2; ++i) {
    cursor_ = cursor_ + 1 < all_.size() ? cursor_ + 1 : 0;
    Loader& each = all_[cursor_];
    if (each.reference == nullptr || !is_gone(jni, cursor_)) continue;
    drop(jni, each);
    free_.push_back(cursor_);
  }
}

void Loaders::drop(JNIEnv* jni, Loader& loader) {
  loader.classes.for_each([&](std::uint64_t, const Loader::Class& each) { drop_class(jni, each); });
  for (WaitingCallees& each : loader.waiting) drop_watches(each);
  if (loader.reference != nullptr) {
    by_hash_.remove(loader.node);
    jni->DeleteWeakGlobalRef(loader.reference);
  }
  loader = {};
}

void Loaders::drop_class(JNIEnv* jni, const Loader::Class& klass) {
  by_name_.remove(klass.node);
  jni->DeleteWeakGlobalRef(klass.klass);
}

// Classes with a loader of their own (anonymous classes of JDK 8 to 16) are put before it.
void Loaders::sweep_classes(JNIEnv* jni, Loader& loader) {
  MapById<Loader::Class> kept;
  loader.classes.for_each([&](std::uint64_t name, const Loader::Class& each) {
    if (jni->IsSameObject(each.klass, nullptr)) drop_class(jni, each);
    else kept.put(name, each);
  });
  loader.classes = static_cast<MapById<Loader::Class>&&>(kept);
  loader.classes_limit = loader.classes.size() < 32 ? 64 : loader.classes.size() * 2;
}

void Loaders::add_class(JNIEnv* jni, std::uint32_t place, std::uint64_t name, jclass klass) {
  Loader& loader = all_[place];
  const Loader::Class before = loader.classes.find(name);
  if (before.klass != nullptr && jni->IsSameObject(before.klass, klass)) return;
  const jweak reference = jni->NewWeakGlobalRef(klass);
  if (reference == nullptr) return jni->ExceptionClear();
  if (before.klass != nullptr) drop_class(jni, before);
  else if (loader.classes.size() >= loader.classes_limit) sweep_classes(jni, loader);
  loader.classes.put(name, {reference, by_name_.add(name, place)});
}

jclass Loaders::find_class(JNIEnv* jni, std::uint32_t place, std::uint64_t name) {
  Loader& loader = all_[place];
  const Loader::Class found = loader.classes.find(name);
  if (found.klass == nullptr) return nullptr;
  auto klass = static_cast<jclass>(jni->NewLocalRef(found.klass));
  if (klass != nullptr) return klass;
  drop_class(jni, found);
  loader.classes.erase(name);
  return nullptr;
}

// Drops unloaded loaders until it has met two that are alive.
jclass Loaders::only_class(JNIEnv* jni, std::uint64_t name) {
  jclass only = nullptr;
  for (std::uint32_t node = by_name_.first(name); node != 0;) {
    const std::uint32_t place = by_name_.value(node);
    node = by_name_.next(node);
    jclass klass = find_class(jni, place, name);
    if (klass == nullptr) continue;
    if (only == nullptr) {
      only = klass;
      continue;
    }
    jni->DeleteLocalRef(klass);
    jni->DeleteLocalRef(only);
    return nullptr;
  }
  return only;
}

WaitingCallees* Loaders::find_waiting(std::uint32_t place, std::uint64_t owner) {
  Loader& loader = all_[place];
  const std::uint32_t at = loader.waiting_for.find(owner);
  return at == 0 ? nullptr : &loader.waiting[at - 1];
}

WaitingCallees& Loaders::add_waiting(std::uint32_t place, std::uint64_t owner) {
  Loader& loader = all_[place];
  loader.waiting.emplace_back().owner = owner;
  loader.waiting_for.put(owner, static_cast<std::uint32_t>(loader.waiting.size()));
  return loader.waiting.back();
}

void Loaders::drop_waiting(std::uint32_t place, std::uint64_t owner) {
  Loader& loader = all_[place];
  const std::uint32_t at = loader.waiting_for.find(owner);
  if (at == 0) return;
  drop_watches(loader.waiting[at - 1]);
  if (at != loader.waiting.size()) {
    loader.waiting[at - 1] = static_cast<WaitingCallees&&>(loader.waiting.back());
    loader.waiting_for.put(loader.waiting[at - 1].owner, at);
  }
  loader.waiting.pop_back();
  loader.waiting_for.erase(owner);
}

void Loaders::drop_watches(WaitingCallees& waiting) {
  for (const std::uint32_t node : waiting.watches) watches.remove(node);
  waiting.watches.clear();
}

}  // namespace jtrace::agent
