// ClassNumbers: the numbers of the methods of classes with callouts, by class. A number is the methodId of the trace. A
// class that is being loaded is known by its name and loader, and by its classId once it is prepared.
//
// Threads: any. No JVM TI call is made under the lock.
#pragma once

#include <jni.h>
#include <pthread.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/class_file.h"
#include "agent/definition_stream.h"
#include "agent/methods/id_map.h"

namespace jtrace::agent {

// Numbers of the methods of a class, in the order of the class file, by the hash of name and descriptor.
struct Numbered {
  std::uint64_t class_id = 0;
  std::uint32_t first = 0;
  std::vector<std::uint64_t> methods;
  std::vector<std::uint32_t> kept;  // by method: its earlier number, 0: none; empty: no method had one
  std::uint32_t number(std::size_t i) const {
    return !kept.empty() && kept[i] != 0 ? kept[i] : first + static_cast<std::uint32_t>(i);
  }
  std::vector<bool> counted;  // by method: this version of the class has the callout that counts
  bool has_callouts = false;
};

// A class that was rewritten while it was loaded, and is not prepared yet.
struct LoadingClass {
  Numbered numbers;
  std::uint32_t filters = 0;  // the filters in use then
  jweak loader = nullptr;
  std::vector<char> name;
  std::vector<Definition> definitions;  // of the methods, without the class's id
};

class ClassNumbers {
 public:
  ClassNumbers() { pthread_mutex_init(&lock_, nullptr); }
  ClassNumbers(const ClassNumbers&) = delete;
  ClassNumbers& operator=(const ClassNumbers&) = delete;
  ~ClassNumbers() { pthread_mutex_destroy(&lock_); }

  // The numbers of a class that is redefined. A method that had one in any version of the class keeps it, whatever
  // their order: the JVM gives the methods in its own order, another agent may give them in that of the class file.
  Numbered of_redefined(JNIEnv* jni, const classfile::ClassFile& klass, jobject loader, std::uint64_t class_id);
  // The same for a class that is being loaded. Returns nullptr, or the reason why the class gets no callouts.
  const char* of_loading(JNIEnv* jni, const classfile::ClassFile& klass, jobject loader, Numbered& numbers);
  // The numbers of a class that has its id.
  void store(const Numbered& numbers);

  // Keeps a class until it is prepared. Takes its reference to the loader.
  void add_loading(JNIEnv* jni, jobject loader, LoadingClass&& made);
  // Gives it back, with its reference; false if there is none.
  bool take_loading(JNIEnv* jni, std::string_view name, jobject loader, LoadingClass& found);
  bool has_loading();
  bool is_loading(JNIEnv* jni, std::string_view name, jobject loader);
  void drop_loading(JNIEnv* jni);

  bool has_callouts(std::uint64_t class_id);
  void set_callouts(std::uint64_t class_id, bool has);
  // The number of a method of a class with callouts; 0 if it has none.
  std::uint32_t number_of(std::uint64_t class_id, std::string_view name, std::string_view descriptor);
  // A method that got an id before its class got callouts keeps it.
  void keep_number(std::uint64_t class_id, std::string_view name, std::string_view descriptor, std::uint64_t id);
  // The methods that have, or had, a counter: also those of which the class has no longer any.
  std::vector<std::uint32_t> counted_methods();

 private:
  Numbered number(const classfile::ClassFile& klass, const Numbered* before, std::uint64_t class_id);
  void number_anew(Numbered& made, std::uint64_t class_id);
  LoadingClass* find_loading(JNIEnv* jni, std::string_view name, jobject loader);
  void forget_unloaded(JNIEnv* jni);

  pthread_mutex_t lock_;            // over the following
  std::vector<Numbered> numbered_;  // by index_
  IdMap index_;                     // class id -> index + 1
  IdMap kept_;                      // class id and method -> its number, given before its class had this version
  std::vector<bool> counted_;       // by number
  std::vector<LoadingClass> loading_;
};

}  // namespace jtrace::agent
