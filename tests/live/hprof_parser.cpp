#include "tests/live/hprof_parser.h"

namespace jtrace::test {
namespace {

std::uint32_t size_of(std::uint8_t type) {
  switch (type) {
    case 2:
    case 7:
    case 11: return 8;
    case 6:
    case 10: return 4;
    case 5:
    case 9: return 2;
    case 4:
    case 8: return 1;
    default: return 0;
  }
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

class HprofFile::Reader {
 public:
  explicit Reader(HprofFile& file) : file_(file), bytes_(file.bytes_) {}

  Result<> read() {
    constexpr std::string_view kName("JAVA PROFILE 1.0.2\0", 19);
    if (!std::string_view(bytes_).starts_with(kName)) return bad("no header");
    at_ = kName.size();
    if (number(4) != 8) return bad("identifiers are not of 8 bytes");
    number(8);
    while (at_ < bytes_.size() && !failed_) {
      const auto tag = static_cast<std::uint8_t>(number(1));
      number(4);
      const std::uint64_t length = number(4);
      if (failed_ || length > bytes_.size() - at_) return bad("a record is cut off");
      const std::size_t end = at_ + length;
      record(tag, end);
      if (failed_ || at_ != end)
        return bad("a record of kind " + std::to_string(tag) + " does not end where it should");
    }
    resolve_threads();
    return {};
  }

 private:
  Result<> bad(const std::string& what) const {
    return fail(ErrorCategory::kMalformed, what + " at byte " + std::to_string(at_));
  }
  std::uint64_t number(std::size_t size) {
    if (bytes_.size() - at_ < size) {
      failed_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }
  std::uint64_t id() { return number(8); }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      failed_ = true;
      return {};
    }
    at_ += size;
    return std::string_view(bytes_).substr(at_ - size, size);
  }

  void record(std::uint8_t tag, std::size_t end) {
    switch (tag) {
      case 0x01: {
        const std::uint64_t text = id();
        file_.texts_[text] = take(end - at_);
        break;
      }
      case 0x02: {
        const auto serial = static_cast<std::uint32_t>(number(4));
        const std::uint64_t klass = id();
        number(4);
        file_.class_of_serial_[serial] = klass;
        file_.classes_[klass].name = file_.texts_[id()];
        break;
      }
      case 0x04: {
        const std::uint64_t frame = id();
        const std::uint64_t name = id();
        id();
        id();
        const auto serial = static_cast<std::uint32_t>(number(4));
        number(4);
        file_.frames_[frame] = file_.classes_[file_.class_of_serial_[serial]].name + "." + file_.texts_[name];
        break;
      }
      case 0x05: {
        const auto serial = static_cast<std::uint32_t>(number(4));
        number(4);
        const std::uint64_t count = number(4);
        for (std::uint64_t i = 0; i < count && !failed_; ++i) file_.traces_[serial].push_back(id());
        break;
      }
      case 0x0c:
      case 0x1c:
        ++file_.segments_;
        while (at_ < end && !failed_) sub_record();
        break;
      case 0x2c: file_.end_ = true; break;
      default: at_ = end;
    }
  }

  void sub_record() {
    const auto kind = static_cast<std::uint8_t>(number(1));
    switch (kind) {
      case 0x20: return class_dump();
      case 0x21:
      case 0x22:
      case 0x23: return object(kind);
      default: return root(kind);
    }
  }
  void root(std::uint8_t kind) {
    const std::uint64_t object = id();
    std::uint64_t thread = 0;
    switch (kind) {
      case 0xff:
      case 0x05:
      case 0x07: break;
      case 0x01: id(); break;
      case 0x02:
      case 0x03:
        thread = number(4);
        number(4);
        break;
      case 0x08:
        threads_[static_cast<std::uint32_t>(number(4))] = object;
        file_.trace_of_thread_[object] = static_cast<std::uint32_t>(number(4));
        break;
      case 0x04:
      case 0x06: number(4); break;
      default: failed_ = true;
    }
    raw_roots_.push_back({kind, {object, thread}});
  }
  void class_dump() {
    HprofClass& klass = file_.classes_[id()];
    number(4);
    klass.super = id();
    klass.loader = id();
    for (int i = 0; i < 4; ++i) id();
    klass.instance_bytes = static_cast<std::uint32_t>(number(4));
    for (std::uint64_t n = number(2); n > 0 && !failed_; --n) {
      number(2);
      number(size_of(static_cast<std::uint8_t>(number(1))));
    }
    for (std::uint64_t n = number(2); n > 0 && !failed_; --n) {
      const std::uint64_t name = id();
      klass.statics[file_.texts_[name]] = number(size_of(static_cast<std::uint8_t>(number(1))));
    }
    for (std::uint64_t n = number(2); n > 0 && !failed_; --n) {
      const std::uint64_t name = id();
      klass.fields.emplace_back(file_.texts_[name], static_cast<std::uint8_t>(number(1)));
    }
  }
  void object(std::uint8_t kind) {
    const std::uint64_t address = id();
    number(4);
    HprofObject object{.kind = kind};
    if (kind == 0x21) {
      object.type = id();
      object.length = static_cast<std::uint32_t>(number(4));
      object.content = take(object.length);
    } else {
      object.length = static_cast<std::uint32_t>(number(4));
      object.type = kind == 0x22 ? id() : number(1);
      const std::uint64_t element = kind == 0x22 ? 8 : size_of(static_cast<std::uint8_t>(object.type));
      object.content = take(object.length * element);
    }
    if (!file_.objects_.emplace(address, object).second) failed_ = true;  // twice
  }
  void resolve_threads() {
    for (auto& [kind, root] : raw_roots_) {
      if (kind == 0x02 || kind == 0x03) root.second = threads_[static_cast<std::uint32_t>(root.second)];
      file_.roots_[kind].insert(root);
    }
  }

  HprofFile& file_;
  const std::string& bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::map<std::uint32_t, std::uint64_t> threads_;  // serial -> object
  std::vector<std::pair<std::uint8_t, std::pair<std::uint64_t, std::uint64_t>>> raw_roots_;
};

Result<HprofFile> HprofFile::parse(std::string bytes) {
  HprofFile file;
  file.bytes_ = std::move(bytes);
  JTRACE_RETURN_IF_ERROR(Reader(file).read());
  return file;
}

std::map<std::string, std::uint64_t> HprofFile::counts() const {
  static const std::map<std::uint64_t, std::string> primitives = {{4, "[Z"}, {5, "[C"}, {6, "[F"},  {7, "[D"},
                                                                  {8, "[B"}, {9, "[S"}, {10, "[I"}, {11, "[J"}};
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [address, object] : objects_) {
    if (object.kind == 0x23) {
      ++counts[primitives.at(object.type)];
      continue;
    }
    const auto klass = classes_.find(object.type);
    ++counts[klass == classes_.end() ? "?" : klass->second.name];
  }
  return counts;
}

const HprofFile::Roots& HprofFile::roots(std::uint8_t kind) const {
  static const Roots none;
  const auto found = roots_.find(kind);
  return found == roots_.end() ? none : found->second;
}

std::uint64_t HprofFile::class_of(const std::string& name) const {
  for (const auto& [address, klass] : classes_)
    if (klass.name == name) return address;
  return 0;
}

std::map<std::string, std::uint64_t> HprofFile::values(const HprofObject& instance) const {
  std::map<std::string, std::uint64_t> values;
  std::size_t at = 0;
  for (auto klass = classes_.find(instance.type); klass != classes_.end(); klass = classes_.find(klass->second.super))
    for (const auto& [name, type] : klass->second.fields) {
      values[klass->second.name + "." + name] =
          at < instance.content.size() ? big_endian(instance.content.substr(at, size_of(type))) : 0;
      at += size_of(type);
    }
  return values;
}

bool HprofFile::leads_nowhere(std::uint64_t reference) const {
  return reference != 0 && !objects_.contains(reference) && !classes_.contains(reference);
}

std::uint64_t HprofFile::dangling_fields(const HprofObject& instance) const {
  std::uint64_t count = 0;
  std::size_t at = 0;
  for (auto klass = classes_.find(instance.type); klass != classes_.end(); klass = classes_.find(klass->second.super))
    for (const auto& [name, type] : klass->second.fields) {
      if (type == 2) count += leads_nowhere(big_endian(instance.content.substr(at, 8)));
      at += size_of(type);
    }
  return count;
}

std::uint64_t HprofFile::dangling() const {
  std::uint64_t count = 0;
  for (const auto& [address, object] : objects_) {
    if (object.kind == 0x21) count += dangling_fields(object);
    if (object.kind != 0x22) continue;
    for (std::size_t at = 0; at < object.content.size(); at += 8)
      count += leads_nowhere(big_endian(object.content.substr(at, 8)));
  }
  return count;
}

std::vector<std::string> HprofFile::stack_of(std::uint64_t thread) const {
  std::vector<std::string> stack;
  const auto serial = trace_of_thread_.find(thread);
  if (serial == trace_of_thread_.end()) return stack;
  const auto trace = traces_.find(serial->second);
  if (trace == traces_.end()) return stack;
  for (const std::uint64_t frame : trace->second) stack.push_back(frames_.at(frame));
  return stack;
}

}  // namespace jtrace::test
