#pragma once

#include <bit>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/status.h"

// The little-endian pieces that programs and artifacts are made of. docs/artifact.md describes them.
namespace tenon {

static_assert(std::endian::native == std::endian::little, "artifacts are mapped as they are");

// Integers and texts, one after the other without padding.
class ByteWriter {
 public:
  template <std::integral T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_count(size_t count) { put(static_cast<uint32_t>(count)); }
  void put_hash(const Hash128& hash) {
    put(hash.low);
    put(hash.high);
  }
  void put_raw(std::string_view bytes) { bytes_ += bytes; }
  // A length, then that many bytes.
  void put_block(std::string_view bytes) {
    put_count(bytes.size());
    put_raw(bytes);
  }
  template <std::integral T>
  void put_list(const std::vector<T>& values) {
    put_count(values.size());
    for (T value : values) put(value);
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what a ByteWriter wrote. Where the bytes run out everything is zero from there on, and status() says so.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {}

  template <std::integral T>
  T get() {
    T value = 0;
    const std::string_view bytes = get_raw(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  // A number of elements that take at least `smallest` bytes each: never more than the rest can hold.
  size_t get_count(size_t smallest);
  Hash128 get_hash() {
    Hash128 hash;
    hash.low = get<uint64_t>();
    hash.high = get<uint64_t>();
    return hash;
  }
  std::string_view get_raw(size_t size);
  std::string_view get_block() { return get_raw(get_count(1)); }
  template <std::integral T>
  std::vector<T> get_list() {
    std::vector<T> values(get_count(sizeof(T)));
    for (T& value : values) value = get<T>();
    return values;
  }

  bool failed() const { return failed_; }
  Status status() const;
  // Like status(), and nothing may be left.
  Status finish() const;

 private:
  std::string_view rest_;
  size_t size_;
  bool failed_ = false;
};

// Strings by number, each once, in the order of their first use.
class StringTableWriter {
 public:
  uint32_t id(std::string_view text);
  void write(ByteWriter& out) const;

 private:
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<std::string> strings_;
};

// Views into the bytes that were read.
class StringTable {
 public:
  static Result<StringTable> read(ByteReader& in);
  size_t size() const { return strings_.size(); }
  Result<std::string_view> at(uint32_t id) const;

 private:
  std::vector<std::string_view> strings_;
};

// What to say of names and numbers only another version can have written.
inline constexpr const char* kMadeByAnotherVersion =
    "another version of Tenon made the file; compile the model again (tenon compile)";

}  // namespace tenon
