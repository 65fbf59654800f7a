#include "attach/agent_file.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "target/buffer_memory.h"

namespace jtrace::attach {
namespace {

// A shared object that consists of headers, one program header and a .dynsym with one function.
class TinyLibrary {
 public:
  explicit TinyLibrary(const std::string& function) {
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_type = ET_DYN;
    header_.e_machine = EM_X86_64;
    header_.e_phoff = sizeof(Elf64_Ehdr);
    header_.e_phentsize = sizeof(Elf64_Phdr);
    header_.e_phnum = 1;
    header_.e_shentsize = sizeof(Elf64_Shdr);
    header_.e_shnum = 4;
    stack_.p_type = PT_GNU_STACK;
    stack_.p_flags = PF_R | PF_W;
    strings_ = std::string(1, '\0') + function + '\0' + "libc.so.6" + '\0';
    needed_at_ = function.size() + 2;
  }
  Elf64_Ehdr& header() { return header_; }
  Elf64_Phdr& stack() { return stack_; }
  Elf64_Sym& symbol() { return symbol_; }

  std::vector<std::byte> build() {
    const std::size_t symbols_at = sizeof header_ + sizeof stack_;
    const std::size_t strings_at = symbols_at + 2 * sizeof symbol_;
    const std::size_t dynamic_at = strings_at + strings_.size();
    Elf64_Dyn dynamic{};
    dynamic.d_tag = DT_NEEDED;
    dynamic.d_un.d_val = needed_at_;
    Elf64_Shdr sections[4] = {};
    sections[1].sh_type = SHT_DYNSYM;
    sections[1].sh_offset = symbols_at;
    sections[1].sh_size = 2 * sizeof symbol_;
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = strings_at;
    sections[2].sh_size = strings_.size();
    sections[3].sh_type = SHT_DYNAMIC;
    sections[3].sh_offset = dynamic_at;
    sections[3].sh_size = sizeof dynamic;
    sections[3].sh_link = 2;
    symbol_.st_name = 1;
    header_.e_shoff = dynamic_at + sizeof dynamic;
    const Elf64_Sym null{};
    std::vector<std::byte> bytes;
    append(bytes, header_);
    append(bytes, stack_);
    append(bytes, null);
    append(bytes, symbol_);
    for (char c : strings_) bytes.push_back(static_cast<std::byte>(c));
    append(bytes, dynamic);
    for (const Elf64_Shdr& section : sections) append(bytes, section);
    return bytes;
  }

 private:
  template <class T>
  static void append(std::vector<std::byte>& bytes, const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }

  Elf64_Ehdr header_{};
  Elf64_Phdr stack_{};
  Elf64_Sym symbol_{.st_name = 0, .st_info = 0, .st_other = 0, .st_shndx = 1, .st_value = 0, .st_size = 0};
  std::string strings_;
  std::size_t needed_at_ = 0;
};

ElfFacts facts_of(std::vector<std::byte> bytes) { return read_elf_facts(target::BufferMemory(0, bytes)).value(); }

ElfFacts jvm() { return facts_of(TinyLibrary("JNI_CreateJavaVM").build()); }

TEST(AgentFile, AGoodOne) {
  const ElfFacts agent = facts_of(TinyLibrary("Agent_OnAttach").build());
  EXPECT_EQ(agent.machine, EM_X86_64);
  EXPECT_EQ(agent.exported, std::vector<std::string>{"Agent_OnAttach"});
  EXPECT_EQ(agent.needed, std::vector<std::string>{"libc.so.6"});
  EXPECT_EQ(objection_to(agent, jvm()), "");
}

TEST(AgentFile, WhatAJvmCannotLoad) {
  TinyLibrary foreign("Agent_OnAttach");
  foreign.header().e_machine = EM_AARCH64;
  EXPECT_EQ(objection_to(facts_of(foreign.build()), jvm()), "it is for AArch64, the JVM for x86-64");

  TinyLibrary narrow("Agent_OnAttach");
  narrow.header().e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(objection_to(facts_of(narrow.build()), jvm()), "it is 32-bit, the JVM is 64-bit");

  TinyLibrary program("Agent_OnAttach");
  program.header().e_type = ET_EXEC;
  EXPECT_EQ(objection_to(facts_of(program.build()), jvm()), "it is not a shared library");

  TinyLibrary stack("Agent_OnAttach");
  stack.stack().p_flags |= PF_X;
  EXPECT_NE(objection_to(facts_of(stack.build()), jvm()).find("executable stack"), std::string::npos);

  EXPECT_NE(objection_to(facts_of(TinyLibrary("Agent_OnLoad").build()), jvm()).find("Agent_OnAttach"),
            std::string::npos);
  TinyLibrary imported("Agent_OnAttach");
  imported.symbol().st_shndx = SHN_UNDEF;
  EXPECT_NE(objection_to(facts_of(imported.build()), jvm()).find("Agent_OnAttach"), std::string::npos);
}

TEST(AgentFile, ANameOfItsOwnIsAnEntryToo) {
  EXPECT_EQ(objection_to(facts_of(TinyLibrary("Agent_OnAttach_mine").build()), jvm()), "");
}

TEST(AgentFile, WithoutSectionsItIsNotJudgedByItsNames) {
  TinyLibrary library("Agent_OnAttach");
  auto bytes = library.build();
  reinterpret_cast<Elf64_Ehdr*>(bytes.data())->e_shoff = 0;
  const ElfFacts agent = facts_of(bytes);
  EXPECT_FALSE(agent.symbols_known);
  EXPECT_EQ(objection_to(agent, jvm()), "");
}

TEST(AgentFile, NotElf) {
  const std::string text = "#!/bin/sh\n";
  const auto facts = read_elf_facts(target::BufferMemory(0, std::as_bytes(std::span(text))));
  ASSERT_FALSE(facts);
  EXPECT_NE(facts.error().message().find("not an ELF file"), std::string::npos);
}

TEST(AgentFile, AnyCutAndAnyByteIsSafe) {
  const auto whole = TinyLibrary("Agent_OnAttach").build();
  for (std::size_t size = 0; size < whole.size(); ++size)
    (void)read_elf_facts(target::BufferMemory(0, std::span(whole).first(size)));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto bytes = whole;
    bytes[at] = std::byte{0xff};
    (void)read_elf_facts(target::BufferMemory(0, bytes));
  }
}

TEST(AgentFile, AsTheTargetSeesIt) {
  const auto self = target::Process::open(::getpid()).value();
  const auto missing = check_agent_file(self, "/nonexistent/libx.so");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().category, ErrorCategory::kAgent);
  const auto folder = check_agent_file(self, "/tmp");
  ASSERT_FALSE(folder);
  const auto text = check_agent_file(self, "/etc/passwd");
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message().find("not an ELF file"), std::string::npos);
}

}  // namespace
}  // namespace jtrace::attach
