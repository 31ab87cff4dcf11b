// --input NAME=FILE.npy|VALUE: what stands behind the '='.
#include <fmt/format.h>

#include <filesystem>

#include "cli/failure.h"
#include "cli/inputs.h"
#include "cli/models.h"

namespace cli {

namespace {

bool is_tensor_like(const tenon::TypeView& type) {
  const auto element = type.element();
  return type.kind() == TN_KIND_TENSOR || type.kind() == TN_KIND_NONE ||
         (type.kind() == TN_KIND_OPTIONAL && element && is_tensor_like(*element));
}

// "1,2" as the list "[1,2]", and a bare word as text.
std::string to_json(const std::string& text, tn_dtype dtype, bool& is_list) {
  is_list = text.starts_with('[');
  if (is_list) return text;
  if (dtype == TN_STRING) return text.starts_with('"') ? text : Json(text).dump();
  is_list = text.find(',') != std::string::npos;
  if (is_list) return "[" + text + "]";
  const bool is_word = text == "nan" || text == "inf" || text == "-inf";
  return is_word ? "\"" + text + "\"" : text;
}

// What the value can be read as, for one that is no number.
std::string describe_word(const std::string& text) {
  std::error_code ignored;
  if (text.empty()) return "the value is empty";
  if (std::filesystem::exists(text, ignored))
    return fmt::format("'{}' is a file, but only NumPy files (.npy) can be read", text);
  return fmt::format("'{}' is not a number, not a list such as [1, 2], and not the name of a file", text);
}

// Refuses one element that is none of its type, whatever the shape.
void check_element(tn_dtype dtype, const std::string& text, const std::string& json, const std::string& place) {
  const std::vector<int64_t> scalar;
  try {
    tenon::Value::from_json(dtype, json, &scalar);
  } catch (const tenon::Error& error) {
    const bool is_number = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string::npos;
    throw Failure(kUsage, place + (is_number || text.starts_with('"') ? error.what() : describe_word(text)));
  }
}

}  // namespace

tenon::Value InputFlags::read_file(const tenon::Model& model, size_t input, const std::string& file) {
  const std::string name = model.input_name(input);
  if (shapes_.shapes().contains(name))
    throw Failure(kUsage, fmt::format("--shape: '{}' already gets its shape from '{}'", name, file));
  files_.push_back(file);
  try {
    return tenon::Value::read_npy(file, element_type(model.input_type(input)));
  } catch (const tenon::Error& error) {
    throw Failure(error.code() == TN_RESOURCE_LIMIT ? kCannotRun : kFailed,
                  fmt::format("--input: '{}': {}", name, in_file(file, error.what())));
  }
}

tenon::Value InputFlags::read_argument(const tenon::Model& model, size_t input, const std::string& text) {
  const tenon::TypeView type = model.input_type(input);
  const std::string name = model.input_name(input);
  if (!is_tensor_like(type))
    throw Failure(kUsage,
                  fmt::format("--input: '{}' is {}; pass it with --inputs, with its parts named {}", name, type.text(),
                              type.kind() == TN_KIND_MAP ? name + "/keys and " + name + "/values"
                                                         : name + "/0, " + name + "/1, ..."));
  if (text.ends_with(".npy") && !text.starts_with('"')) return read_file(model, input, text);
  const tn_dtype dtype = element_type(type);
  const std::string place = fmt::format("--input: '{}' ({}): ", name, type.text());
  bool is_list = false;
  const std::string json = to_json(text, dtype, is_list);
  if (!is_list) check_element(dtype, text, json, place);
  std::optional<std::vector<int64_t>> dims;
  if (shapes_.shapes().contains(name) || !is_list) dims = shapes_.extents(model, input);
  if (!is_list && !dims && type.dims() && !type.dims()->empty())
    throw Failure(
        kUsage,
        fmt::format("--input: '{}' is {}; choose its shape with --shape or --dim so that it can be filled with {}",
                    name, type.text(), text));
  shapes_.forget_shape(name);
  try {
    return tenon::Value::from_json(dtype, json, dims ? &*dims : nullptr);
  } catch (const tenon::Error& error) {
    throw Failure(error.code() == TN_RESOURCE_LIMIT ? kCannotRun : kUsage, place + error.what());
  }
}

}  // namespace cli
