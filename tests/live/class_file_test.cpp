// `jtrace inspect ... class NAME --bytes` on every JDK found: javap prints the same for the written class file as for
// the loaded one, and the JVM runs a program of such files, verifying all classes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "tests/live/core_folder.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

std::string decoded_base64(const std::string& text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t value = alphabet.find(c);
    if (value == alphabet.npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if ((count += 6) < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

// The class file with a version that this machine's javap accepts.
std::string known_version(std::string bytes) {
  constexpr char kJdk17 = 61;
  if (bytes.size() > 8 && bytes[7] > kJdk17) bytes[7] = kJdk17;
  return bytes;
}

std::string file_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name + ".class";
}

void write_class(const std::string& path, const std::string& bytes) {
  const auto file = must(open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  must(write_whole(file.get(), bytes, path));
}

// A line of javap without the numbers of the constant pool, and with single spaces.
std::string plain_line(std::string_view line) {
  std::string text;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' && (text.empty() || text.back() == ' ')) continue;
    text += line[i];
    if (line[i] == '#')
      while (i + 1 < line.size() && is_digit(line[i + 1])) ++i;
  }
  const std::size_t number = text.find(": #");  // "12: #34 REF_invokeStatic ...", of bootstrap methods and annotations
  const bool is_number = number != text.npos && std::all_of(text.begin(), text.begin() + long(number), is_digit);
  return is_number ? text.substr(number + 2) : text;
}

// javap's output for a class file: paragraphs (the head, fields, methods, attributes) as text of their sorted lines,
// because methods and attributes may be in any order; without what a VM does not keep.
using Description = std::multiset<std::string>;
std::map<std::string, Description> javap(const std::vector<std::string>& files) {
  std::vector<std::string> words{any_jdk(17)->host_path("bin/javap"), "-c", "-p", "-v"};
  words.insert(words.end(), files.begin(), files.end());
  const auto done = run_command(words, {.timeout = std::chrono::minutes(2)});
  std::map<std::string, Description> all;
  EXPECT_TRUE(succeeded(done));
  if (!done) return all;
  EXPECT_EQ(done->status, 0) << done->err;
  Description *description = nullptr, *of_jdk = nullptr;
  std::multiset<std::string> paragraph;
  bool tail = false;
  bool skipped = false;  // within an attribute that a VM does not keep
  std::istringstream lines(done->out);
  const auto end_paragraph = [&] {
    std::string text;
    for (const std::string& line : paragraph) text += line + "\n";
    if (description && !text.empty()) description->insert(std::move(text));
    paragraph.clear();
    skipped = false;
  };
  for (std::string line; std::getline(lines, line);) {
    // After the members, the attributes of the class are one paragraph, in any order.
    if ((line.empty() && !tail) || line == "{" || line == "}" || line.starts_with("Classfile ")) end_paragraph();
    tail = line == "}" || (tail && !line.starts_with("Classfile "));
    if (line.starts_with("Classfile ")) {
      const fs::path path = line.substr(10);
      description = &all[path];
      of_jdk = path.filename().string().starts_with("java_") ? description : nullptr;
    }
    const std::string plain = plain_line(line);
    if (plain.size() < 2 || plain.starts_with("# = ") || plain.starts_with("Classfile ")) continue;
    bool kept = true;
    for (const char* start : {"Last modified", "SHA-256", "Compiled from", "Deprecated: true",
                              "Constant pool:", "interfaces: "})  // the number of attributes
      kept = kept && !plain.starts_with(start);
    if (skipped && (plain.starts_with("#") || plain.find(':') == plain.npos)) continue;
    skipped = plain.find("RuntimeInvisible") != plain.npos;
    // A VM keeps stack maps only of classes that it verifies, which excludes those of the boot loader; and its archive
    // of classes has no parameters of bridge methods.
    if (description == of_jdk)
      for (const char* start : {"StackMapTable:", "frame_type =", "offset_delta =", "locals = [", "stack = [",
                                "MethodParameters:", "Name Flags", "<no name>"})
        kept = kept && !plain.starts_with(start);
    if (kept && !skipped) paragraph.insert(plain);
  }
  end_paragraph();
  return all;
}

// The paragraphs of one description that the other lacks.
std::string difference(const Description& ours, const Description& theirs) {
  std::string text;
  for (const std::string& part : ours)
    if (!theirs.contains(part)) text += "only ours:\n" + part;
  for (const std::string& part : theirs)
    if (!ours.contains(part)) text += "only theirs:\n" + part;
  return text.substr(0, 3000);
}

// The zoo, and classes of kinds that are newer than JDK 8 (Late.class, Late$Pair.class), in a folder that lasts.
const std::string& zoo_with_records() {
  static const ScratchDir folder("jtrace-zoo");
  static const bool made = [] {
    const auto zoo = compiled_app("ClassZoo");
    if (!zoo) return false;
    fs::copy(*zoo, folder.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::ofstream(folder.file("Late.java")) << R"(import java.util.List;
      sealed interface Late permits Late.Pair, Late.None {
        record Pair<T>(@Deprecated T first, List<T> second, int[] third) implements Late {
          static String kind(Late late) { return "a " + late + late.hashCode() + new Pair<>(1, List.of(2), null); }
        }
        record None() implements Late {}
      })";
    const auto done = run_command(
        {any_jdk(17)->host_path("bin/javac"), "--release", "17", "-d", folder.path(), folder.file("Late.java")});
    fs::permissions(folder.path(), fs::perms(0755));
    return done && done->status == 0;
  }();
  EXPECT_TRUE(made);
  return folder.path();
}

class ClassFile : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (!any_jdk(17) || !fs::exists(any_jdk(17)->host_path("bin/javap")))
      JTRACE_SKIP("live", "no javap of 17 or later on this machine");
    no_core_ = why_no_kernel_core();  // sets the limit that the JVM inherits
    auto jvm = must(JvmProcess::start_classes(GetParam(), zoo_with_records(), "ClassZoo",
                                              attachable(GetParam(), {"-Xmx32m", "-XX:+UseSerialGC"})));
    jvm_ = std::move(jvm);
  }
  // Writes the class file of `name`, rebuilt from the target.
  static void rebuild(const std::string& target, const std::vector<std::string>& files, const std::string& name,
                      const std::string& path) {
    std::vector<std::string> words{"inspect", target, "class", name, "--bytes", "-o", path};
    words.insert(words.end(), files.begin(), files.end());
    const auto done = must(run_jtrace(words));
    EXPECT_EQ(done.status, 0) << name << done.err;
  }
  static void expect_same_by_javap(const std::vector<std::string>& originals,
                                   const std::vector<std::string>& rebuilts) {
    const ScratchDir folder;
    std::vector<std::string> files;
    for (std::size_t i = 0; i < originals.size(); ++i) {
      const auto theirs = read_file(originals[i]), ours = read_file(rebuilts[i]);
      ASSERT_TRUE(theirs && ours);
      EXPECT_EQ(ours->substr(0, 8), theirs->substr(0, 8)) << "magic and version";
      const std::string name = fs::path(originals[i]).filename();
      files.push_back(folder.file(name));
      files.push_back(folder.file("rebuilt/" + name));
      fs::create_directories(folder.file("rebuilt"));
      write_class(files[files.size() - 2], known_version(*theirs));
      write_class(files.back(), known_version(*ours));
    }
    const auto said = javap(files);
    for (std::size_t i = 0; i < files.size(); i += 2) {
      ASSERT_TRUE(said.contains(files[i]) && said.contains(files[i + 1])) << files[i];
      const Description &theirs = said.at(files[i]), &ours = said.at(files[i + 1]);
      EXPECT_EQ(difference(ours, theirs), "") << files[i];
      EXPECT_EQ(ours.size(), theirs.size()) << files[i];
    }
  }
  // The core gives the same bytes. It ends the JVM.
  void expect_same_of_core(const std::vector<std::string>& names, const std::vector<std::string>& files) {
    if (!no_core_.empty()) return;  // inspect_test reports it
    const CoreFolder folder(*jvm_);
    jvm_->signal(SIGABRT);
    must(jvm_->wait_exit());
    ASSERT_NE(folder.core(), "");
    std::vector<std::string> sysroot;
    if (GetParam().root) sysroot = {"--sysroot", *GetParam().root};
    const ScratchDir scratch;
    for (std::size_t i = 0; i < names.size(); i += 4) {
      rebuild(folder.core(), sysroot, names[i], scratch.file("one.class"));
      EXPECT_EQ(read_file(scratch.file("one.class")).value_or(""), read_file(files[i]).value_or("?")) << names[i];
    }
    record_support(GetParam(), "Serial", "core", "class files");
  }
  // The zoo's classes, and some of the JDK with features that the zoo cannot have: records, sealed classes, dynamic
  // constants.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    const auto done = run_jtrace({"inspect", jvm_->pid_text(), "classes", "--format", "json"});
    EXPECT_TRUE(succeeded(done));
    const json classes = done ? json::parse(done->out) : json();
    for (const json& row : classes["data"]) {
      const std::string name = row["name"];
      if (name.starts_with("ClassZoo") && name.find("Lambda") == name.npos && name.find("[]") == name.npos)
        names.push_back(name);
    }
    EXPECT_GE(names.size(), 11u);
    for (const char* name : {"java.lang.Thread", "java.lang.String", "java.util.HashMap"}) names.push_back(name);
    if (GetParam().version < 17) return names;
    for (const char* name : {"java.lang.constant.ConstantDesc", "Late", "Late$Pair", "Late$None"}) {
      EXPECT_TRUE(succeeded(jvm_->ask("load " + std::string(name))));
      names.push_back(name);
    }
    return names;
  }

  std::string no_core_;
  std::unique_ptr<JvmProcess> jvm_;
};
JTRACE_ON_EACH_JDK(ClassFile);

TEST_P(ClassFile, HasWhatTheLoadedOneHasAndRuns) {
  const ScratchDir original, rebuilt, program;
  const auto all = names();
  std::vector<std::string> originals, rebuilts;
  for (const std::string& name : all) {
    originals.push_back(original.file(file_name(name)));
    rebuilts.push_back(rebuilt.file(file_name(name)));
    const auto bytes = must(jvm_->ask("bytes " + name));
    write_class(originals.back(), decoded_base64(bytes));
    rebuild(jvm_->pid_text(), {}, name, rebuilts.back());
    if (!name.starts_with("ClassZoo")) continue;
    fs::copy_file(rebuilts.back(), program.file(name + ".class"));
    fs::permissions(program.file(name + ".class"), fs::perms(0644));
  }
  expect_same_by_javap(originals, rebuilts);
  EXPECT_TRUE(jvm_->alive());
  expect_same_of_core(all, rebuilts);
  fs::permissions(program.path(), fs::perms(0755));
  const auto again =
      JvmProcess::start_classes(GetParam(), program.path(), "ClassZoo",
                                {.flags = {"-Xmx32m", "-XX:+UnlockDiagnosticVMOptions",
                                           "-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"}});
  EXPECT_TRUE(succeeded(again));
  record_support(GetParam(), "Serial", "live", "class files");
}

}  // namespace
}  // namespace jtrace::test
