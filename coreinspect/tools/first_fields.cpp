#include "coreinspect/tools/first_fields.h"

#include "coreinspect/runtime/descriptor.h"
#include "coreinspect/tools/plain_value.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {

FieldTexts first_fields(const Inspection& inspection, SecretMask& mask, Address object, Address klass) {
  constexpr std::size_t kMost = 12;
  constexpr int kDeepest = 50;  // superclasses
  FieldTexts texts;
  for (int depth = 0; klass != 0 && depth < kDeepest; ++depth) {
    const auto fields = inspection.classes().fields(klass);
    if (!fields) return texts;
    for (const JavaField& field : **fields) {
      if (field.is_static() || field.injected || field.signature.empty() || texts.size() >= kMost) continue;
      const Address at = object + field.offset;
      const bool hidden = mask.hides_field(inspection, field.name, field.signature, at);
      const auto refers_to = is_reference(field.signature.front()) ? inspection.objects().load(at) : Result<Address>(0);
      std::string text = refers_to && *refers_to != 0 ? readable_text(inspection, *refers_to)
                                                      : value_text(inspection, at, field.signature);
      texts.emplace_back(field.name, mask.value_of(hidden, std::move(text)));
    }
    klass = inspection.classes().super(klass).value_or(0);
  }
  return texts;
}

std::string fields_text(const FieldTexts& fields) {
  if (fields.empty()) return {};
  std::string text = " {";
  for (const auto& [name, value] : fields) text += (&name == &fields.front().first ? "" : ", ") + name + "=" + value;
  return text + "}";
}

}  // namespace jtrace::coreinspect
