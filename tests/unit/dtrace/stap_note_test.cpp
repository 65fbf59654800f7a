// Notes and operands: every form that sdt.h and compilers write, and invalid bytes.
#include "dtrace/stap_note.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace jtrace::dtrace {
namespace {

void append(std::string& out, std::uint64_t value, std::size_t size) {
  out.append(reinterpret_cast<const char*>(&value), size);
}

struct NoteParts {
  std::string provider = "hotspot";
  std::string name = "gc__begin";
  std::string arguments = "-4@$1";
  std::string owner = std::string("stapsdt", 8);
  std::uint32_t type = 3;
};

std::string note_bytes(const NoteParts& parts) {
  std::string texts;
  for (const std::string& text : {parts.provider, parts.name, parts.arguments}) texts += text + '\0';
  std::string bytes;
  append(bytes, parts.owner.size(), 4);
  append(bytes, 24 + texts.size(), 4);
  append(bytes, parts.type, 4);
  bytes += parts.owner;
  append(bytes, 0x1000, 8);
  append(bytes, 0x2000, 8);
  append(bytes, 0x3000, 8);
  bytes += texts;
  bytes.append((4 - bytes.size() % 4) % 4, '\0');
  return bytes;
}

StapNotes parse(const std::string& bytes) { return parse_stap_notes(std::as_bytes(std::span(bytes))); }

Operand one(std::string_view text) {
  const auto operands = parse_operands(text);
  EXPECT_EQ(operands.size(), 1u) << text;
  return operands.empty() ? Operand{} : operands.front();
}

TEST(StapNotes, AreReadInOrder) {
  const StapNotes found = parse(note_bytes({}) + note_bytes({.name = "gc__end", .arguments = ""}));
  ASSERT_EQ(found.notes.size(), 2u);
  EXPECT_EQ(found.skipped, 0u);
  EXPECT_EQ(found.notes[0].provider, "hotspot");
  EXPECT_EQ(found.notes[0].name, "gc__begin");
  EXPECT_EQ(found.notes[0].arguments, "-4@$1");
  EXPECT_EQ(found.notes[0].location, 0x1000u);
  EXPECT_EQ(found.notes[0].base, 0x2000u);
  EXPECT_EQ(found.notes[0].semaphore, 0x3000u);
  EXPECT_EQ(found.notes[1].name, "gc__end");
}

TEST(StapNotes, OthersAreSkippedAndCounted) {
  const StapNotes found = parse(note_bytes({.owner = std::string("GNU", 4)}) + note_bytes({.type = 4}) +
                                note_bytes({.provider = ""}) + note_bytes({}));
  EXPECT_EQ(found.notes.size(), 1u);
  EXPECT_EQ(found.skipped, 3u);
}

TEST(StapNotes, EveryCutIsFoundOut) {
  const std::string whole = note_bytes({.name = "gc__end", .arguments = "8@%rax"});
  for (std::size_t size = 1; size + 3 < whole.size(); ++size) {
    const StapNotes found = parse(whole.substr(0, size));
    EXPECT_EQ(found.notes.size(), 0u) << size;
    EXPECT_EQ(found.skipped, 1u) << size;
  }
}

TEST(StapNotes, SizesBeyondTheSectionAndMissingNulsAreNotBelieved) {
  std::string bytes = note_bytes({});
  bytes[4] = '\xff';
  bytes[7] = '\x7f';
  EXPECT_EQ(parse(bytes).notes.size(), 0u);
  bytes = note_bytes({});
  for (std::size_t i = 12 + 8 + 24; i < bytes.size(); ++i)
    if (bytes[i] == '\0') bytes[i] = 'x';
  EXPECT_EQ(parse(bytes).notes.size(), 0u);
  EXPECT_EQ(parse(bytes).skipped, 1u);
}

TEST(Operands, Registers) {
  const Operand operand = one("-4@%ecx");
  EXPECT_EQ(operand.kind, OperandKind::kRegister);
  EXPECT_EQ(operand.base, Register::kRcx);
  EXPECT_EQ(operand.size, 4);
  EXPECT_TRUE(operand.is_signed);
  EXPECT_EQ(one("8@%rdi").base, Register::kRdi);
  EXPECT_EQ(one("2@%r11w").base, Register::kR11);
  EXPECT_EQ(one("-4@%r9d").base, Register::kR9);
  EXPECT_EQ(one("1@%sil").base, Register::kRsi);
  EXPECT_EQ(one("1@%bpl").base, Register::kRbp);
  EXPECT_EQ(one("1@%ch").base, Register::kRcx);
  EXPECT_EQ(one("1@%ch").shift, 8);
  EXPECT_EQ(one("1@%cl").shift, 0);
  EXPECT_EQ(one("2@%di").base, Register::kRdi);
}

TEST(Operands, Immediates) {
  EXPECT_EQ(one("-4@$-1").kind, OperandKind::kImmediate);
  EXPECT_EQ(one("-4@$-1").displacement, -1);
  EXPECT_EQ(one("8@$0x10").displacement, 16);
  EXPECT_EQ(one("8@$18446744073709551615").displacement, -1);
}

TEST(Operands, Memory) {
  const Operand plain = one("8@-24(%rbp)");
  EXPECT_EQ(plain.kind, OperandKind::kMemory);
  EXPECT_EQ(plain.base, Register::kRbp);
  EXPECT_EQ(plain.displacement, -24);
  EXPECT_FALSE(plain.has_index);
  const Operand full = one("-4@0x8(%rax,%r12,4)");
  EXPECT_EQ(full.index, Register::kR12);
  EXPECT_EQ(full.scale, 4);
  EXPECT_TRUE(full.is_signed);
  const Operand no_base = one("8@16(,%rbx,8)");
  EXPECT_FALSE(no_base.has_base);
  EXPECT_TRUE(no_base.has_index);
  EXPECT_EQ(one("8@(%rsp)").base, Register::kRsp);
}

TEST(Operands, WithoutSizeAreEightBytes) { EXPECT_EQ(one("%rax").size, 8); }

TEST(Operands, WhatCannotBeReadKeepsItsText) {
  for (const char* text : {"8f@%xmm0", "8@table(%rip)", "8@", "16@%rax", "4@%xyz", "8@8(%eax)", "8@(%rax,%rbx,3)",
                           "0X8000000000000000@%rax", "8@8(", "8@()", "@%rax", "8@$", "8@12", "8@$12x"}) {
    const Operand operand = one(text);
    EXPECT_EQ(operand.kind, OperandKind::kUnknown) << text;
    EXPECT_EQ(operand.text, text);
  }
}

TEST(Operands, SeveralInOrder) {
  const auto operands = parse_operands("-8@%r9  8@-8(%rax) -4@$7");
  ASSERT_EQ(operands.size(), 3u);
  EXPECT_EQ(operands[1].displacement, -8);
  EXPECT_TRUE(parse_operands("").empty());
}

}  // namespace
}  // namespace jtrace::dtrace
