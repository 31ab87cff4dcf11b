#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/option_flags.h"
#include "tenon/tenon.hpp"

namespace cli {

class Console;

// --dim and --shape: extents the model leaves open.
class ShapeFlags {
 public:
  ShapeFlags() = default;
  ShapeFlags(std::vector<std::string> dims, std::vector<std::string> shapes)
      : dim_texts_(std::move(dims)), shape_texts_(std::move(shapes)) {}
  void declare(Arguments& arguments);
  // Reads the flags against the model's inputs; Failure(kUsage) for names and values that do not fit.
  void resolve(const tenon::Model& model);

  const std::map<std::string, int64_t>& dims() const { return dims_; }
  const std::map<std::string, std::vector<int64_t>>& shapes() const { return shapes_; }
  // The extents of an input as far as the flags and the model decide all of them.
  std::optional<std::vector<int64_t>> extents(const tenon::Model& model, size_t input) const;
  // Failure(kUsage) when --dim says something else than the shape that an input has from `source`.
  void check_agrees(const tenon::Model& model, size_t input, const std::vector<int64_t>& shape,
                    const std::string& source) const;
  // Those that inputs of this model have.
  void add_dims(const tenon::Model& model, tenon::Options& options) const;
  // Whether there is any flag, resolved or not.
  bool given() const { return !dim_texts_.empty() || !shape_texts_.empty(); }
  void add_shapes(tenon::Options& options) const;
  // A dimension that no flag decides.
  void set_dim(const std::string& name, int64_t extent) { dims_.emplace(name, extent); }
  // An input that gets its shape elsewhere.
  void forget_shape(const std::string& input) { shapes_.erase(input); }

 private:
  std::vector<std::string> dim_texts_, shape_texts_;
  std::map<std::string, int64_t> dims_;
  std::map<std::string, std::vector<int64_t>> shapes_;
};

// --input, --inputs, --random: where the values of inputs come from.
class InputFlags {
 public:
  InputFlags() = default;
  InputFlags(std::vector<std::string> inputs, ShapeFlags shapes)
      : shapes_(std::move(shapes)), inputs_(std::move(inputs)) {}
  // For commands that need some inputs, whatever they are: without --random. Before declare().
  void make_up_missing() { random_ = true; }
  void declare(Arguments& arguments);
  // One value per model input; those that have a default stay empty unless they are given.
  std::vector<tenon::Value> read(const tenon::Model& model, const std::vector<bool>& has_default,
                                 const std::string& path, const Console& console);
  // What --input says alone; all other values are empty.
  std::vector<tenon::Value> read_given(const tenon::Model& model);
  const ShapeFlags& shapes() const { return shapes_; }
  const OptionFlags& options() const { return options_; }
  void resolve_shapes(const tenon::Model& model) { shapes_.resolve(model); }
  // Files that are read, and so must not be written.
  std::vector<std::string> files() const { return files_; }

 private:
  static size_t named_input(const tenon::Model& model, const std::string& text);
  void read_arguments(const tenon::Model& model, std::vector<tenon::Value>& values);
  tenon::Value read_argument(const tenon::Model& model, size_t input, const std::string& text);
  tenon::Value read_file(const tenon::Model& model, size_t input, const std::string& file);
  void read_archive(const tenon::Model& model, std::vector<tenon::Value>& values);
  void check_missing(const tenon::Model& model, const std::vector<bool>& has_default,
                     const std::vector<tenon::Value>& values) const;

  ShapeFlags shapes_;
  OptionFlags options_;
  std::vector<std::string> inputs_;
  std::string archive_;
  bool random_ = false;
  int64_t seed_ = 0;
  std::vector<std::string> files_;
};

// The element type of a tensor or of what is inside; float when the model does not say.
tn_dtype element_type(const tenon::TypeView& type);
// The position of an input by name, or nothing.
std::optional<size_t> find_input(const tenon::Model& model, const std::string& name);
std::vector<std::string> input_names(const tenon::Model& model);
// The names of open dimensions of inputs.
std::vector<std::string> dim_names(const tenon::Model& model);

}  // namespace cli
