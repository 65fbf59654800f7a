// LineTable: the lines of a method, by bytecode index.
#pragma once

#include "agent/jvm_support.h"

namespace jtrace::agent::jvmpi {

class LineTable {
 public:
  LineTable(jvmtiEnv* jvmti, jmethodID method) : lines_(jvmti) {
    if (jvmti->GetLineNumberTable(method, &count_, lines_.out()) != JVMTI_ERROR_NONE) count_ = 0;
  }
  // The line of the last entry that starts at or before `location`; -1 if there is none.
  jint at(jlocation location) const {
    jint line = -1;
    jlocation best = -1;
    for (jint i = 0; i < count_; ++i) {
      if (lines_[i].start_location > location || lines_[i].start_location < best) continue;
      best = lines_[i].start_location;
      line = lines_[i].line_number;
    }
    return line;
  }
  jint least() const {
    jint line = -1;
    for (jint i = 0; i < count_; ++i)
      if (line < 0 || lines_[i].line_number < line) line = lines_[i].line_number;
    return line;
  }
  jint greatest() const {
    jint line = -1;
    for (jint i = 0; i < count_; ++i)
      if (lines_[i].line_number > line) line = lines_[i].line_number;
    return line;
  }

 private:
  jint count_ = 0;
  JvmtiMemory<jvmtiLineNumberEntry> lines_;
};

}  // namespace jtrace::agent::jvmpi
