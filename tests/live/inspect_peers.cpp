#include "tests/live/inspect_peers.h"

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/testlib/run_command.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

// "0x00000000fe0e2730" as "0xfe0e2730".
std::string short_address(const std::string& text) {
  std::ostringstream out;
  out << "0x" << std::hex << std::stoull(text, nullptr, 16);
  return out.str();
}

std::string quoted_name(const std::string& line) {
  const std::size_t end = line.rfind("\" ");
  const std::size_t last = end == line.npos ? line.rfind('"') : line.find("\" #");
  return line.substr(1, (last == line.npos ? end : last) - 1);
}

std::string between(const std::string& text, std::string_view from, std::string_view to) {
  const std::size_t start = text.find(from);
  if (start == text.npos) return {};
  const std::size_t at = start + from.size();
  return text.substr(at, text.find(to, at) - at);
}

// "java.lang.Object.wait(java.base@17.0.15/Object.java:338)" as "java.lang.Object.wait Object.java:338".
std::string frame_of(const std::string& text) {
  const std::size_t open = text.rfind('(');
  std::string place = text.substr(open + 1, text.rfind(')') - open - 1);
  if (const std::size_t slash = place.rfind('/'); slash != place.npos) place.erase(0, slash + 1);
  return text.substr(0, open) + " " + place;
}

}  // namespace

Dump parse_thread_print(const std::string& text) {
  Dump dump;
  DumpedThread* thread = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Found ") || line.starts_with("JNI global")) break;
    if (line.starts_with('"')) {
      thread = line.find(" #") == line.npos ? nullptr : &dump[quoted_name(line)];  // other threads are not Java threads
      if (thread) *thread = {};
    }
    if (!thread) continue;
    if (line.starts_with("   java.lang.Thread.State: ")) thread->state = line.substr(27);
    if (line.starts_with("\tat ")) thread->frames.push_back(frame_of(line.substr(4)));
    const std::size_t last = thread->frames.empty() ? 0 : thread->frames.size() - 1;
    const auto address = [&] { return short_address(between(line, "<", ">")); };
    // JDK 11 prints the second form for the monitor that is waited for, in the frame that had locked it.
    if (line.starts_with("\t- locked <") || line.starts_with("\t- waiting to re-lock in wait() <"))
      thread->locked.emplace_back(last, address());
    for (const char* words : {"\t- waiting on <", "\t- waiting to lock <", "\t- parking to wait for  <"})
      if (line.starts_with(words)) thread->waiting = address();
    if (line.starts_with("\t- <")) thread->owned.insert(address() + " " + between(line, "(a ", ")"));
  }
  return dump;
}

BciDump parse_jhsdb(const std::string& text) {
  BciDump dump;
  std::vector<std::string>* frames = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('"') && line.find("\" #") != line.npos) frames = &dump[quoted_name(line)];
    if (!frames || !line.starts_with(" - ") || line.find(" @bci=") == line.npos) continue;
    const std::string method = line.substr(3, line.find('(') - 3);
    const std::string source_line = between(line, ", line=", " ");
    frames->push_back(method.substr(method.rfind('.') + 1) + " " +
                      std::to_string(std::stoi(between(line, "@bci=", " "))) + " " +
                      (line.find(", line=") == line.npos ? "-1" : std::to_string(std::stoi(source_line))));
  }
  return dump;
}

Dump dump_of_json(const std::string& text) {
  Dump dump;
  const json all = json::parse(text);
  for (const json& row : all["data"]) {
    if (!row["java"].get<bool>() || row.value("virtual", false)) continue;
    DumpedThread& thread = dump[row["name"]];
    thread.state = row["state"];
    if (row["stateDetail"] != "") thread.state += " (" + row["stateDetail"].get<std::string>() + ")";
    for (const json& frame : row["frames"]) {
      if (!frame.contains("method")) continue;
      const std::string name = frame["class"];
      std::string place = "Unknown Source";
      if (frame.value("nativeMethod", false)) place = "Native Method";
      else if (frame.contains("file"))
        place = frame["file"].get<std::string>() +
                (frame.contains("line") ? ":" + std::to_string(frame["line"].get<int>()) : "");
      thread.frames.push_back(name + "." + frame["method"].get<std::string>() + " " + place);
    }
    for (const json& lock : row["locked"]) thread.locked.emplace_back(lock["frame"], lock["object"]);
    for (const json& lock : row["owned"])
      thread.owned.insert(lock["object"].get<std::string>() + " " + lock["class"].get<std::string>());
    if (row.contains("waitingOn")) thread.waiting = row["waitingOn"]["object"];
  }
  return dump;
}

BciDump bcis_of_json(const std::string& text) {
  BciDump dump;
  const json all = json::parse(text);
  for (const json& row : all["data"]) {
    if (!row["java"].get<bool>() || row.value("virtual", false)) continue;
    auto& frames = dump[row["name"]];
    for (const json& frame : row["frames"])
      if (frame.contains("method"))
        frames.push_back(frame["method"].get<std::string>() + " " + std::to_string(frame["bci"].get<int>()) + " " +
                         std::to_string(frame.value("line", -1)));
  }
  return dump;
}

std::map<std::string, std::string> parse_flags(const std::string& text) {
  // "    bool UseSerialGC        := true      {product} {command line}"
  static const std::regex flag("^ *[a-z_0-9]+ ([A-Za-z0-9_]+) +:?= ?(.*?) *\\{");
  std::map<std::string, std::string> flags;
  std::istringstream lines(text);
  std::smatch parts;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, parts, flag)) flags[parts[1]] = parts[2];
  return flags;
}

std::map<std::string, std::string> parse_properties(const std::string& text) {
  std::map<std::string, std::string> properties;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#') || line.empty() || line.starts_with("OK")) continue;
    std::string key, value;
    std::string* into = &key;
    for (std::size_t i = 0; i < line.size(); ++i) {  // java.util.Properties.store
      char c = line[i];
      if (c == '=' && into == &key) {
        into = &value;
        continue;
      }
      if (c == '\\' && i + 1 < line.size()) {
        c = line[++i];
        if (c == 'u' && i + 4 < line.size()) {  // the tests have no other characters above Latin-1
          *into += line.substr(i + 1, 4) == "20AC" ? "\u20ac" : "?";
          i += 4;
          continue;
        }
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
      *into += c;
    }
    properties[key] = value;
  }
  return properties;
}

std::map<std::string, std::string> parse_counters(const std::string& text) {
  std::map<std::string, std::string> counters;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == line.npos || line.find(' ') < equals) continue;
    std::string value = line.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    counters[line.substr(0, equals)] = value;
  }
  return counters;
}

std::map<std::string, std::string> rows_of_json(const std::string& text, const std::string& key,
                                                const std::string& value) {
  std::map<std::string, std::string> rows;
  const json all = json::parse(text);
  for (const json& row : all["data"])
    rows[row[key]] = row[value].is_string() ? row[value].get<std::string>() : row[value].dump();
  return rows;
}

std::string run_jdk_tool(const JvmProcess& jvm, const std::string& tool, const std::vector<std::string>& words) {
  std::string command = "cd / && exec " + jvm.jdk().home + "/bin/" + tool;
  for (const std::string& word : words) command += " " + word;
  // In the JVM's root and mounts, where its JDK is; its working folder may not be reachable by name there.
  const auto done = run_command({"nsenter", "-t", jvm.pid_text(), "-m", "-r", "--", "/bin/sh", "-c", command});
  return done ? done->out : "";
}

}  // namespace jtrace::test
