// Notes and operands: every form that sdt.h and compilers write, and invalid bytes.
#include "dtrace/stap_note.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "target/isa_aarch64.h"
#include "target/isa_x86_64.h"

namespace jtrace::dtrace {
namespace {

using target::Isa;
namespace x86_64 = target::x86_64;
namespace aarch64 = target::aarch64;

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

Operand one(std::string_view text, Isa isa = Isa::kX86_64) {
  const auto operands = parse_operands(text, isa);
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
  EXPECT_EQ(operand.base, x86_64::kRcx);
  EXPECT_EQ(operand.size, 4);
  EXPECT_TRUE(operand.is_signed);
  EXPECT_EQ(one("8@%rdi").base, x86_64::kRdi);
  EXPECT_EQ(one("2@%r11w").base, x86_64::kR11);
  EXPECT_EQ(one("-4@%r9d").base, x86_64::kR9);
  EXPECT_EQ(one("1@%sil").base, x86_64::kRsi);
  EXPECT_EQ(one("1@%bpl").base, x86_64::kRbp);
  EXPECT_EQ(one("1@%ch").base, x86_64::kRcx);
  EXPECT_EQ(one("1@%ch").shift, 8);
  EXPECT_EQ(one("1@%cl").shift, 0);
  EXPECT_EQ(one("2@%di").base, x86_64::kRdi);
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
  EXPECT_EQ(plain.base, x86_64::kRbp);
  EXPECT_EQ(plain.displacement, -24);
  EXPECT_FALSE(plain.has_index);
  const Operand full = one("-4@0x8(%rax,%r12,4)");
  EXPECT_EQ(full.index, x86_64::kR12);
  EXPECT_EQ(full.scale, 4);
  EXPECT_TRUE(full.is_signed);
  const Operand no_base = one("8@16(,%rbx,8)");
  EXPECT_FALSE(no_base.has_base);
  EXPECT_TRUE(no_base.has_index);
  EXPECT_EQ(one("8@(%rsp)").base, x86_64::kRsp);
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
  const auto operands = parse_operands("-8@%r9  8@-8(%rax) -4@$7", Isa::kX86_64);
  ASSERT_EQ(operands.size(), 3u);
  EXPECT_EQ(operands[1].displacement, -8);
  EXPECT_TRUE(parse_operands("", Isa::kX86_64).empty());
}

Operand of_aarch64(std::string_view text) { return one(text, Isa::kAarch64); }

TEST(OperandsOfAarch64, RegistersByTheirSize) {
  const Operand operand = of_aarch64("-4@x19");
  EXPECT_EQ(operand.kind, OperandKind::kRegister);
  EXPECT_EQ(operand.base, 19);
  EXPECT_EQ(operand.size, 4);
  EXPECT_TRUE(operand.is_signed);
  EXPECT_EQ(of_aarch64("8@x0").base, 0);
  EXPECT_EQ(of_aarch64("8@x30").base, 30);
  EXPECT_EQ(of_aarch64("1@w7").base, 7);
  EXPECT_EQ(of_aarch64("8@sp").base, aarch64::kSp);
}

TEST(OperandsOfAarch64, Immediates) {
  EXPECT_EQ(of_aarch64("-4@-1").kind, OperandKind::kImmediate);
  EXPECT_EQ(of_aarch64("-4@-1").displacement, -1);
  EXPECT_EQ(of_aarch64("1@0").displacement, 0);
  EXPECT_EQ(of_aarch64("8@#0x10").displacement, 16);
  const Operand zero = of_aarch64("8@xzr");
  EXPECT_EQ(zero.kind, OperandKind::kImmediate) << "the register that is always 0";
  EXPECT_EQ(zero.displacement, 0);
}

TEST(OperandsOfAarch64, Memory) {
  const Operand plain = of_aarch64("8@[x0, 152]");
  EXPECT_EQ(plain.kind, OperandKind::kMemory);
  EXPECT_EQ(plain.base, 0);
  EXPECT_EQ(plain.displacement, 152);
  EXPECT_FALSE(plain.has_index);
  EXPECT_EQ(of_aarch64("1@[x19, 37]").size, 1);
  EXPECT_EQ(of_aarch64("8@[sp]").base, aarch64::kSp);
  EXPECT_EQ(of_aarch64("8@[sp, -16]").displacement, -16);
  const Operand indexed = of_aarch64("-4@[x1, x2, lsl 2]");
  EXPECT_TRUE(indexed.has_index);
  EXPECT_EQ(indexed.index, 2);
  EXPECT_EQ(indexed.scale, 4);
  EXPECT_EQ(of_aarch64("8@[x1, x2]").scale, 1);
}

TEST(OperandsOfAarch64, ABlankInBracketsDoesNotSeparate) {
  const auto operands = parse_operands("8@x3 -4@x2 8@[x0, 152] 1@x1", Isa::kAarch64);  // class__loaded of JDK 17
  ASSERT_EQ(operands.size(), 4u);
  EXPECT_EQ(operands[2].displacement, 152);
  EXPECT_EQ(operands[2].text, "8@[x0, 152]");
  EXPECT_EQ(operands[3].base, 1);
}

TEST(OperandsOfAarch64, WhatCannotBeReadKeepsItsText) {
  for (const char* text :
       {"8f@d0", "8@x31", "8@x", "8@x01", "8@y1", "8@[x0", "8@[]", "8@[w0, 8]", "8@[xzr]", "8@[x0, x1, lsl 9]",
        "8@[x0, 8, lsl 2]", "8@[x0, w1, sxtw 2]", "8@[x0, #:lo12:table]", "8@", "16@x0", "8@%rax"}) {
    const auto operands = parse_operands(text, Isa::kAarch64);
    ASSERT_EQ(operands.size(), 1u) << text;
    EXPECT_EQ(operands[0].kind, OperandKind::kUnknown) << text;
    EXPECT_EQ(operands[0].text, text);
  }
}

}  // namespace
}  // namespace jtrace::dtrace
