#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "tenon/tenon.hpp"

namespace cli {

// Sets of inputs to try a model with: of two different shapes at least, where the model leaves extents open and accepts
// both.
class TrialInputs {
 public:
  using Values = std::vector<tenon::Value>;
  // Completes values for a seed and one of the choices of sizes, as tenon::Model::fill_inputs does.
  using Fill = std::function<void(Values& values, int64_t seed, int64_t sizes)>;

  // samples: how many sets; 0: one for each shape. `given` are the inputs that are not made up.
  TrialInputs(const tenon::Model& model, Fill fill, Values given, int64_t samples, int64_t seed)
      : model_(model), fill_(std::move(fill)), given_(std::move(given)), samples_(samples), seed_(seed) {}

  // Calls run with each set. A tenon::Error that comes out of it means that these shapes are refused, and text (why)
  // that the set shows nothing: others are tried then. When all are refused, the first error goes on; when none shows
  // anything, it stays with those that were run.
  void for_each(const std::function<std::string(const Values&)>& run);
  // What was tried, in order: [{inputs: {NAME: TYPE}, sets, shows_nothing: why} or {inputs, refused: why}].
  Json tried() const;

 private:
  struct Shapes {
    Json inputs;
    int64_t sizes = 0, sets = 0;
    std::string refused, shows_nothing;  // why, or ""
  };

  Values make(int64_t sizes) const;
  Json types_of(const Values& values) const;
  bool was_tried(const Json& inputs) const;

  const tenon::Model& model_;
  Fill fill_;
  Values given_;
  int64_t samples_, seed_, made_ = 0;
  std::vector<Shapes> tried_;
};

// "x float[1, 3, 64, 64]; x float[2, 3, 32, 64]": the shapes of tried() that show something, or when there is none the
// others.
std::string tried_text(const Json& tried);

}  // namespace cli
