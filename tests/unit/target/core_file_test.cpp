// Cores without a process: their contents are found; what is missing is counted, or refused with a reason.
#include "target/core_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4frame.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"
#include "target/core_memory.h"
#include "target/debug_file.h"
#include "target/symbol_files.h"
#include "target/target.h"
#include "tests/testlib/must.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/unit/target/core_builder.h"

namespace jtrace::target {
namespace {

using test::CoreBuilder;
using test::must;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<CoreFile> parse(const std::vector<std::byte>& bytes) { return CoreFile::from_bytes(bytes); }

std::string text_at(const MemoryReader& memory, Address address, std::size_t size) {
  std::string text(size, '\0');
  const auto read = memory.read_exactly(address, std::as_writable_bytes(std::span(text)));
  return read ? text : "error: " + read.error().message();
}

// A file of the test's own, removed with the object.
struct TemporaryFile {
  explicit TemporaryFile(std::string_view content) {
    char name[] = "/tmp/jtrace-core-test-XXXXXX";
    const UniqueFd fd(::mkstemp(name));
    path = name;
    std::ofstream(path) << content;
  }
  ~TemporaryFile() { ::unlink(path.c_str()); }
  std::string path;
};

TEST(CoreFile, HasThreadsProcessSignalAndFiles) {
  CoreBuilder builder;
  builder.process(77, "java").thread(78, 0x1234, 0x7000).thread(79, 0x5678, 0x8000).fault(SIGSEGV, 0xdead0);
  builder.files({{0x10000, 0x12000, 3, "/lib/libjvm.so"}, {0x20000, 0x21000, 0, "/lib/libc.so"}});
  builder.segment(0x7000, "stack");
  auto core = test::must(parse(builder.build()));
  EXPECT_EQ(core.pid(), 77);
  EXPECT_EQ(core.program(), "java");
  ASSERT_EQ(core.threads().size(), 2u);
  EXPECT_EQ(core.threads()[0].tid, 78);
  EXPECT_EQ(core.threads()[1].registers.pc(), 0x5678u);
  EXPECT_EQ(core.threads()[0].cpu_ns, 1'000'000'000u);
  ASSERT_TRUE(core.signal());
  EXPECT_EQ(core.signal()->number, SIGSEGV);
  EXPECT_EQ(core.signal()->fault, 0xdead0u);
  ASSERT_EQ(core.files().size(), 2u);
  EXPECT_EQ(core.files()[0].path, "/lib/libjvm.so");
  EXPECT_EQ(core.files()[0].offset, 3u * 4096);
  EXPECT_EQ(core.missing_bytes(), 0u);
}

TEST(CoreMemory, ReadsSegmentsOfGdbAndKernelCoresAlike) {
  for (const bool gdb : {false, true}) {
    CoreBuilder builder;
    if (gdb) builder.unaligned();
    builder.segment(0x2000, "world").segment(0x1ffb, "hello").segment(0x9000, "", 64);
    auto core = parse(builder.build());
    ASSERT_TRUE(core);
    const CoreMemory memory(*core, {});
    EXPECT_EQ(text_at(memory, 0x1ffb, 10), "helloworld");
    EXPECT_THAT(text_at(memory, 0x1ffb, 11), HasSubstr("0x2005"));
    EXPECT_THAT(text_at(memory, 0x9000, 1), HasSubstr("not in the core")) << "memory that was not dumped is not zero";
  }
}

TEST(CoreFile, CountsSegmentsInSectionHeader0) {
  CoreBuilder builder;
  auto core = test::must(parse(builder.extended_numbering().segment(0x1000, "a").segment(0x2000, "b").build()));
  EXPECT_EQ(core.segments().size(), 2u);
}

TEST(CoreMemory, TakesFromTheFileWhatTheCoreLacks) {
  const TemporaryFile file(std::string(4096, 'x') + std::string(4096, 'y'));
  CoreBuilder builder;
  builder.files({{0x10000, 0x12000, 0, file.path}});
  builder.segment(0x10ffe, "AB", 0x1002);  // of the second page only two bytes were dumped
  auto core = parse(builder.build());
  ASSERT_TRUE(core);
  const CoreMemory memory(*core, {});
  EXPECT_EQ(text_at(memory, 0x10ffd, 5), "xAByy");
  EXPECT_EQ(memory.bytes_from_files(), 8190u);
}

TEST(CoreMemory, NamesTheFilesItMisses) {
  CoreBuilder builder;
  builder.files({{0x10000, 0x12000, 0, "/nonexistent/libjvm.so"}}).segment(0x1000, "a");
  auto core = parse(builder.build());
  ASSERT_TRUE(core);
  const CoreMemory memory(*core, {});
  EXPECT_EQ(text_at(memory, 0x1000, 1), "a");
  EXPECT_TRUE(memory.problems().empty()) << "nothing of it was asked for";
  EXPECT_THAT(text_at(memory, 0x10000, 1), HasSubstr("0x10000"));
  ASSERT_EQ(memory.problems().size(), 1u);
  EXPECT_THAT(memory.problems()[0], HasSubstr("/nonexistent/libjvm.so"));
}

TEST(CoreMemory, SaysWhereToGiveAnyFileItMisses) {
  CoreBuilder builder;
  builder.files({{0x10000, 0x12000, 0, "/nonexistent/lib/modules"}}).segment(0x1000, "a");
  const auto core = test::must(parse(builder.build()));
  const CoreMemory memory(core, {});
  (void)text_at(memory, 0x10000, 1);
  ASSERT_EQ(memory.problems().size(), 1u);
  EXPECT_THAT(memory.problems()[0], AllOf(HasSubstr("lib/modules: No such file"), HasSubstr("with --sysroot")));
}

TEST(CoreFile, CountsWhatACutCoreLacks) {
  CoreBuilder builder;
  auto bytes = builder.segment(0x1000, "0123456789").build();
  bytes.resize(bytes.size() - 4);
  auto core = parse(bytes);
  ASSERT_TRUE(core);
  EXPECT_EQ(core->missing_bytes(), 4u);
  EXPECT_EQ(core->expected_size(), bytes.size() + 4);
  const CoreMemory memory(*core, {});
  EXPECT_EQ(text_at(memory, 0x1000, 6), "012345");
  EXPECT_THAT(text_at(memory, 0x1000, 7), HasSubstr("not in the core"));
}

TEST(CoreFile, CountsTheNotesThatACutCoreOfGdbLacks) {
  CoreBuilder builder;
  builder.thread(78, 0x1234, 0x7000).thread(79, 0x5678, 0x8000).segment(0x1000, "0123456789").notes_last();
  auto bytes = builder.build();
  EXPECT_EQ(must(parse(bytes)).threads().size(), 2u);
  bytes.resize(bytes.size() - 4);
  const CoreFile core = must(parse(bytes));
  EXPECT_EQ(core.threads().size(), 1u);
  EXPECT_EQ(core.missing_bytes(), 0u);
  EXPECT_EQ(core.missing_note_bytes(), 4u);
  EXPECT_EQ(core.expected_size(), bytes.size() + 4);
}

TEST(CoreFile, RefusesWithTheReason) {
  const auto message = [](std::string_view text) {
    auto core = CoreFile::from_bytes(std::as_bytes(std::span(text)), "c");
    return core ? std::string("accepted") : core.error().message();
  };
  EXPECT_THAT(message("hello"), HasSubstr("not an ELF core"));
  EXPECT_THAT(message(""), HasSubstr("not an ELF core"));
  EXPECT_THAT(message("\x28\xb5\x2f\xfd...."), HasSubstr("zstd"));
  EXPECT_THAT(message("\x04\x22\x4d\x18...."), HasSubstr("lz4"));
  EXPECT_THAT(message(std::string_view("\x7f"
                                       "ELF\x01\x01",
                                       6)),
              HasSubstr("32-bit"));
  EXPECT_THAT(message(std::string_view("\x7f"
                                       "ELF\x02\x01",
                                       6)),
              HasSubstr("cut off after 6 bytes"));
  auto program = CoreBuilder().segment(0x1000, "a").build();
  program[16] = std::byte{ET_EXEC};
  auto refused = parse(program);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("not a core"));
  EXPECT_EQ(exit_status(refused.error()), ExitStatus::kNotAttachable);
}

std::string as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(CoreFile, OfAnotherMachineIsRefused) {
  auto bytes = CoreBuilder().segment(0x1000, "a").build();
  bytes[18] = std::byte{EM_RISCV};
  auto refused = parse(bytes);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("RISC-V; only cores of 64-bit x86-64 and AArch64"));
}

TEST(CoreFile, HasTheRegistersOfItsMachine) {
  for (const Isa isa : {Isa::kX86_64, Isa::kAarch64}) {
    auto registers = Registers::at(isa, 0x1000, 0x2000, 0x3000);
    registers.words[registers.traits().link] = 0x4000;
    CoreBuilder builder;
    builder.machine(isa).thread(7, registers).segment(0x1000, "a");
    const auto core = must(parse(builder.build()));
    EXPECT_EQ(core.isa(), isa);
    ASSERT_EQ(core.threads().size(), 1u);
    EXPECT_EQ(core.threads()[0].tid, 7);
    EXPECT_EQ(core.threads()[0].registers.isa, isa);
    EXPECT_EQ(core.threads()[0].registers.words, registers.words);
  }
}

TEST(CoreFile, OfAarch64TellsTheBitsOfSignatures) {
  const auto bits = [](CoreBuilder& builder) {
    return must(parse(builder.segment(0x1000, "a").build())).signature_bits();
  };
  CoreBuilder silent, told, other, hostile;
  EXPECT_EQ(bits(silent.machine(Isa::kAarch64)), 0x007f'0000'0000'0000u) << "the usual ones";
  const std::uint64_t masks[] = {1, 0x0070'0000'0000'0000};
  EXPECT_EQ(bits(told.machine(Isa::kAarch64).note(0x406, masks, sizeof masks)), masks[1]);
  EXPECT_EQ(bits(other.note(0x406, masks, sizeof masks)), 0u) << "x86-64 has no signatures";
  const std::uint64_t all[] = {~0ull, ~0ull};
  EXPECT_EQ(bits(hostile.machine(Isa::kAarch64).note(0x406, all, sizeof all)), ~(1ull << 55));
}

TEST(CoreFile, AThreadWhoseNoteIsOfAnotherMachineIsLeftOut) {
  if (kNativeIsa == Isa::kAarch64) GTEST_SKIP() << "the note is made of this machine's structure";
  elf_prstatus status{};  // of this machine: shorter than that of aarch64
  CoreBuilder builder;
  builder.machine(Isa::kAarch64).note(NT_PRSTATUS, &status, sizeof status).segment(0x1000, "a");
  EXPECT_TRUE(must(parse(builder.build())).threads().empty());
}

TEST(CoreFile, IsUnpackedWhereItIsCompressed) {
  // Zeros in the middle become a hole in the decompressed file.
  const std::string memory = "begin" + std::string(1 << 20, '\0') + "end";
  const std::string plain = as_text(CoreBuilder().thread(5, 1, 2).segment(0x10000, memory).build());
  std::string zstd(ZSTD_compressBound(plain.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), plain.data(), plain.size(), 3));
  std::string lz4(LZ4F_compressFrameBound(plain.size(), nullptr), '\0');
  lz4.resize(LZ4F_compressFrame(lz4.data(), lz4.size(), plain.data(), plain.size(), nullptr));
  for (const std::string& packed : {zstd, lz4}) {
    const TemporaryFile file(packed);
    auto core = test::must(CoreFile::open(file.path));
    const CoreMemory of_core(core, {});
    EXPECT_EQ(text_at(of_core, 0x10000, memory.size()), memory);
    EXPECT_EQ(core.missing_bytes(), 0u);
    const TemporaryFile cut(packed.substr(0, packed.size() - 8));
    auto partial = CoreFile::open(cut.path);
    EXPECT_TRUE(!partial || partial->missing_bytes() > 0) << "what is cut off is counted";
  }
  const TemporaryFile noise("\x28\xb5\x2f\xfd not zstd at all");
  auto refused = CoreFile::open(noise.path);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("zstd"));
}

TEST(DebugFile, IsLookedUpWhereGdbLooks) {
  EXPECT_EQ(debug_file_paths("/opt/jdk/lib/libjvm.so", "abcdef", "libjvm.debug"),
            (std::vector<std::string>{"/usr/lib/debug/.build-id/ab/cdef.debug", "/opt/jdk/lib/libjvm.debug",
                                      "/opt/jdk/lib/.debug/libjvm.debug", "/usr/lib/debug/opt/jdk/lib/libjvm.debug"}));
  EXPECT_THAT(debug_file_paths("/a/b", "", "../../etc/passwd"), ::testing::IsEmpty()) << "a name, not a path";
}

TEST(Target, RefusesACoreWithoutHotspot) {
  CoreBuilder builder;
  const auto bytes = builder.files({{0x1000, 0x2000, 0, "/usr/bin/true"}}).segment(0x1000, "a").build();
  const TemporaryFile file(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  auto target = Target::open_core(file.path);
  ASSERT_FALSE(target);
  EXPECT_THAT(target.error().message(), HasSubstr("no HotSpot in this core; files: true"));
  EXPECT_EQ(exit_status(target.error()), ExitStatus::kNotAttachable);
}

// A core of a process with two libraries, all of whose bytes are in it; their images are those of /bin/true.
class SymbolsOfACore : public ::testing::Test {
 protected:
  static constexpr Address kLibjvm = 0x10000000, kOther = 0x20000000;

  void SetUp() override {
    image_ = must(read_file("/bin/true"));
    const auto other = ElfImage::open("/bin/false");
    build_id_ = must(ElfImage::open("/bin/true")).build_id();
    if (!other || build_id_.empty() || other->build_id().empty() || other->build_id() == build_id_)
      GTEST_SKIP() << "true and false of this machine are one program, or have no build id";
    other_id_ = other->build_id();
  }
  std::unique_ptr<Target> open(const CoreFileOptions& options, const std::string& mark = "") const {
    CoreBuilder builder;
    const Address size = (image_.size() + 4095) / 4096 * 4096;
    builder.machine(kNativeIsa).thread(5, 1, 2);
    builder.files({{kLibjvm, kLibjvm + size, 0, "/made/up/libjvm.so" + mark},
                   {kOther, kOther + size, 0, "/made/up/libaa.so" + mark}});
    std::string whole = image_;
    whole.resize(size);
    builder.segment(kLibjvm, whole).segment(kOther, whole);
    return must(Target::of_core(must(parse(builder.build())), options));
  }
  // Asks for the symbols of both, libjvm.so last.
  static std::vector<std::string> missing_of(const Target& target) {
    for (const Address at : {kOther, kLibjvm}) (void)open_symbol_files(target, *find_mapping(target.mappings(), at));
    return target.missing();
  }
  std::string put(const std::string& name, const std::string& from) const {
    std::filesystem::create_directories(folder_.file("made/up"));
    const std::string path = folder_.file("made/up/" + name);
    std::filesystem::copy_file(from, path, std::filesystem::copy_options::overwrite_existing);
    return path;
  }

  test::ScratchDir folder_;
  std::string image_, build_id_, other_id_;
};

TEST_F(SymbolsOfACore, ThatAreNotBelowTheSysrootAreMissing) {
  const auto target = open({.sysroot = folder_.path()});
  EXPECT_THAT(target->missing(), IsEmpty()) << "nothing was asked for";
  EXPECT_THAT(target->unused_option(), AllOf(HasSubstr("--sysroot " + folder_.path() + " is not used for libjvm.so: "),
                                             HasSubstr("/made/up/libjvm.so")));
  EXPECT_THAT(missing_of(*target),
              ElementsAre(AllOf(HasSubstr("symbols of libjvm.so: "), HasSubstr("No such file"), HasSubstr(build_id_),
                                HasSubstr(folder_.file("made/up/libjvm.so")), HasSubstr("--libjvm")),
                          AllOf(HasSubstr("symbols of libaa.so: "), HasSubstr("No such file"), HasSubstr(build_id_),
                                HasSubstr(folder_.file("made/up/libaa.so")), HasSubstr("--sysroot"))));
  EXPECT_EQ(target->unused_option(), "") << "told already";
  EXPECT_EQ(missing_of(*target).size(), 2u) << "once";
}

TEST_F(SymbolsOfACore, AreThoseOfTheFilesBelowTheSysroot) {
  (void)put("libjvm.so", "/bin/true");
  (void)put("libaa.so", "/bin/true");
  const auto target = open({.sysroot = folder_.path()});
  EXPECT_EQ(target->unused_option(), "");
  EXPECT_THAT(missing_of(*target), IsEmpty());
}

TEST_F(SymbolsOfACore, OfAnotherBuildAreNamedWithBothBuildIds) {
  const std::string libjvm = put("libjvm.so", "/bin/false");
  (void)put("libaa.so", "/bin/true");
  const auto both = AllOf(HasSubstr("its build id is " + other_id_ + ", the core has " + build_id_), HasSubstr(libjvm));
  EXPECT_THAT(missing_of(*open({.sysroot = folder_.path()})), ElementsAre(both));
  EXPECT_THAT(missing_of(*open({.libjvm = libjvm})), ElementsAre(both));
  EXPECT_THAT(open({.libjvm = libjvm})->unused_option(), AllOf(HasSubstr("--libjvm"), HasSubstr("is not used"), both));
  std::ofstream(libjvm) << "no image";
  EXPECT_THAT(missing_of(*open({.sysroot = folder_.path()})), ElementsAre(HasSubstr("not an ELF file")));
}

TEST_F(SymbolsOfACore, WhetherItsFileFitsIsAnErrorWithWhatWould) {
  const auto error = [&](const CoreFileOptions& options) {
    const auto target = open(options);
    const auto fits = target->check_mapped(target->libjvm_mapping());
    return fits ? std::string() : fits.error().message();
  };
  EXPECT_THAT(error({}), AllOf(HasSubstr("No such file"), HasSubstr(build_id_), HasSubstr("--libjvm, or")));
  EXPECT_THAT(error({.libjvm = put("libjvm.so", "/bin/false")}),
              AllOf(HasSubstr(other_id_), HasSubstr("the core has " + build_id_), HasSubstr("give the right one")));
  EXPECT_EQ(error({.libjvm = put("libjvm.so", "/bin/true")}), "");
}

TEST_F(SymbolsOfACore, AreMissingWithoutASysrootOnlyOfLibjvm) {
  EXPECT_THAT(missing_of(*open({})), ElementsAre(AllOf(HasSubstr("symbols of libjvm.so"), HasSubstr(build_id_),
                                                       HasSubstr("--libjvm, or"), HasSubstr("--sysroot"))));
  EXPECT_EQ(open({})->unused_option(), "");
}

TEST_F(SymbolsOfACore, OfDeletedFilesAndOfCopiesAreNotMissed) {
  EXPECT_THAT(missing_of(*open({.sysroot = folder_.path()}, " (deleted)")), IsEmpty());
  EXPECT_EQ(open({.sysroot = folder_.path()}, " (deleted)")->unused_option(), "");
  EXPECT_THAT(missing_of(*open({.libjvm = put("libjvm.so", "/bin/false")}, " (deleted)")),
              ElementsAre(HasSubstr(other_id_)));
  EXPECT_THAT(missing_of(*open({.sysroot = folder_.path(), .tell_unnamed = false})), IsEmpty());
}

// A truncated or damaged core is refused or read; nothing crashes, hangs or reads outside.
TEST(CoreFile, SurvivesAnyCutAndAnyFlippedBit) {
  CoreBuilder builder;
  builder.process(77, "java").thread(78, 1, 2).fault(SIGSEGV, 3).segment(0x1000, "0123456789");
  builder.files({{0x10000, 0x12000, 0, "/nonexistent/a"}, {0x20000, 0x21000, 0, "/nonexistent/b"}});
  const auto whole = builder.build();
  const auto use = [](const std::vector<std::byte>& bytes) {
    auto core = parse(bytes);
    if (!core) return;
    const CoreMemory memory(*core, {});
    (void)text_at(memory, 0x1000, 10);
  };
  for (std::size_t size = 0; size < whole.size(); ++size) use({whole.begin(), whole.begin() + static_cast<long>(size)});
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    auto flipped = whole;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    use(flipped);
  }
}

}  // namespace
}  // namespace jtrace::target
