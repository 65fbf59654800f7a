// Temporary files of processes that were killed: removed by the next process that makes a file of that kind.
#pragma once

#include <cstddef>
#include <string_view>

namespace jtrace {

// Takes the lock by which remove_leftovers() sees that a file or folder is in use; closing `fd` ends it.
void mark_in_use(int fd);

// Removes, from the folder, regular files whose name begins with `prefix` and folders of that name with the files in
// them: what belongs to this user, was not changed for a minute and is not in use. Returns how many. What cannot be
// removed stays. Threads: any.
std::size_t remove_leftovers(int folder, std::string_view prefix);

}  // namespace jtrace
