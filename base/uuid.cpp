#include "base/uuid.h"

#include <uuid/uuid.h>

namespace jtrace {
namespace {

// The name space of jtrace's names: a random UUID. It must never change, because all producers must use the same one.
constexpr const char* kNamespace = "5f8b9a52-6c0e-4e0f-9f0b-7d4e4c1d9a30";

std::string text_of(const uuid_t uuid) {
  char text[37];
  uuid_unparse_lower(uuid, text);
  return text;
}

}  // namespace

std::string random_uuid() {
  uuid_t uuid;
  uuid_generate_random(uuid);
  return text_of(uuid);
}

std::string name_based_uuid(std::string_view name) {
  uuid_t space;
  uuid_t uuid;
  uuid_parse(kNamespace, space);
  uuid_generate_sha1(uuid, space, name.data(), name.size());
  return text_of(uuid);
}

}  // namespace jtrace
