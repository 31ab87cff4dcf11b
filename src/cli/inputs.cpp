#include "cli/inputs.h"

#include "cli/failure.h"
#include "cli/models.h"
#include "cli/text.h"

namespace cli {

namespace {

tn_dtype element_type(const tenon::TypeView& type) {
  const tn_dtype dtype = type.kind() == TN_KIND_TENSOR ? type.dtype() : TN_UNDEFINED;
  if (const auto element = type.element(); element && dtype == TN_UNDEFINED) return element_type(*element);
  return dtype == TN_UNDEFINED ? TN_FLOAT32 : dtype;
}

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

// The items of a sequence (NAME/0, NAME/1, ...) or the halves of a map (NAME/keys, NAME/values) in an archive.
tenon::Value read_parts(const tenon::Npz& archive, const std::map<std::string, size_t>& positions,
                        const std::string& name, const tenon::TypeView& type, std::map<std::string, bool>& used) {
  auto read = [&](const std::string& part) -> tenon::Value {
    auto it = positions.find(name + "/" + part);
    if (it == positions.end()) return {};
    used[it->first] = true;
    return archive.read(it->second, element_type(type));
  };
  if (type.kind() == TN_KIND_MAP) {
    const tenon::Value keys = read("keys"), values = read("values");
    return keys && values ? tenon::Value::map(keys, values) : tenon::Value();
  }
  if (type.kind() != TN_KIND_SEQUENCE) return {};
  std::vector<tenon::Value> items;
  while (tenon::Value item = read(std::to_string(items.size()))) items.push_back(std::move(item));
  return items.empty() ? tenon::Value() : tenon::Value::sequence(items);
}

}  // namespace

void InputFlags::declare(Arguments& arguments) {
  arguments.texts("-i,--input", inputs_, "NAME=FILE.npy|VALUE",
                  "an input: a NumPy file, a list ([[1, 2], [3, 4]]), or one element that fills the shape");
  arguments.text("--inputs", archive_, "FILE.npz", "inputs by name from a NumPy archive");
  arguments.flag("--random", random_, "make up every input that is not given");
  arguments.integer("--seed", seed_, INT64_MIN, INT64_MAX, "of --random (default: 0)");
  arguments.needs("--seed", "--random");
  shapes_.declare(arguments);
}

tenon::Value InputFlags::read_argument(const tenon::Model& model, size_t input, const std::string& text) {
  const tenon::TypeView type = model.input_type(input);
  const std::string name = model.input_name(input);
  if (!is_tensor_like(type))
    throw Failure(kUsage, fmt::format("--input: '{}' is {}; give it with --inputs, its parts as {}", name, type.text(),
                                      type.kind() == TN_KIND_MAP ? name + "/keys and " + name + "/values"
                                                                 : name + "/0, " + name + "/1, ..."));
  const tn_dtype dtype = element_type(type);
  const bool has_shape = shapes_.shapes().contains(name);
  if (text.ends_with(".npy") && !text.starts_with('"')) {
    if (has_shape) throw Failure(kUsage, fmt::format("--shape: '{}' gets its shape from '{}'", name, text));
    files_.push_back(text);
    return refusing(kFailed, text, [&] { return tenon::Value::read_npy(text, dtype); });
  }
  bool is_list = false;
  const std::string json = to_json(text, dtype, is_list);
  std::optional<std::vector<int64_t>> dims;
  if (has_shape || !is_list) dims = shapes_.extents(model, input);
  if (!is_list && !dims && type.dims() && !type.dims()->empty())
    throw Failure(kUsage, fmt::format("--input: '{}' is {}; say with --shape or --dim how many times {} stands there",
                                      name, type.text(), text));
  shapes_.forget_shape(name);
  try {
    return tenon::Value::from_json(dtype, json, dims ? &*dims : nullptr);
  } catch (const tenon::Error& error) {
    throw Failure(kUsage, fmt::format("--input: '{}' ({}): {}", name, type.text(), error.what()));
  }
}

void InputFlags::read_archive(const tenon::Model& model, std::vector<tenon::Value>& values) {
  files_.push_back(archive_);
  refusing(kFailed, archive_, [&] {
    const tenon::Npz archive(archive_);
    std::map<std::string, size_t> positions;
    std::map<std::string, bool> used;
    for (size_t i = 0; i < archive.size(); ++i) positions[archive.name(i)] = i;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string name = model.input_name(i);
      const tenon::TypeView type = model.input_type(i);
      tenon::Value value;
      if (auto it = positions.find(name); it != positions.end()) {
        used[name] = true;
        value = archive.read(it->second, element_type(type));
      } else {
        value = read_parts(archive, positions, name, type, used);
      }
      if (!value) continue;
      if (values[i]) throw Failure(kUsage, fmt::format("'{}' is given by --input and by --inputs", name));
      if (shapes_.shapes().contains(name))
        throw Failure(kUsage, fmt::format("--shape: '{}' gets its shape from '{}'", name, archive_));
      values[i] = std::move(value);
    }
    for (const auto& [name, position] : positions)
      if (!used[name])
        throw Failure(kUsage, fmt::format("--inputs: the model has no input for the array '{}' of '{}'{}", name,
                                          archive_, suggestion(name, input_names(model))));
  });
}

void InputFlags::check_missing(const tenon::Model& model, const std::vector<tenon::Value>& values) const {
  std::string missing;
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i] && !model.input_has_default(i))
      missing += fmt::format("{}'{}' {}", missing.empty() ? "" : ", ", model.input_name(i), model.input_type(i).text());
  if (!missing.empty())
    throw Failure(kUsage, fmt::format("no value is given for {}; use --input, --inputs or --random", missing));
  if (!shapes_.shapes().empty())
    throw Failure(kUsage,
                  fmt::format("--shape: nothing is made for '{}'; add --random", shapes_.shapes().begin()->first));
}

std::vector<tenon::Value> InputFlags::read(const tenon::Model& model, const std::string& path, const Console& console) {
  std::vector<tenon::Value> values(model.input_count());
  for (const std::string& text : inputs_) {
    // Names may hold a '=' themselves: the longest name that fits counts.
    std::optional<size_t> input;
    for (size_t i = 0; i < values.size(); ++i)
      if (text.starts_with(model.input_name(i) + "=") &&
          (!input || model.input_name(i).size() > model.input_name(*input).size()))
        input = i;
    if (!input) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0)
        throw Failure(kUsage, fmt::format("--input must be NAME=FILE.npy or NAME=VALUE, it is '{}'", text));
      const std::string name = text.substr(0, equals);
      throw Failure(kUsage, fmt::format("--input: the model has no input called '{}'{}", name,
                                        suggestion(name, input_names(model))));
    }
    if (values[*input]) throw Failure(kUsage, fmt::format("--input: '{}' is given twice", model.input_name(*input)));
    values[*input] = read_argument(model, *input, text.substr(model.input_name(*input).size() + 1));
  }
  if (!archive_.empty()) read_archive(model, values);
  if (!random_) {
    check_missing(model, values);
    return values;
  }
  const std::vector<tenon::Value> given = values;
  tenon::Options options{{"seed", std::to_string(seed_)}};
  shapes_.add_dims(options);
  shapes_.add_shapes(options);
  try {
    model.fill_inputs(values, options);
  } catch (const tenon::Error& error) {
    throw Failure(error.code() == TN_UNSUPPORTED ? kCannotRun : kUsage, in_file(path, error.what()));
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (!given[i] && values[i])
      console.detail(fmt::format("random input {} {}", model.input_name(i), values[i].type_text()));
  return values;
}

}  // namespace cli
