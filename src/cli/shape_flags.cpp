#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/failure.h"
#include "cli/inputs.h"
#include "cli/text.h"

namespace cli {

namespace {

bool parse_extent(std::string_view text, int64_t& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && value >= 0;
}

// NAME=REST at the last '=', as names may hold one and extents do not.
std::pair<std::string, std::string> split(const std::string& flag, const std::string& text, const char* wanted) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw Failure(kUsage, fmt::format("{} must be {}, but it is '{}'", flag, wanted, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<int64_t> parse_shape(const std::string& flag, const std::string& whole, const std::string& text) {
  std::vector<int64_t> shape;
  for (size_t start = 0; start <= text.size() && !text.empty();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    int64_t extent = 0;
    if (!parse_extent(std::string_view(text).substr(start, comma - start), extent))
      throw Failure(kUsage, fmt::format("{} must be NAME=N,N,... with whole numbers, but it is '{}'", flag, whole));
    shape.push_back(extent);
    start = comma + 1;
  }
  return shape;
}

// The symbols of a type, those of what is inside included.
void collect_symbols(const tenon::TypeView& type, std::vector<std::string>& names) {
  if (const auto element = type.element()) collect_symbols(*element, names);
  const auto dims = type.dims();
  for (size_t i = 0; dims && i < dims->size(); ++i)
    if ((*dims)[i] < 0 && !type.dim_name(i).empty()) names.push_back(type.dim_name(i));
}

std::string unknown_dim_advice(const std::string& name, const std::vector<std::string>& symbols) {
  // Dimensions without a name are shown as _0, _1, ...
  const bool unnamed = name.size() > 1 && name.find_first_not_of("0123456789", 1) == std::string::npos;
  if (name.starts_with('_') && unnamed) return "; it has no name in the model; give the whole shape with --shape";
  return symbols.empty() ? "; no dimension has a name; give whole shapes with --shape" : suggestion(name, symbols);
}

}  // namespace

std::vector<std::string> input_names(const tenon::Model& model) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.input_count(); ++i) names.push_back(model.input_name(i));
  return names;
}

std::vector<std::string> dim_names(const tenon::Model& model) {
  std::vector<std::string> symbols;
  for (size_t i = 0; i < model.input_count(); ++i) collect_symbols(model.input_type(i), symbols);
  return symbols;
}

std::optional<size_t> find_input(const tenon::Model& model, const std::string& name) {
  for (size_t i = 0; i < model.input_count(); ++i)
    if (model.input_name(i) == name) return i;
  return std::nullopt;
}

void ShapeFlags::declare(Arguments& arguments) {
  arguments.texts("--shape", shape_texts_, "NAME=1,3,224,224",
                  "the shape of an input that is random or filled with one value");
  arguments.texts("--dim", dim_texts_, "NAME=4", "the extent of a dimension that the model leaves open, by name");
}

void ShapeFlags::resolve(const tenon::Model& model) {
  dims_.clear();
  shapes_.clear();
  const std::vector<std::string> symbols = dim_names(model);
  for (const std::string& text : dim_texts_) {
    const auto [name, value] = split("--dim", text, "NAME=4");
    int64_t extent = 0;
    if (!parse_extent(value, extent))
      throw Failure(kUsage, fmt::format("--dim must be NAME=4 with a whole number, but it is '{}'", text));
    if (std::find(symbols.begin(), symbols.end(), name) == symbols.end())
      throw Failure(kUsage, fmt::format("--dim: no input of the model has a dimension named '{}'{}", name,
                                        unknown_dim_advice(name, symbols)));
    if (!dims_.emplace(name, extent).second) throw Failure(kUsage, fmt::format("--dim: '{}' is given twice", name));
  }
  for (const std::string& text : shape_texts_) {
    const auto [name, value] = split("--shape", text, "NAME=1,3,224,224");
    if (!find_input(model, name))
      throw Failure(kUsage, fmt::format("--shape: the model has no input named '{}'{}", name,
                                        suggestion(name, input_names(model))));
    if (!shapes_.emplace(name, parse_shape("--shape", text, value)).second)
      throw Failure(kUsage, fmt::format("--shape: '{}' is given twice", name));
    check_agrees(model, *find_input(model, name), shapes_[name], "--shape");
  }
}

void ShapeFlags::check_agrees(const tenon::Model& model, size_t input, const std::vector<int64_t>& shape,
                              const std::string& source) const {
  const tenon::TypeView type = model.input_type(input);
  const auto dims = type.dims();
  for (size_t i = 0; dims && i < std::min(dims->size(), shape.size()); ++i) {
    auto it = dims_.find(type.dim_name(i));
    if (it != dims_.end() && (*dims)[i] < 0 && it->second != shape[i])
      throw Failure(kUsage, fmt::format("{}: dimension '{}' of input '{}' is {}, but --dim says {}", source, it->first,
                                        model.input_name(input), shape[i], it->second));
  }
}

std::optional<std::vector<int64_t>> ShapeFlags::extents(const tenon::Model& model, size_t input) const {
  if (auto it = shapes_.find(model.input_name(input)); it != shapes_.end()) return it->second;
  const tenon::TypeView type = model.input_type(input);
  auto dims = type.dims();
  for (size_t i = 0; dims && i < dims->size(); ++i) {
    if ((*dims)[i] >= 0) continue;
    auto it = dims_.find(type.dim_name(i));
    if (it == dims_.end()) return std::nullopt;
    (*dims)[i] = it->second;
  }
  return dims;
}

void ShapeFlags::add_dims(const tenon::Model& model, tenon::Options& options) const {
  const std::vector<std::string> symbols = dim_names(model);
  for (const auto& [name, value] : dims_)
    if (std::find(symbols.begin(), symbols.end(), name) != symbols.end())
      options.set("dim:" + name, std::to_string(value));
}

void ShapeFlags::add_shapes(tenon::Options& options) const {
  for (const auto& [name, shape] : shapes_) {
    std::string text;
    for (int64_t extent : shape) text += (text.empty() ? "" : ",") + std::to_string(extent);
    options.set("shape:" + name, text);
  }
}

}  // namespace cli
