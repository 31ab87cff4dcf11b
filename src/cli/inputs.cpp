#include "cli/inputs.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/text.h"

namespace cli {

namespace {

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

// A Failure with what the library says about an input; over a limit the model cannot be run, else the input is wrong.
[[noreturn]] void refuse_input(Exit otherwise, const std::string& where, const tenon::Error& error) {
  const bool cannot = error.code() == TN_RESOURCE_LIMIT || error.code() == TN_UNSUPPORTED;
  throw Failure(cannot ? kCannotRun : otherwise, in_file(where, error.what()));
}

}  // namespace

tn_dtype element_type(const tenon::TypeView& type) {
  const tn_dtype dtype = type.kind() == TN_KIND_TENSOR ? type.dtype() : TN_UNDEFINED;
  if (const auto element = type.element(); element && dtype == TN_UNDEFINED) return element_type(*element);
  return dtype == TN_UNDEFINED ? TN_FLOAT32 : dtype;
}

void InputFlags::declare(Arguments& arguments) {
  arguments.texts("-i,--input", inputs_, "NAME=FILE.npy|VALUE",
                  "an input: a NumPy file, a list ([[1, 2], [3, 4]]), or one element that fills the shape");
  arguments.text("--inputs", archive_, "FILE.npz", "inputs by name, from a NumPy archive");
  if (random_) {
    arguments.integer("--seed", seed_, INT64_MIN, INT64_MAX,
                      "seed for the random inputs; the same seed gives the same inputs (default: 0)");
  } else {
    arguments.flag("--random", random_, "use random values for every input that is not given");
    arguments.integer("--seed", seed_, INT64_MIN, INT64_MAX,
                      "seed for --random; the same seed gives the same inputs (default: 0)");
    arguments.needs("--seed", "--random");
  }
  shapes_.declare(arguments);
  options_.declare(arguments, OptionFlags::Command::Runs);
}

void InputFlags::read_archive(const tenon::Model& model, std::vector<tenon::Value>& values) {
  files_.push_back(archive_);
  try {
    tenon::Npz archive(archive_);
    if (const auto limit = options_.memory_limit()) archive.limit_memory(*limit);
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
      if (values[i]) throw Failure(kUsage, fmt::format("'{}' is given by both --input and --inputs", name));
      if (shapes_.shapes().contains(name))
        throw Failure(kUsage, fmt::format("--shape: '{}' already gets its shape from '{}'", name, archive_));
      if (value.kind() == TN_KIND_TENSOR) shapes_.check_agrees(model, i, value.dims(), "--inputs");
      values[i] = std::move(value);
    }
    for (const auto& [name, position] : positions)
      if (!used[name])
        throw Failure(kUsage, fmt::format("--inputs: the model has no input for the array '{}' in '{}'{}", name,
                                          archive_, suggestion(name, input_names(model))));
  } catch (const tenon::Error& error) {
    refuse_input(kFailed, archive_, error);
  }
}

void InputFlags::check_missing(const tenon::Model& model, const std::vector<bool>& has_default,
                               const std::vector<tenon::Value>& values) const {
  std::string missing;
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i] && !has_default[i])
      missing += fmt::format("{}'{}' {}", missing.empty() ? "" : ", ", model.input_name(i), model.input_type(i).text());
  if (!missing.empty())
    throw Failure(kUsage, fmt::format("no value is given for {}; use --input, --inputs or --random", missing));
  if (!shapes_.shapes().empty())
    throw Failure(kUsage,
                  fmt::format("--shape: '{}' gets no random value; add --random", shapes_.shapes().begin()->first));
}

size_t InputFlags::named_input(const tenon::Model& model, const std::string& text) {
  // Names may hold a '=' themselves: the longest name that fits counts.
  std::optional<size_t> input;
  for (size_t i = 0; i < model.input_count(); ++i)
    if (text.starts_with(model.input_name(i) + "=") &&
        (!input || model.input_name(i).size() > model.input_name(*input).size()))
      input = i;
  if (input) return *input;
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Failure(kUsage, fmt::format("--input must be NAME=FILE.npy or NAME=VALUE, but it is '{}'", text));
  const std::string name = text.substr(0, equals);
  const std::vector<std::string> names = input_names(model);
  throw Failure(kUsage, fmt::format("--input: the model has no input named '{}'{}", name,
                                    names.empty() ? "; the model has no inputs" : suggestion(name, names)));
}

void InputFlags::read_arguments(const tenon::Model& model, std::vector<tenon::Value>& values) {
  std::map<size_t, std::string> texts;
  for (const std::string& text : inputs_) {
    const size_t input = named_input(model, text);
    if (!texts.emplace(input, text.substr(model.input_name(input).size() + 1)).second)
      throw Failure(kUsage, fmt::format("--input: '{}' is given twice", model.input_name(input)));
  }
  for (const auto& [input, text] : texts) {
    values[input] = read_argument(model, input, text);
    if (values[input].kind() == TN_KIND_TENSOR) shapes_.check_agrees(model, input, values[input].dims(), "--input");
  }
}

std::vector<tenon::Value> InputFlags::read_given(const tenon::Model& model) {
  std::vector<tenon::Value> values(model.input_count());
  read_arguments(model, values);
  return values;
}

std::vector<tenon::Value> InputFlags::read(const tenon::Model& model, const std::vector<bool>& has_default,
                                           const std::string& path, const Console& console) {
  std::vector<tenon::Value> values = read_given(model);
  if (!archive_.empty()) read_archive(model, values);
  if (!random_) {
    check_missing(model, has_default, values);
    return values;
  }
  const std::vector<tenon::Value> given = values;
  tenon::Options options{{"seed", std::to_string(seed_)}};
  shapes_.add_dims(model, options);
  shapes_.add_shapes(options);
  options_.add_for_inputs(options);
  try {
    model.fill_inputs(values, options);
  } catch (const tenon::Error& error) {
    refuse_input(kUsage, path, error);
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (!given[i] && has_default[i] && !shapes_.shapes().contains(model.input_name(i))) values[i] = {};
  for (size_t i = 0; i < values.size(); ++i)
    if (!given[i] && values[i])
      console.detail(fmt::format("random input {} {}", model.input_name(i), values[i].type_text()));
  return values;
}

}  // namespace cli
