#include "wire/npy_header.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace tenon::wire {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;

uint32_t little_endian(std::string_view bytes, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return value;
}

Status bad_header(const char* what) { return invalid_argument("not a valid .npy header: {}", what); }

// Reads the Python dictionary literal NumPy writes: three known keys, values of three fixed forms.
class DictionaryReader {
 public:
  explicit DictionaryReader(std::string_view text) : rest_(text) {}

  Status read(NpyHeader& header) {
    if (!take('{')) return bad_header("the dictionary is missing");
    bool has_descr = false, has_order = false, has_shape = false;
    while (!take('}')) {
      const auto key = quoted();
      if (!key || !take(':')) return bad_header("a key is not in quotes");
      if (*key == "descr") {
        TN_RETURN_IF_ERROR(descr(header));
        has_descr = true;
      } else if (*key == "fortran_order") {
        TN_RETURN_IF_ERROR(order(header));
        has_order = true;
      } else if (*key == "shape") {
        TN_RETURN_IF_ERROR(shape(header));
        has_shape = true;
      } else {
        return bad_header("a key is unknown");
      }
      if (!take(',') && peek() != '}') return bad_header("an entry is not terminated");
    }
    if (!has_descr || !has_order || !has_shape) return bad_header("descr, fortran_order or shape is missing");
    return {};
  }

 private:
  char peek() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_[0];
  }
  bool take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    peek();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = rest_.find(quote, 1);
    if (end == rest_.npos) return std::nullopt;
    const auto text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<int64_t> integer() {
    peek();
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  Status descr(NpyHeader& header) {
    if (peek() == '[') return unsupported("arrays of records are not supported");
    const auto text = quoted();
    if (!text || text->size() < 2) return bad_header("descr is not a type");
    const char order = text->front();
    if (order != '<' && order != '>' && order != '|' && order != '=') return bad_header("descr has no byte order");
    header.big_endian = order == '>';
    header.kind = (*text)[1];
    if (header.kind == 'O') return unsupported("arrays of Python objects are not supported; save numbers or text");
    const auto [end, problem] = std::from_chars(text->data() + 2, text->data() + text->size(), header.item_bytes);
    if (problem != std::errc{} || end != text->data() + text->size() || header.item_bytes < 0 ||
        header.item_bytes > int64_t{1} << 40)
      return bad_header("descr has no size");
    if (header.kind == 'U') header.item_bytes *= 4;
    return {};
  }
  Status order(NpyHeader& header) {
    if (take(std::string_view("True")))
      header.fortran_order = true;
    else if (!take(std::string_view("False")))
      return bad_header("fortran_order must be True or False");
    return {};
  }
  Status shape(NpyHeader& header) {
    header.shape.clear();
    if (!take('(')) return bad_header("shape is not a tuple");
    while (!take(')')) {
      const auto dim = integer();
      if (!dim || *dim < 0) return bad_header("shape has an entry that is not a non-negative integer");
      header.shape.push_back(*dim);
      if (header.shape.size() > kMaxNpyRank) return bad_header("more than 64 dimensions");
      take('L');  // NumPy under Python 2 wrote long integers so
      if (!take(',') && peek() != ')') return bad_header("shape is not terminated");
    }
    return {};
  }

  std::string_view rest_;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view bytes) {
  if (bytes.size() < 10 || !bytes.starts_with(kMagic)) return invalid_argument("not a .npy file");
  const int major = static_cast<uint8_t>(bytes[6]);
  if (major < 1 || major > 3)
    return error(Code::Incompatible, ".npy format version {} is not supported; versions 1 to 3 are", major);
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t start = 8 + length_bytes;
  if (bytes.size() < start) return bad_header("the file ends too early");
  const size_t length = little_endian(bytes.substr(8), length_bytes);
  if (length > bytes.size() - start) return bad_header("the file ends too early");
  NpyHeader header;
  header.data_offset = start + length;
  TN_RETURN_IF_ERROR(DictionaryReader(bytes.substr(start, length)).read(header));
  return header;
}

std::string make_npy_header(std::string_view descr, const std::vector<int64_t>& shape) {
  std::string dims;
  for (size_t i = 0; i < shape.size(); ++i) dims += fmt::format("{}{}", i ? ", " : "", shape[i]);
  if (shape.size() == 1) dims += ',';
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  const size_t start = 10;
  text.append((kAlignment - (start + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  // Version 1 holds 64 KiB, more than 64 dimensions take.
  std::string header(kMagic);
  header += std::string("\x01\x00", 2);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace tenon::wire
