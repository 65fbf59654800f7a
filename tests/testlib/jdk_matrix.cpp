#include "tests/testlib/jdk_matrix.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "base/file.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;

// The tree that scripts/jdks made: the same rule as its --where, without running it in every test process.
std::string tree() {
  const char* chosen = std::getenv("JTRACE_JDK_TREE");
  return chosen != nullptr ? chosen : "/var/cache/jtrace/sid";
}

// "17" of JAVA_VERSION="17.0.15", "8" of "1.8.0_504"; Debian's JDK 8 has no release file: its folder's name is used.
int version_of(const std::string& home_on_host) {
  std::string text;
  if (auto release = read_file(home_on_host + "/release")) {
    const std::size_t at = release->find("JAVA_VERSION=\"");
    if (at != std::string::npos) text = release->substr(at + 14);
  }
  if (text.empty()) {
    text = fs::path(home_on_host).filename().string();
    const auto digit = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    text.erase(text.begin(), digit);
  }
  if (text.substr(0, 2) == "1.") text.erase(0, 2);
  return std::atoi(text.c_str());
}

// Real homes below root/usr/lib/jvm, as seen by a JVM in `root`.
void add_jdks_below(const std::optional<std::string>& root, std::vector<Jdk>& into) {
  const std::string folder = "/usr/lib/jvm";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root.value_or("") + folder, error)) {
    if (entry.is_symlink() || !entry.is_directory()) continue;
    Jdk jdk{version_of(entry.path()), folder + "/" + entry.path().filename().string(), root, {}};
    if (jdk.version >= 8 && ::access(jdk.host_path("bin/java").c_str(), F_OK) == 0 && !jdk.libjvm().empty())
      into.push_back(std::move(jdk));
  }
}

std::string identifier(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

void name_them(std::vector<Jdk>& list) {
  std::set<std::string> taken;
  for (Jdk& jdk : list) {
    jdk.name = "jdk" + std::to_string(jdk.version) + (jdk.root ? "_chroot" : "");
    if (!taken.insert(jdk.name).second) {
      jdk.name += "_" + identifier(fs::path(jdk.home).filename());
      taken.insert(jdk.name);
    }
  }
}

std::vector<std::string> jdks_of(std::string_view list) {
  std::vector<std::string> result;
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    if (colon != 0) result.emplace_back(list.substr(0, colon));
    list = colon == std::string_view::npos ? "" : list.substr(colon + 1);
  }
  return result;
}

bool chosen(const Jdk& jdk, const std::vector<std::string>& items) {
  return std::any_of(items.begin(), items.end(), [&](const std::string& item) {
    return item == "all" || item == std::to_string(jdk.version) || item == jdk.name || item == jdk.home ||
           item == jdk.host_path("");
  });
}

// The tree's where this machine has the version too: what another build of it adds is not worth its time in each run.
void drop_second_ones(std::vector<Jdk>& list) {
  std::set<int> here;
  for (const Jdk& jdk : list)
    if (!jdk.root) here.insert(jdk.version);
  std::erase_if(list, [&](const Jdk& jdk) { return jdk.root && here.contains(jdk.version); });
}

std::vector<Jdk> find_jdks() {
  std::vector<Jdk> result;
  add_jdks_below(std::nullopt, result);
  add_jdks_below(tree(), result);
  const char* narrowed = std::getenv("JTRACE_TEST_JDKS");
  const std::vector<std::string> items = jdks_of(narrowed == nullptr ? "" : narrowed);
  for (const std::string& item : items) {
    const bool known = std::any_of(result.begin(), result.end(), [&](const Jdk& jdk) { return jdk.home == item; });
    Jdk jdk{version_of(item), item, std::nullopt, {}};
    if (item[0] == '/' && !known && !jdk.libjvm().empty()) result.push_back(jdk);
  }
  std::sort(result.begin(), result.end(), [](const Jdk& a, const Jdk& b) {
    return std::tuple(a.version, a.root.has_value(), a.home) < std::tuple(b.version, b.root.has_value(), b.home);
  });
  name_them(result);
  if (narrowed != nullptr) std::erase_if(result, [&](const Jdk& jdk) { return !chosen(jdk, items); });
  else drop_second_ones(result);
  return result;
}

// The section in which a library has its texts: a twentieth of it.
std::string read_only_data(const std::string& path) {
  const auto fd = open_file(path, O_RDONLY);
  if (!fd || ::elf_version(EV_CURRENT) == EV_NONE) return {};
  const std::unique_ptr<Elf, decltype(&::elf_end)> elf(::elf_begin(fd->get(), ELF_C_READ_MMAP, nullptr), &::elf_end);
  std::size_t names = 0;
  if (elf == nullptr || ::elf_getshdrstrndx(elf.get(), &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) continue;
    const char* const name = ::elf_strptr(elf.get(), names, header.sh_name);
    if (name == nullptr || std::string_view(name) != ".rodata") continue;
    if (const Elf_Data* const data = ::elf_rawdata(section, nullptr); data != nullptr)
      return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

}  // namespace

std::string_view to_string(Collector collector) {
  switch (collector) {
    case Collector::kSerial: return "Serial";
    case Collector::kParallel: return "Parallel";
    case Collector::kG1: return "G1";
    case Collector::kZ: return "Z";
    case Collector::kShenandoah: return "Shenandoah";
  }
  return "?";
}

std::string Jdk::host_path(std::string_view relative) const {
  std::string path = root.value_or("") + home;
  if (!relative.empty()) path.append("/").append(relative);
  return path;
}

std::string Jdk::libjvm() const {
  for (const char* place :
       {"lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so", "jre/lib/aarch64/server/libjvm.so"})
    if (::access(host_path(place).c_str(), R_OK) == 0) return host_path(place);
  return {};
}

bool Jdk::has_javac() const { return ::access(host_path("bin/javac").c_str(), X_OK) == 0; }

bool Jdk::has_flag(std::string_view name) const {
  static std::map<std::string, std::string> texts;  // each process of a live test asks several times
  const std::string path = libjvm();
  auto found = texts.find(path);
  if (found == texts.end()) found = texts.emplace(path, read_only_data(path)).first;
  return found->second.find(name) != std::string::npos;
}

std::vector<Collector> Jdk::collectors() const {
  std::vector<Collector> result{Collector::kSerial, Collector::kParallel, Collector::kG1};
  if (has_flag("UseZGC")) result.push_back(Collector::kZ);
  if (has_flag("UseShenandoahGC")) result.push_back(Collector::kShenandoah);
  return result;
}

std::vector<std::string> Jdk::collector_flags(Collector collector) const {
  std::vector<std::string> flags{"-XX:+Use" + std::string(to_string(collector)) + "GC"};
  // Experimental until JDK 15 (JEP 377, JEP 379).
  if (version < 15 && (collector == Collector::kZ || collector == Collector::kShenandoah))
    flags.insert(flags.begin(), "-XX:+UnlockExperimentalVMOptions");
  return flags;
}

std::ostream& operator<<(std::ostream& stream, const Jdk& jdk) { return stream << jdk.name; }
std::ostream& operator<<(std::ostream& stream, const JdkAndCollector& pair) { return stream << NameOf::name(pair); }

const std::vector<Jdk>& jdks() {
  static const std::vector<Jdk> all = find_jdks();
  return all;
}

std::optional<Jdk> any_jdk(int at_least) {
  std::optional<Jdk> best;
  for (const Jdk& jdk : jdks()) {
    if (jdk.version < at_least) continue;
    if (!best || (best->root && !jdk.root) || (best->root.has_value() == jdk.root.has_value())) best = jdk;
  }
  return best;
}

std::vector<Jdk> one_jdk(int at_least) {
  const auto jdk = any_jdk(at_least);
  return jdk ? std::vector<Jdk>{*jdk} : std::vector<Jdk>();
}

std::optional<Jdk> jdk_of_version(int version) {
  for (const Jdk& jdk : jdks())
    if (jdk.version == version) return jdk;
  return std::nullopt;
}

std::vector<JdkAndCollector> jdks_and_collectors() {
  std::vector<JdkAndCollector> result;
  for (const Jdk& jdk : jdks())
    for (const Collector collector : jdk.collectors()) result.push_back({jdk, collector});
  return result;
}

}  // namespace jtrace::test
