#include "debug/pure_calls.h"

#include <algorithm>

#include "debug/apart_text.h"
#include "debug/object_text.h"

namespace jtrace::debug {
namespace {

using coreinspect::JavaMethod;

constexpr int kMaxDepth = 1000;
constexpr std::string_view kText = "()Ljava/lang/String;";

// One call on one object.
class Call {
 public:
  Call(World& world, const ObjectArgument& object, const JavaMethod& method,
       std::span<const PacketReader::Value> arguments, PacketWriter& out)
      : world_(world),
        objects_(world.inspection().objects()),
        object_(object),
        method_(method),
        arguments_(arguments),
        out_(out) {}

  bool answer() {
    if (is("toString", kText)) return put_text(text());
    if (object_.apart != nullptr) return answer_object();
    if (object_.text != nullptr || object_.type->tag == Tag::kString) return answer_string();
    if (method_.class_name == "java.lang.Object") return answer_object();
    if (method_.class_name == "java.lang.Enum") return answer_enum();
    if (method_.class_name == "java.lang.Thread") return answer_thread();
    if (method_.class_name.starts_with("java.util.")) return answer_collection();
    return answer_box();
  }

 private:
  std::string text() {
    if (object_.text != nullptr) return *object_.text;
    return object_.apart ? text_of_apart(world_, *object_.apart) : ObjectText(world_).text(object_.address);
  }
  bool is(std::string_view name, std::string_view signature) const {
    return method_.name == name && method_.signature == signature;
  }
  bool put(Tag tag, std::uint64_t bits) {
    out_.u1(static_cast<std::uint8_t>(tag)).primitive(tag, bits);
    return true;
  }
  bool put_text(std::string text) { return world_.write_text(out_, std::move(text)), true; }
  bool put_object(Address object) { return world_.write_object(out_, object), true; }
  bool put_int(std::int64_t value) { return put(Tag::kInt, static_cast<std::uint64_t>(value)); }

  // The code units of a string; nothing if it cannot be read.
  std::optional<std::vector<std::uint16_t>> units(const ObjectArgument& string) const {
    constexpr std::size_t kMost = 16u << 20;
    if (string.text != nullptr) return std::nullopt;
    const Address array = objects_.reference(string.address, "value").value_or(0);
    const auto length = objects_.array_length(array);
    const auto base = objects_.array_base(array);
    if (!length || !base || *length > kMost) return std::nullopt;
    std::vector<std::uint8_t> bytes(world_.inspection().vm().feature() < 9 ? *length * std::size_t{2} : *length);
    if (!world_.inspection().vm().memory().read_exactly(*base, std::as_writable_bytes(std::span(bytes))))
      return std::nullopt;
    const bool wide = world_.inspection().vm().feature() < 9 ||
                      objects_.value<std::uint8_t>(string.address, "coder").value_or(std::uint8_t{0}) != 0;
    if (!wide) return std::vector<std::uint16_t>(bytes.begin(), bytes.end());
    std::vector<std::uint16_t> units(bytes.size() / 2);
    std::memcpy(units.data(), bytes.data(), units.size() * 2);
    return units;
  }

  bool answer_string() {
    if (method_.class_name != "java.lang.String") return answer_object();
    const auto text = units(object_);
    if (!text) return false;
    if (is("length", "()I")) return put_int(static_cast<std::int64_t>(text->size()));
    if (is("isEmpty", "()Z")) return put(Tag::kBoolean, text->empty());
    if (is("charAt", "(I)C") && arguments_.size() == 1 && arguments_[0].tag == Tag::kInt)
      return arguments_[0].bits < text->size() && put(Tag::kChar, (*text)[arguments_[0].bits]);
    if (!is("hashCode", "()I")) return false;
    std::uint32_t hash = 0;
    for (const std::uint16_t unit : *text) hash = hash * 31 + unit;
    return put(Tag::kInt, hash);
  }

  bool answer_object() {
    if (method_.class_name != "java.lang.Object") return false;
    if (is("getClass", "()Ljava/lang/Class;"))
      return put_object(objects_.root_field(object_.type->klass, "Klass", "_java_mirror").value_or(0));
    if (!is("hashCode", "()I") || object_.address == 0) return false;
    const std::uint32_t hash = identity_hash(world_.inspection(), object_.address);
    return hash != 0 && put(Tag::kInt, hash);
  }

  bool answer_enum() {
    if (is("name", kText)) return put_object(objects_.reference(object_.address, "name").value_or(0));
    return is("ordinal", "()I") && put_field("ordinal", Tag::kInt);
  }

  bool answer_thread() {
    if (is("getName", "()Ljava/lang/String;"))
      return put_text(objects_.text_field(object_.address, "name").value_or(""));
    return (is("getId", "()J") || is("threadId", "()J")) && put_field("tid", Tag::kLong);
  }

  bool answer_collection() {
    ObjectText text(world_);
    coreinspect::JavaContents& contents = text.contents();
    if (is("size", "()I") || is("isEmpty", "()Z")) {
      const auto size = contents.size(object_.address);
      if (!size) return false;
      return method_.name == "size" ? put_int(static_cast<std::int64_t>(*size)) : put(Tag::kBoolean, *size == 0);
    }
    if (is("get", "(I)Ljava/lang/Object;") && arguments_.size() == 1 && arguments_[0].tag == Tag::kInt) {
      std::uint64_t at = 0;
      std::optional<Address> found;
      (void)contents.each_element(object_.address, [&](Address element) {
        if (at++ == arguments_[0].bits) found = element;
        return !found;
      });
      return found && put_object(*found);
    }
    const bool optional = method_.class_name == "java.util.Optional";
    if (optional && is("get", "()Ljava/lang/Object;")) {
      const Address value = objects_.reference(object_.address, "value").value_or(0);
      return value != 0 && put_object(value);
    }
    if (optional && is("isPresent", "()Z"))
      return put(Tag::kBoolean, objects_.reference(object_.address, "value").value_or(0) != 0);
    return answer_box();
  }

  // intValue() of an Integer, get() of an AtomicInteger, and the like: the field `value`, as it is.
  bool answer_box() {
    static constexpr struct {
      std::string_view holder, name, signature;
      Tag tag;
    } kBoxes[] = {{"java.lang.Integer", "intValue", "()I", Tag::kInt},
                  {"java.lang.Long", "longValue", "()J", Tag::kLong},
                  {"java.lang.Short", "shortValue", "()S", Tag::kShort},
                  {"java.lang.Byte", "byteValue", "()B", Tag::kByte},
                  {"java.lang.Character", "charValue", "()C", Tag::kChar},
                  {"java.lang.Boolean", "booleanValue", "()Z", Tag::kBoolean},
                  {"java.lang.Double", "doubleValue", "()D", Tag::kDouble},
                  {"java.lang.Float", "floatValue", "()F", Tag::kFloat},
                  {"java.util.concurrent.atomic.AtomicInteger", "get", "()I", Tag::kInt},
                  {"java.util.concurrent.atomic.AtomicLong", "get", "()J", Tag::kLong}};
    for (const auto& box : kBoxes)
      if (method_.class_name == box.holder && is(box.name, box.signature)) return put_field("value", box.tag);
    return false;
  }

  bool put_field(std::string_view name, Tag tag) {
    const auto field = world_.inspection().classes().find_field(object_.type->klass, name);
    if (!field) return false;
    std::uint64_t bits = 0;
    const auto room = std::as_writable_bytes(std::span(&bits, 1)).first(size_of(tag));
    return world_.inspection().vm().memory().read_exactly(object_.address + field->offset, room) && put(tag, bits);
  }

  World& world_;
  const coreinspect::ObjectModel& objects_;
  const ObjectArgument& object_;
  const JavaMethod& method_;
  std::span<const PacketReader::Value> arguments_;
  PacketWriter& out_;
};

}  // namespace

const JavaMethod* find_virtual(World& world, const LoadedClass& type, std::string_view name,
                               std::string_view signature) {
  const auto& inspection = world.inspection();
  Address klass = type.klass;
  for (int depth = 0; klass != 0 && depth < kMaxDepth; ++depth) {
    const LoadedClass* at = world.classes().find(klass);
    if (at != nullptr)
      for (const Address address : world.classes().methods(*at))
        if (const auto method = inspection.methods().method(address); method && !(*method)->is_static())
          if ((*method)->name == name && (*method)->signature == signature) return *method;
    klass = inspection.classes().super(klass).value_or(0);
  }
  return nullptr;
}

bool answer_call(World& world, const ObjectArgument& object, const JavaMethod& method,
                 std::span<const PacketReader::Value> arguments, bool exactly, PacketWriter& out) {
  if (method.is_static()) return false;
  const JavaMethod* runs = exactly ? &method : find_virtual(world, *object.type, method.name, method.signature);
  return runs != nullptr && Call(world, object, *runs, arguments, out).answer();
}

}  // namespace jtrace::debug
