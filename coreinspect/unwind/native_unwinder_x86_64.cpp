#include <libunwind-x86_64.h>

#include <algorithm>
#include <array>
#include <optional>

#include "coreinspect/unwind/native_unwinder.h"
#include "target/isa_x86_64.h"

// libunwind's binary search in a remote .eh_frame_hdr table. It is exported for this use (perf does the same) but is in
// no public header.
extern "C" int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t* table,
                                                  unw_proc_info_t* info, int need_unwind_info, void* argument);

// Referred to by libunwind-x86_64.a in the local half of the library, which a static program cannot have beside the
// compiler's unwinder: resuming in a frame, which is never done with a remote cursor.
extern "C" __attribute__((weak)) int _Ux86_64_setcontext(const void*) { return -UNW_EINVAL; }

namespace jtrace::coreinspect {

using target::Address;
using target::Registers;

namespace {

constexpr std::size_t kMaxFrames = 4096;
// A siginfo comes after the ucontext of a signal frame (rt_sigframe, arch/x86/include/asm/sigframe.h), the kernel's:
// flags, link, stack, sigcontext, sigmask.
constexpr Address kUcontext = 304;

}  // namespace

// The argument of libunwind's callbacks: the unwinder, and the registers from which a walk starts.
struct UnwindAccess {
  const NativeUnwinder* unwinder;
  const Registers* registers;

  static const UnwindAccess& of(void* argument) { return *static_cast<const UnwindAccess*>(argument); }

  static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, int need, void* argument) {
    const auto* module = of(argument).unwinder->module_of(ip);
    if (!module || module->table == 0) return -UNW_ENOINFO;
    unw_dyn_info_t table{};
    table.start_ip = module->start;
    table.end_ip = module->end;
    table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    table.u.rti.segbase = module->header;
    table.u.rti.table_data = module->table;
    table.u.rti.table_len = module->entries * 8 / sizeof(unw_word_t);  // an entry is two 4-byte offsets
    return _Ux86_64_dwarf_search_unwind_table(space, ip, &table, info, need, argument);
  }
  static void put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}
  static int no_dynamic_info(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }
  static int access_memory(unw_addr_space_t, unw_word_t at, unw_word_t* value, int write, void* argument) {
    if (write) return -UNW_EINVAL;
    const auto word = of(argument).unwinder->memory_.read<std::uint64_t>(at);
    if (!word) return -UNW_EUNSPEC;
    *value = *word;
    return 0;
  }
  static int access_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
    const auto word = word_of(number);
    if (write || !word) return -UNW_EBADREG;
    *value = of(argument).registers->words[*word];
    return 0;
  }
  static int no_float_register(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EBADREG; }
  static int no_resume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }
  static int no_name(unw_addr_space_t, unw_word_t, char*, std::size_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

  // The word of a register; nothing for those that call frame information cannot name.
  static std::optional<std::size_t> word_of(unw_regnum_t number) {
    using namespace target::x86_64;
    static_assert(UNW_X86_64_RAX == 0 && UNW_X86_64_RIP == 16);
    constexpr std::array<Word, 17> words = {kRax, kRdx, kRcx, kRbx, kRsi, kRdi, kRbp, kRsp, kR8,
                                            kR9,  kR10, kR11, kR12, kR13, kR14, kR15, kRip};
    if (number < 0 || static_cast<std::size_t>(number) >= words.size()) return std::nullopt;
    return words[static_cast<std::size_t>(number)];
  }
};

struct NativeUnwinder::Space {
  Space() {
    static unw_accessors_t accessors = {UnwindAccess::find_proc_info,  UnwindAccess::put_unwind_info,
                                        UnwindAccess::no_dynamic_info, UnwindAccess::access_memory,
                                        UnwindAccess::access_register, UnwindAccess::no_float_register,
                                        UnwindAccess::no_resume,       UnwindAccess::no_name};
    space = unw_create_addr_space(&accessors, 0);
    // One target for each address space: what was parsed of a function's unwind information is kept.
    if (space) unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
  }
  ~Space() {
    if (space) unw_destroy_addr_space(space);
  }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  unw_addr_space_t space = nullptr;
};

NativeUnwinder::NativeUnwinder(const target::Target& target, const target::MemoryReader& memory, IsGenerated generated)
    : target_(target), memory_(memory), generated_(std::move(generated)), space_(std::make_unique<Space>()) {}
NativeUnwinder::~NativeUnwinder() = default;

namespace {

NativeFrame frame_of(unw_cursor_t& cursor, bool exact) {
  unw_word_t pc = 0, sp = 0, fp = 0;
  unw_get_reg(&cursor, UNW_X86_64_RIP, &pc);
  unw_get_reg(&cursor, UNW_X86_64_RSP, &sp);
  if (unw_get_reg(&cursor, UNW_X86_64_RBP, &fp) != 0) fp = 0;
  return {.pc = pc, .sp = sp, .fp = fp, .exact = exact};
}

// The code to which a signal handler returns: mov $15, %rax; syscall (sigreturn; glibc, musl). unw_is_signal_frame()
// recognizes only frames without call frame information.
bool is_signal_return(const target::MemoryReader& memory, Address pc) {
  constexpr std::array<std::uint8_t, 9> code = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  const auto found = memory.read<std::array<std::uint8_t, 9>>(pc);
  return found && *found == code;
}

Registers registers_of(unw_cursor_t& cursor) {
  Registers registers;
  for (int number = UNW_X86_64_RAX; number <= UNW_X86_64_RIP; ++number) {
    unw_word_t value = 0;
    const auto word = UnwindAccess::word_of(number);
    if (word && unw_get_reg(&cursor, number, &value) == 0) registers.words[*word] = value;
  }
  return registers;
}

}  // namespace

NativeWalk NativeUnwinder::walk_call_frames(const Registers& from, bool exact, Address limit) const {
  NativeWalk walk;
  UnwindAccess access{this, &from};
  unw_cursor_t cursor;
  if (!space_->space || unw_init_remote(&cursor, space_->space, &access) != 0) {
    walk.why = "libunwind cannot start from these registers";
    return walk;
  }
  NativeFrame at = frame_of(cursor, exact);
  while (walk.frames.size() < kMaxFrames) {
    const bool signal = is_signal_return(memory_, at.pc);
    at.signal = signal;
    if (signal) at.siginfo = at.sp + kUcontext;
    walk.frames.push_back(at);
    const int stepped = unw_step(&cursor);
    if (stepped == 0) {
      walk.end = NativeWalk::End::kBottom;
      return walk;
    }
    if (stepped < 0) {
      walk.why = "no way on from " + std::string(unw_strerror(stepped));
      return walk;
    }
    const NativeFrame next = frame_of(cursor, signal);
    if (generated_(next.pc)) {
      walk.end = NativeWalk::End::kGenerated;
      walk.next = next;
      walk.at_next = registers_of(cursor);
      return walk;
    }
    const bool rises = next.sp > at.sp || signal;
    if (!rises || (limit != 0 && next.sp > limit) || !module_of(next.pc)) {
      walk.why = "the caller is not known";
      walk.beyond = limit != 0 && next.sp >= limit;
      return walk;
    }
    at = next;
  }
  walk.why = "more than " + std::to_string(kMaxFrames) + " native frames";
  return walk;
}

}  // namespace jtrace::coreinspect
