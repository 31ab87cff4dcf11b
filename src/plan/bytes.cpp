#include "plan/bytes.h"

namespace tenon {

size_t ByteReader::get_count(size_t smallest) {
  const auto count = static_cast<size_t>(get<uint32_t>());
  if (count <= rest_.size() / smallest) return count;
  failed_ = true;
  rest_ = {};
  return 0;
}

std::string_view ByteReader::get_raw(size_t size) {
  if (size > rest_.size()) {
    failed_ = true;
    rest_ = {};
    return {};
  }
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

Status ByteReader::status() const {
  return failed_ ? invalid_model("a count or length exceeds the {} bytes of data", size_) : Status();
}

Status ByteReader::finish() const {
  TN_RETURN_IF_ERROR(status());
  if (!rest_.empty()) return invalid_model("{} of {} bytes are left over", rest_.size(), size_);
  return {};
}

uint32_t StringTableWriter::id(std::string_view text) {
  const auto [it, is_new] = ids_.emplace(text, static_cast<uint32_t>(strings_.size()));
  if (is_new) strings_.emplace_back(text);
  return it->second;
}

void StringTableWriter::write(ByteWriter& out) const {
  out.put_count(strings_.size());
  uint32_t end = 0;
  for (const std::string& text : strings_) out.put(end += static_cast<uint32_t>(text.size()));
  for (const std::string& text : strings_) out.put_raw(text);
}

Result<StringTable> StringTable::read(ByteReader& in) {
  const std::vector<uint32_t> ends = in.get_list<uint32_t>();
  const std::string_view text = in.get_raw(ends.empty() ? 0 : ends.back());
  TN_RETURN_IF_ERROR(in.status());
  StringTable table;
  table.strings_.reserve(ends.size());
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    if (end < begin || end > text.size()) return invalid_model("the string table is damaged");
    table.strings_.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return table;
}

Result<std::string_view> StringTable::at(uint32_t id) const {
  if (id >= strings_.size()) return invalid_model("string {} does not exist; there are {}", id, strings_.size());
  return strings_[id];
}

}  // namespace tenon
