#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "tenon/tenon.hpp"

namespace cli {

// --dim and --shape: extents the model leaves open.
class ShapeFlags {
 public:
  void declare(Arguments& arguments);
  // Reads the flags against the model's inputs; Failure(kUsage) for names and values that do not fit.
  void resolve(const tenon::Model& model);

  const std::map<std::string, int64_t>& dims() const { return dims_; }
  const std::map<std::string, std::vector<int64_t>>& shapes() const { return shapes_; }
  // The extents of an input as far as the flags and the model decide all of them.
  std::optional<std::vector<int64_t>> extents(const tenon::Model& model, size_t input) const;
  void add_dims(tenon::Options& options) const;
  void add_shapes(tenon::Options& options) const;
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
  void declare(Arguments& arguments);
  // One value per model input; inputs with a default may stay empty.
  std::vector<tenon::Value> read(const tenon::Model& model, const std::string& path, const Console& console);
  const ShapeFlags& shapes() const { return shapes_; }
  void resolve_shapes(const tenon::Model& model) { shapes_.resolve(model); }
  // Files that are read, and so must not be written.
  std::vector<std::string> files() const { return files_; }

 private:
  tenon::Value read_argument(const tenon::Model& model, size_t input, const std::string& text);
  void read_archive(const tenon::Model& model, std::vector<tenon::Value>& values);
  void check_missing(const tenon::Model& model, const std::vector<tenon::Value>& values) const;

  ShapeFlags shapes_;
  std::vector<std::string> inputs_;
  std::string archive_;
  bool random_ = false;
  int64_t seed_ = 0;
  std::vector<std::string> files_;
};

// The position of an input by name, or nothing.
std::optional<size_t> find_input(const tenon::Model& model, const std::string& name);
std::vector<std::string> input_names(const tenon::Model& model);

}  // namespace cli
