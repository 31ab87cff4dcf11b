#include "wire/onnx_parse.h"

#include <new>
#include <stdexcept>

#include "wire/onnx_fields.h"

namespace tenon::wire {

std::string Parser::path() const {
  // Deep places are told by where they start and where they end.
  constexpr size_t kFirst = 6, kLast = 3;
  std::string text;
  for (size_t i = 0; i < path_.size(); ++i) {
    const bool is_cut = path_.size() > kFirst + kLast && i == kFirst;
    if (is_cut) i = path_.size() - kLast;
    if (!text.empty()) text += is_cut ? "..." : ".";
    text += path_[i].name;
    if (path_[i].index >= 0) text += fmt::format("[{}]", path_[i].index);
  }
  return text;
}

void Parser::throw_too_deep(const char* what) const {
  throw ParseError(Code::ResourceLimit, fmt::format("{} are nested more than {} levels deep (option 'max_nesting')",
                                                    what, limits_.max_nesting));
}

void Parser::throw_too_many(const char* what, int64_t limit) const {
  throw ParseError(Code::ResourceLimit, fmt::format("the model has more than {} {}", limit, what));
}

void Parser::count_node() {
  if (++nodes_ > limits_.max_nodes) throw_too_many("nodes", limits_.max_nodes);
}

void throw_given_twice(const char* name) {
  throw ParseError(Code::InvalidModel, fmt::format("field '{}' occurs twice", name));
}

StringEntry parse_entry(Bytes bytes) {
  StringEntry entry;
  entry.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.number == field::entry::kKey) entry.key = parse_name(field);
    if (field.number == field::entry::kValue) entry.value = field.bytes();
  }
  return entry;
}

OpsetImport parse_opset(Bytes bytes) {
  OpsetImport opset;
  opset.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.number == field::opset::kDomain) opset.domain = parse_name(field);
    if (field.number == field::opset::kVersion) opset.version = field.int64();
  }
  return opset;
}

namespace {

// What the bytes of a message lack, in words of its reader.
std::string_view problem_of(const protozero::exception& e) {
  if (dynamic_cast<const protozero::end_of_buffer_exception*>(&e)) return "the file ends in the middle of a field";
  if (dynamic_cast<const protozero::varint_too_long_exception*>(&e)) return "a number is too long";
  if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&e))
    return "a field has a wire type that protobuf does not define";
  if (dynamic_cast<const protozero::invalid_tag_exception*>(&e)) return "a field has an invalid number";
  return "a field has the wrong wire type or length";
}

// Runs one parse and turns what it throws into a status that names the place in the message.
template <class F>
auto guarded(Parser& parser, F&& parse) -> Result<decltype(parse())> {
  const auto located = [&](Status status) {
    const std::string path = parser.path();
    return path.empty() ? std::move(status) : std::move(status).in(path);
  };
  try {
    return parse();
  } catch (const ParseError& e) {
    return located(Status(e.code, e.message));
  } catch (const protozero::exception& e) {
    return located(invalid_model("this is not an ONNX model, or it is damaged or truncated: {}", problem_of(e)));
  } catch (const std::bad_alloc&) {
    return located(error(Code::ResourceLimit, "not enough memory to read the model"));
  } catch (const std::length_error&) {
    return located(error(Code::ResourceLimit, "not enough memory to read the model"));
  }
}

}  // namespace

Result<Model> parse_model(Bytes bytes, const ParseLimits& limits) {
  Parser parser(limits);
  return guarded(parser, [&] { return parser.model(bytes); });
}

std::optional<Bytes> metadata_of(const Node& node, Bytes key) {
  try {
    for (Bytes piece : node.other) {
      FieldReader reader(piece);
      for (Field field; reader.next(field);) {
        if (field.number != field::node::kMetadata) continue;
        const StringEntry entry = parse_entry(field.bytes());
        if (entry.key == key) return entry.value;
      }
    }
  } catch (const protozero::exception&) {
    // Nobody needs metadata, so what cannot be read is none.
  }
  return std::nullopt;
}

Result<TensorProto> parse_tensor(Bytes bytes) {
  Parser parser(ParseLimits{});
  return guarded(parser, [&] { return parser.tensor(bytes); });
}

}  // namespace tenon::wire
