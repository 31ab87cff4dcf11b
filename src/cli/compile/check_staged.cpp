// The process that tries one staged result.
#include <cmath>
#include <iostream>

#include "cli/child_process.h"
#include "cli/compile/index_ties.h"
#include "cli/compile/validate.h"
#include "cli/models.h"

namespace cli {

namespace {

// The distance of neighbouring numbers around 1, relative, of the types that numbers pass through; 0 for others.
double epsilon(const std::string& dtype) {
  if (dtype == "double") return 0x1p-52;
  if (dtype == "float") return 0x1p-23;
  if (dtype == "float16") return 0x1p-10;
  if (dtype == "bfloat16") return 0x1p-7;
  return dtype.starts_with("float") ? 0x1p-3 : 0;
}

bool is_quantizing(const std::string& op) {
  return op.find("Quantize") != std::string::npos || op.find("QLinear") != std::string::npos ||
         op.find("Integer") != std::string::npos || op.find("NBits") != std::string::npos;
}

// How far an output may be from the reference, as a share of its largest number: rounding in the coarsest type that
// numbers pass through, more of it in a deeper model; a quantized value may fall on the other side of a step.
double tolerance(const Json& described, const std::string& output_dtype) {
  double eps = epsilon(output_dtype);
  for (const Json& weight : described["weights"].items()) eps = std::max(eps, epsilon(weight["dtype"].text()));
  int64_t nodes = 0;
  bool quantized = false;
  for (const auto& [op, count] : described["ops"].entries()) {
    nodes += count.integer();
    quantized = quantized || is_quantizing(op);
  }
  // Sums of a thousand terms lose about that many units; types narrower than float are summed in float.
  const double units = eps <= 0x1p-23 ? 1024 + 8 * static_cast<double>(nodes) : 8 + static_cast<double>(nodes) / 4;
  const double rounding = std::min(eps * units, 0.1);
  return quantized ? std::max(rounding, 4.0 / 127) : rounding;
}

double largest(const tenon::Value& value) {
  const Json described = Json::parse(value.describe(0));
  const double size = std::max(std::abs(described["min"].number()), std::abs(described["max"].number()));
  return std::isfinite(size) ? size : 0;
}

// One try: the compiled model, and the model itself by the reference interpreter, on the same inputs.
class Check {
 public:
  Check(const Json& request, const std::string& model, std::string context_path)
      : request_(request), context_path_(std::move(context_path)), seed_(request["seed"].plain()),
        context_(context_options()), model_(tenon::Model::load(model, load_options())),
        described_(Json::parse(model_.describe("ops,weights,graph"))) {}

  Json run() {
    std::vector<tenon::Value> inputs(model_.input_count()), got, wanted;
    try {
      model_.fill_inputs(inputs, {{"seed", seed_}});
      tenon::Options options = session_options();
      options.set("provider", "reference");
      const tenon::Session reference(context_, model_, options);
      wanted = reference.run(inputs);
      // White space to whoever reads the result, and to whoever waits the news that the reference is done.
      std::cout << '\n' << std::flush;
    } catch (const tenon::Error& error) {
      result_.set("verdict", "inconclusive");
      result_.set("message", std::string("the reference cannot run it: ") + error.what());
      result_.set("short_of_memory", error.code() == TN_RESOURCE_LIMIT);
      // That the result can be loaded is still to be seen.
      inputs.clear();
    }
    const tenon::Model compiled = tenon::Model::load(context_path_);
    const tenon::Session session(context_, compiled, session_options());
    if (inputs.empty() && model_.input_count() > 0) return finish();
    if (wanted.empty() && model_.output_count() > 0) return finish();
    got = session.run(inputs);
    for (size_t i = 0; i < wanted.size(); ++i) compare(i, got[i], wanted[i], inputs);
    return finish();
  }

 private:
  tenon::Options context_options() const {
    tenon::Options options{{"threads", request_["threads"].plain()}};
    if (!request_["cpu_isa"].text().empty()) options.set("cpu_isa", request_["cpu_isa"].text());
    return options;
  }
  tenon::Options session_options() const {
    tenon::Options options{{"seed", seed_}};
    if (request_["memory"].integer() > 0) options.set("memory_limit", request_["memory"].plain());
    return options;
  }
  tenon::Options load_options() const {
    tenon::Options options;
    if (request_["freeze_all"].boolean()) options.set("freeze_inputs", "1");
    for (const Json& name : request_["frozen"].items()) options.set("freeze_input:" + name.text(), "1");
    return options;
  }

  void compare(size_t i, const tenon::Value& got, const tenon::Value& wanted, const std::vector<tenon::Value>& inputs) {
    const std::string name = model_.output_name(i);
    const double rtol = request_["rtol"].number(), atol = request_["atol"].number();
    tn_comparison c = got.compare(wanted, rtol, atol);
    double allowed = 0;
    int64_t ties = 0;
    if (wanted.kind() == TN_KIND_TENSOR && rtol < 0 && atol < 0) {
      const double share = tolerance(described_, tn_dtype_name(wanted.dtype()));
      allowed = epsilon(tn_dtype_name(wanted.dtype())) > 0 ? share * largest(wanted) : 0;
      if (c.mismatches > 0 && allowed > 0) c = got.compare(wanted, share, allowed);
      if (c.comparable && c.mismatches > 0 && allowed == 0) {
        const int64_t others = c.mismatches;
        c.mismatches = unexplained_indices(model_, described_["graph"], context_, name, inputs, got, wanted,
                                           tolerance(described_, "float"));
        ties = others - c.mismatches;
      }
    }
    different_ = different_ || !c.comparable || c.mismatches > 0;
    nan_ += c.nan_pairs;
    outputs_.push(Json::Object{{"name", name},
                               {"comparable", c.comparable != 0},
                               {"elements", c.elements},
                               {"mismatches", c.mismatches},
                               {"ties", ties},
                               {"nan", c.nan_pairs},
                               {"max_abs", c.max_abs},
                               {"max_rel", c.max_rel},
                               {"cosine", c.cosine},
                               {"allowed_abs", allowed}});
  }

  Json finish() {
    if (result_["verdict"].is_null()) {
      result_.set("verdict", different_ ? "different" : nan_ > 0 ? "inconclusive" : "same");
      result_.set("message", different_ ? "the compiled model gives other numbers than the reference"
                             : nan_ > 0 ? "the reference gives NaN"
                                        : "");
    }
    result_.set("outputs", std::move(outputs_));
    return std::move(result_);
  }

  const Json& request_;
  std::string context_path_, seed_;
  tenon::Context context_;
  tenon::Model model_;
  Json described_;
  Json result_, outputs_ = Json(Json::Array{});
  bool different_ = false;
  int64_t nan_ = 0;
};

}  // namespace

int check_staged(const std::string& text, const std::string& model, const std::string& context) {
  Json result;
  try {
    const Json request = Json::parse(text);
    end_with_parent(static_cast<int>(request["parent"].integer()));
    result = Check(request, model, context).run();
  } catch (const std::exception& error) {
    result = Json::Object{{"verdict", "failed"}, {"message", error.what()}, {"outputs", Json::Array{}}};
  }
  std::cout << result.dump() << std::flush;
  return std::cout ? kDone : kFailed;
}

}  // namespace cli
