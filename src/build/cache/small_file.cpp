#include "build/cache/small_file.h"

#include "base/file.h"

namespace tenon::build {

namespace {

constexpr int64_t kMostBytes = 4096;

}  // namespace

Json read_small_json(const std::string& path) {
  const auto file = open_for_reading(path);
  if (!file.ok()) return nullptr;
  const auto size = regular_file_size(*file, path);
  if (!size.ok() || *size > kMostBytes) return nullptr;
  const auto bytes = read_region(*file, 0, *size, path);
  if (!bytes.ok()) return nullptr;
  const auto* const text = reinterpret_cast<const char*>((*bytes)->data());
  Json value = Json::parse(text, text + *size, nullptr, false);
  return value.is_discarded() ? Json() : value;
}

Status write_small_json(const std::string& path, const Json& value) {
  const std::string text = dump(value);
  const std::string_view pieces[] = {text};
  return write_file_atomically(path, pieces);
}

}  // namespace tenon::build
