#include "agent/methods/class_numbers.h"

#include <cstring>

#include "agent/methods/mutex_lock.h"
#include "agent/methods/name_hash.h"
#include "agent/registry.h"

namespace jtrace::agent {
namespace {

using classfile::ClassFile;
using classfile::Method;

constexpr std::size_t kMostLoading = 10'000;

}  // namespace

Numbered ClassNumbers::of_redefined(JNIEnv* jni, const ClassFile& klass, jobject loader, std::uint64_t class_id) {
  Lock lock(lock_);
  const std::uint32_t at = index_.find(class_id);
  // A class that is being linked at this moment has its numbers already.
  const LoadingClass* loading = at != 0 ? nullptr : find_loading(jni, klass.name(), loader);
  const Numbered* before = at != 0 ? &numbered_[at - 1] : loading != nullptr ? &loading->numbers : nullptr;
  return number(klass, before, class_id);
}

const char* ClassNumbers::of_loading(JNIEnv* jni, const ClassFile& klass, jobject loader, Numbered& numbers) {
  Lock lock(lock_);
  if (loading_.size() >= kMostLoading) forget_unloaded(jni);
  if (loading_.size() >= kMostLoading) return "too many classes are loaded and not linked";
  const LoadingClass* before = find_loading(jni, klass.name(), loader);
  numbers = number(klass, before == nullptr ? nullptr : &before->numbers, 0);
  const bool differs = before != nullptr && before->numbers.first != numbers.first;
  return differs ? "two classes of its name are being loaded at a time" : nullptr;
}

// Drops the classes whose loader was unloaded before they were linked.
void ClassNumbers::forget_unloaded(JNIEnv* jni) {
  std::size_t kept = 0;
  for (LoadingClass& each : loading_) {
    if (each.loader != nullptr && jni->IsSameObject(each.loader, nullptr)) jni->DeleteWeakGlobalRef(each.loader);
    else if (&each == &loading_[kept]) ++kept;
    else loading_[kept++] = static_cast<LoadingClass&&>(each);
  }
  while (loading_.size() > kept) loading_.pop_back();
}

LoadingClass* ClassNumbers::find_loading(JNIEnv* jni, std::string_view name, jobject loader) {
  for (LoadingClass& each : loading_) {
    if (std::string_view(each.name.data(), each.name.size()) != name) continue;
    if (loader == nullptr ? each.loader == nullptr : each.loader != nullptr && jni->IsSameObject(each.loader, loader))
      return &each;
  }
  return nullptr;
}

Numbered ClassNumbers::number(const ClassFile& klass, const Numbered* before, std::uint64_t class_id) {
  Numbered made;
  for (const Method& method : klass.methods()) made.methods.push_back(hash_of(method.name, method.descriptor));
  if (before != nullptr && before->methods.size() == made.methods.size() &&
      std::memcmp(before->methods.data(), made.methods.data(), made.methods.size() * sizeof(std::uint64_t)) == 0) {
    made.first = before->first;
    made.class_id = before->class_id;
    made.kept = before->kept;
    return made;
  }
  for (std::size_t i = 0; class_id != 0 && before != nullptr && i < before->methods.size(); ++i)
    kept_.put(hash_in(class_id, before->methods[i]), before->number(i));
  number_anew(made, class_id);
  return made;
}

// A number for each method that has none yet.
void ClassNumbers::number_anew(Numbered& made, std::uint64_t class_id) {
  const std::size_t count = made.methods.size();
  std::vector<std::uint32_t> kept(count);
  std::uint32_t missing = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (class_id != 0) kept[i] = kept_.find(hash_in(class_id, made.methods[i]));
    missing += kept[i] == 0;
  }
  made.first = Registry::next_method_ids(missing);
  if (missing == count) return;
  std::uint32_t next = made.first;
  for (std::uint32_t& number : kept)
    if (number == 0) number = next++;
  made.kept = static_cast<std::vector<std::uint32_t>&&>(kept);
}

void ClassNumbers::store(const Numbered& numbers) {
  Lock lock(lock_);
  for (std::size_t i = 0; i < numbers.counted.size(); ++i) {
    if (!numbers.counted[i]) continue;
    const std::uint32_t number = numbers.number(i);
    if (number >= counted_.size()) counted_.resize(std::size_t{number} + 1);
    counted_[number] = true;
  }
  if (const std::uint32_t at = index_.find(numbers.class_id); at != 0) {
    numbered_[at - 1] = numbers;
    return;
  }
  numbered_.push_back(numbers);
  index_.put(numbers.class_id, static_cast<std::uint32_t>(numbered_.size()));
}

void ClassNumbers::add_loading(JNIEnv* jni, jobject loader, LoadingClass&& made) {
  Lock lock(lock_);
  LoadingClass* before = find_loading(jni, std::string_view(made.name.data(), made.name.size()), loader);
  if (before == nullptr) return loading_.push_back(static_cast<LoadingClass&&>(made));
  if (made.loader != nullptr) jni->DeleteWeakGlobalRef(made.loader);
  before->numbers.has_callouts = true;
  before->numbers.counted = made.numbers.counted;
  before->filters = made.filters;
}

bool ClassNumbers::take_loading(JNIEnv* jni, std::string_view name, jobject loader, LoadingClass& found) {
  Lock lock(lock_);
  LoadingClass* each = find_loading(jni, name, loader);
  if (each == nullptr) return false;
  found = static_cast<LoadingClass&&>(*each);
  if (each != &loading_.back()) *each = static_cast<LoadingClass&&>(loading_.back());
  loading_.pop_back();
  return true;
}

bool ClassNumbers::has_loading() {
  Lock lock(lock_);
  return !loading_.empty();
}

bool ClassNumbers::is_loading(JNIEnv* jni, std::string_view name, jobject loader) {
  Lock lock(lock_);
  return find_loading(jni, name, loader) != nullptr;
}

void ClassNumbers::drop_loading(JNIEnv* jni) {
  Lock lock(lock_);
  for (const LoadingClass& each : loading_)
    if (each.loader != nullptr) jni->DeleteWeakGlobalRef(each.loader);
  loading_.clear();
}

bool ClassNumbers::has_callouts(std::uint64_t class_id) {
  Lock lock(lock_);
  const std::uint32_t at = index_.find(class_id);
  return at != 0 && numbered_[at - 1].has_callouts;
}

void ClassNumbers::set_callouts(std::uint64_t class_id, bool has) {
  Lock lock(lock_);
  const std::uint32_t at = index_.find(class_id);
  if (at != 0) numbered_[at - 1].has_callouts = has;
}

std::uint32_t ClassNumbers::number_of(std::uint64_t class_id, std::string_view name, std::string_view descriptor) {
  const std::uint64_t hash = hash_of(name, descriptor);
  Lock lock(lock_);
  const std::uint32_t at = index_.find(class_id);
  if (at == 0) return 0;
  const Numbered& numbers = numbered_[at - 1];
  for (std::size_t i = 0; i < numbers.methods.size(); ++i)
    if (numbers.methods[i] == hash) return numbers.number(i);
  return 0;
}

void ClassNumbers::keep_number(std::uint64_t class_id, std::string_view name, std::string_view descriptor,
                               std::uint64_t id) {
  Lock lock(lock_);
  kept_.put(hash_in(class_id, hash_of(name, descriptor)), static_cast<std::uint32_t>(id));
}

std::vector<std::uint32_t> ClassNumbers::counted_methods() {
  std::vector<std::uint32_t> counted;
  Lock lock(lock_);
  for (std::size_t i = 0; i < counted_.size(); ++i)
    if (counted_[i]) counted.push_back(static_cast<std::uint32_t>(i));
  return counted;
}

}  // namespace jtrace::agent
