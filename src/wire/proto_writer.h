#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::wire {

using Bytes = std::string_view;

// One protobuf message being written. Small values are copied into one text, large ones are only referred to, so a
// model with gigabytes of weights costs kilobytes; what is referred to must outlive the writer.
class MessageWriter {
 public:
  void add_int(uint32_t field, int64_t value);
  void add_float(uint32_t field, float value);
  void add_bytes(uint32_t field, Bytes value);
  // Writes nothing for a string that is absent, which a view without data says.
  void add_optional_bytes(uint32_t field, Bytes value) {
    if (value.data()) add_bytes(field, value);
  }
  void add_message(uint32_t field, const MessageWriter& message);
  // Fields that are encoded already.
  void add_encoded(Bytes fields);
  void add_encoded(const std::vector<Bytes>& pieces) {
    for (Bytes piece : pieces) add_encoded(piece);
  }

  uint64_t size() const { return text_.size() + referred_; }
  // The message in order; the pieces live as long as the writer is neither changed nor moved.
  std::vector<Bytes> pieces() const;
  std::string to_string() const;

 private:
  // From this size on a value is referred to.
  static constexpr size_t kReferFrom = 4096;
  struct Reference {
    size_t position;  // in text_
    Bytes bytes;
  };
  void append_varint(uint64_t value);

  std::string text_;
  std::vector<Reference> references_;
  uint64_t referred_ = 0;
};

}  // namespace tenon::wire
