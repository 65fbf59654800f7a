// A redacted core: what the views of threads, locks, classes, flags, code and sizes of objects need, and no contents.
//
// All memory is copied in one stop. The views are then run over the copy, and every byte that they read is known. The
// rest of the memory is zeros, and pages of it are left out, but for
//   - the heap: headers, references, the fields of redaction.h and what injected fields the VM keeps in objects;
//     elements of primitive arrays, other primitive fields and everything between objects are zeros, except where a
//     view read a name
//   - stacks above the stack pointer, stacks of virtual threads and registers: words that are addresses of the process
//     or very small numbers, and halves of words that are references to objects
//   - files as they are on disk: libraries, class data archives
// The core has a note by which it is recognised; other views have no answer about it. Threads: one at a time.
#pragma once

#include "coreinspect/tools/core_copy.h"
#include "coreinspect/tools/views.h"
#include "target/target.h"

namespace jtrace::coreinspect {

// The note of a redacted core; its text is "1".
constexpr std::uint32_t kRedactedNote = 3;
inline bool is_redacted(const target::Target& target) {
  return target.core() != nullptr && target.core()->own_note(kRedactedNote) != nullptr;
}
// Whether the view, one of inspect or "stack", is answered for a redacted core as for a whole one.
bool answers_when_redacted(const View& view);
// kRefused if the target is a redacted core that has no answer. `what`: the view or command.
Result<> check_not_redacted(const target::Target& target, std::string_view what);

Result<CoreCopy> copy_redacted(pid_t pid, const target::CopyOptions& options);

}  // namespace jtrace::coreinspect
