#include "cli/compile/index_ties.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace cli {

namespace {

// A choice along an axis.
struct Choice {
  std::string from;  // the value it is made of
  int64_t axis = 0;
};

int64_t axis_of(const Json& node, int64_t otherwise) {
  const std::string& params = node["params"].text();
  const size_t at = params.find("axis=");
  int64_t axis = otherwise;
  if (at != std::string::npos) std::from_chars(params.data() + at + 5, params.data() + params.size(), axis);
  return axis;
}

// Follows an output back through ops that keep the order of elements.
std::optional<Choice> find_choice(const Json& graph, std::string name) {
  const std::vector<std::string> passing = {"Cast", "Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten"};
  const auto& nodes = graph["nodes"].items();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto& outputs = (*node)["outputs"].items();
    const auto at =
        std::find_if(outputs.begin(), outputs.end(), [&](const Json& o) { return o["name"].text() == name; });
    if (at == outputs.end()) continue;
    const std::string& op = (*node)["op"].text();
    const auto& inputs = (*node)["inputs"].items();
    if (op == "ArgMax" || op == "ArgMin") return Choice{inputs[0].text(), axis_of(*node, 0)};
    if (op == "TopK" && at - outputs.begin() == 1) return Choice{inputs[0].text(), axis_of(*node, -1)};
    if (std::find(passing.begin(), passing.end(), op) == passing.end() || inputs.empty()) return std::nullopt;
    name = inputs[0].text();
  }
  return std::nullopt;
}

tenon::Value reference_value(const tenon::Model& model, const tenon::Context& context, const std::string& name,
                             const std::vector<tenon::Value>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (model.input_name(i) == name) return inputs[i];
  const tenon::Session session(context, model, {{"provider", "reference"}, {"keep_values", "1"}, {"seed", "1"}});
  const std::vector<tenon::Value> values = session.run(inputs);
  for (size_t i = model.output_count(); i < values.size(); ++i)
    if (session.output_name(i) == name) return values[i];
  return {};
}

std::optional<int64_t> index_at(const tenon::Value& value, int64_t position) {
  const auto at = static_cast<size_t>(position);
  if (value.dtype() == TN_INT64) return value.data<const int64_t>()[at];
  if (value.dtype() == TN_INT32) return value.data<const int32_t>()[at];
  return std::nullopt;
}

// Elements equal within what rounding explains.
class Ties {
 public:
  Ties(const tenon::Value& from, int64_t axis, int64_t count, double tolerance) : values_(from.data<const float>()) {
    const std::vector<int64_t> dims = from.dims();
    const auto rank = static_cast<int64_t>(dims.size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return;
    extent_ = dims[static_cast<size_t>(axis)];
    for (int64_t d = axis + 1; d < rank; ++d) inner_ *= dims[static_cast<size_t>(d)];
    const int64_t lines = extent_ > 0 ? from.count() / extent_ : 0;
    chosen_ = lines > 0 ? count / lines : 0;
    float largest = 0;
    for (const float v : values_)
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    allowed_ = tolerance * static_cast<double>(largest);
  }
  bool explains(int64_t position, int64_t a, int64_t b) const {
    if (chosen_ <= 0 || a < 0 || b < 0 || a >= extent_ || b >= extent_) return false;
    const int64_t outer = position / (chosen_ * inner_), inside = position % inner_;
    const auto at = [&](int64_t i) {
      return static_cast<double>(values_[static_cast<size_t>((outer * extent_ + i) * inner_ + inside)]);
    };
    return std::abs(at(a) - at(b)) <= allowed_;
  }

 private:
  std::span<const float> values_;
  int64_t extent_ = 0, inner_ = 1, chosen_ = 0;
  double allowed_ = 0;
};

}  // namespace

int64_t unexplained_indices(const tenon::Model& model, const Json& graph, const tenon::Context& context,
                            const std::string& output, const std::vector<tenon::Value>& inputs, const tenon::Value& got,
                            const tenon::Value& wanted, double tolerance) {
  const auto choice = find_choice(graph, output);
  const tenon::Value from = choice ? reference_value(model, context, choice->from, inputs) : tenon::Value();
  const bool readable = from && from.kind() == TN_KIND_TENSOR && from.dtype() == TN_FLOAT32;
  if (!readable) return got.compare(wanted).mismatches;
  const Ties ties(from, choice->axis, wanted.count(), tolerance);
  int64_t unexplained = 0;
  for (int64_t i = 0; i < wanted.count(); ++i) {
    const auto a = index_at(got, i), b = index_at(wanted, i);
    if (!a || !b) return got.compare(wanted).mismatches;
    unexplained += *a != *b && !ties.explains(i, *a, *b);
  }
  return unexplained;
}

}  // namespace cli
