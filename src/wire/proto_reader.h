#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "wire/protozero_config.h"

// A strict walk over the fields of one protobuf message. Stricter than protozero's own reader, which cuts lengths
// and keys to 32 bits. Errors are exceptions derived from protozero::exception, caught where parsing starts.
namespace tenon::wire {

using Bytes = std::string_view;
using WireType = protozero::pbf_wire_type;

// One field: its key, and its value as the wire has it.
struct Field {
  uint32_t number = 0;
  WireType wire = WireType::unknown;
  uint64_t scalar = 0;  // varint, fixed32 and fixed64
  Bytes payload;        // length-delimited
  Bytes whole;          // key and value

  void expect(WireType type) const {
    if (wire != type) throw ProtobufAssertion{};
  }
  Bytes bytes() const {
    expect(WireType::length_delimited);
    return payload;
  }
  int64_t int64() const {
    expect(WireType::varint);
    return static_cast<int64_t>(scalar);
  }
  int32_t int32() const {
    expect(WireType::varint);
    return static_cast<int32_t>(scalar);
  }
  float float32() const {
    expect(WireType::fixed32);
    const auto bits = static_cast<uint32_t>(scalar);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

class FieldReader {
 public:
  explicit FieldReader(Bytes message) : position_(message.data()), end_(message.data() + message.size()) {}

  // The next field, or false at the end of the message.
  bool next(Field& field) {
    if (position_ == end_) return false;
    const char* start = position_;
    const uint64_t key = protozero::decode_varint(&position_, end_);
    const uint64_t number = key >> 3;
    if (number == 0 || number > kMaxFieldNumber) throw protozero::invalid_tag_exception{};
    field.number = static_cast<uint32_t>(number);
    field.wire = static_cast<WireType>(key & 7);
    field.payload = {};
    switch (field.wire) {
      case WireType::varint:
        field.scalar = protozero::decode_varint(&position_, end_);
        break;
      case WireType::fixed64:
        field.scalar = fixed<uint64_t>();
        break;
      case WireType::fixed32:
        field.scalar = fixed<uint32_t>();
        break;
      case WireType::length_delimited: {
        const uint64_t length = protozero::decode_varint(&position_, end_);
        if (length > static_cast<uint64_t>(end_ - position_)) throw protozero::end_of_buffer_exception{};
        field.payload = Bytes(position_, length);
        position_ += length;
        break;
      }
      default:
        throw protozero::unknown_pbf_wire_type_exception{};
    }
    field.whole = Bytes(start, static_cast<size_t>(position_ - start));
    return true;
  }

  const char* position() const { return position_; }

 private:
  static constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

  template <class T>
  T fixed() {
    if (end_ - position_ < static_cast<ptrdiff_t>(sizeof(T))) throw protozero::end_of_buffer_exception{};
    T value;
    std::memcpy(&value, position_, sizeof value);
    position_ += sizeof value;
    return value;
  }

  const char* position_;
  const char* end_;
};

// Adds a field's bytes to the pieces of a message that are kept undecoded; neighbours become one piece.
inline void keep(std::vector<Bytes>& pieces, const Field& field) {
  if (!pieces.empty() && pieces.back().data() + pieces.back().size() == field.whole.data())
    pieces.back() = Bytes(pieces.back().data(), pieces.back().size() + field.whole.size());
  else
    pieces.push_back(field.whole);
}

// Calls f(uint64_t) for each varint of a repeated field, packed or not.
template <class F>
void for_each_varint(const Field& field, F&& f) {
  if (field.wire != WireType::length_delimited) {
    field.expect(WireType::varint);
    f(field.scalar);
    return;
  }
  const char* position = field.payload.data();
  const char* end = position + field.payload.size();
  while (position != end) f(protozero::decode_varint(&position, end));
}

// Appends the floats of a repeated field, packed or not.
inline void append_floats(const Field& field, std::vector<float>& values) {
  if (field.wire != WireType::length_delimited) {
    values.push_back(field.float32());
    return;
  }
  if (field.payload.size() % sizeof(float) != 0) throw protozero::invalid_length_exception{};
  const size_t count = field.payload.size() / sizeof(float), before = values.size();
  values.resize(before + count);
  if (count > 0) std::memcpy(values.data() + before, field.payload.data(), field.payload.size());
}

}  // namespace tenon::wire
