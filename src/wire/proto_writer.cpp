#include "wire/proto_writer.h"

#include <iterator>

#include "wire/protozero_config.h"

namespace tenon::wire {

using protozero::pbf_writer;

void MessageWriter::append_varint(uint64_t value) { protozero::write_varint(std::back_inserter(text_), value); }

void MessageWriter::add_int(uint32_t field, int64_t value) { pbf_writer(text_).add_int64(field, value); }

void MessageWriter::add_float(uint32_t field, float value) { pbf_writer(text_).add_float(field, value); }

void MessageWriter::add_bytes(uint32_t field, Bytes value) {
  append_varint(uint64_t{field} << 3 | static_cast<uint64_t>(protozero::pbf_wire_type::length_delimited));
  append_varint(value.size());
  add_encoded(value);
}

void MessageWriter::add_message(uint32_t field, const MessageWriter& message) {
  append_varint(uint64_t{field} << 3 | static_cast<uint64_t>(protozero::pbf_wire_type::length_delimited));
  append_varint(message.size());
  for (const Reference& reference : message.references_)
    references_.push_back({text_.size() + reference.position, reference.bytes});
  referred_ += message.referred_;
  text_ += message.text_;
}

void MessageWriter::add_encoded(Bytes fields) {
  if (fields.size() < kReferFrom) {
    text_ += fields;
    return;
  }
  references_.push_back({text_.size(), fields});
  referred_ += fields.size();
}

std::vector<Bytes> MessageWriter::pieces() const {
  std::vector<Bytes> pieces;
  size_t done = 0;
  for (const Reference& reference : references_) {
    if (reference.position > done) pieces.push_back(Bytes(text_).substr(done, reference.position - done));
    pieces.push_back(reference.bytes);
    done = reference.position;
  }
  if (done < text_.size()) pieces.push_back(Bytes(text_).substr(done));
  return pieces;
}

std::string MessageWriter::to_string() const {
  std::string text;
  text.reserve(size());
  for (Bytes piece : pieces()) text += piece;
  return text;
}

}  // namespace tenon::wire
