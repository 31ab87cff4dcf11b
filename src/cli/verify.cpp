// tenon verify: the numbers of one model against those of another, or of its reference form.
#include <cmath>
#include <map>

#include "cli/artifacts.h"
#include "cli/models.h"
#include "cli/same_inputs.h"
#include "cli/text.h"
#include "cli/verify_artifacts.h"

namespace cli {

namespace {

// The comparison of one value over all samples.
struct Row {
  std::string name, type;
  tn_comparison worst{};
  bool comparable = true;
  bool same() const { return comparable && worst.mismatches == 0; }

  void add(const tn_comparison& c) {
    comparable = comparable && c.comparable;
    worst.elements += c.elements;
    worst.mismatches += c.mismatches;
    worst.nan_pairs += c.nan_pairs;
    worst.max_abs = std::max(worst.max_abs, c.max_abs);
    worst.max_rel = std::max(worst.max_rel, c.max_rel);
    worst.cosine = std::min(worst.cosine, c.cosine);
  }
  Json json() const {
    Json row;
    row.set("name", name);
    row.set("type", type);
    row.set("same", same());
    row.set("comparable", comparable);
    row.set("elements", worst.elements);
    row.set("mismatches", worst.mismatches);
    row.set("nan", worst.nan_pairs);
    row.set("max_abs", worst.max_abs);
    row.set("max_rel", worst.max_rel);
    row.set("cosine", worst.cosine);
    return row;
  }
};

// The first value, in order of computation, that the two models disagree on.
struct Difference {
  std::string node, value;
  Row row;
};

class Verify final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("model", path_, "an ONNX model, a compiled one, or a folder of compiled ones");
    arguments.positional("other", other_,
                         "the model it should agree with; without it: itself, run by the reference interpreter", false);
    arguments.number("--rtol", rtol_, "largest relative difference; default: what rounding explains for the type");
    arguments.number("--atol", atol_, "largest absolute difference; default: what rounding explains for the type");
    arguments.integer("--samples", samples_, 1, 1'000'000, "how many made-up sets of inputs to compare (default: 3)");
    arguments.integer("--seed", seed_, INT64_MIN, INT64_MAX - 1'000'000,
                      "seed of the first set of inputs; the next ones count on (default: 0)");
    arguments.flag("--bisect", bisect_, "name the first node whose value differs");
    arguments.texts("--source-dir", source_dirs_, "DIR", "where models and weights of compiled models are looked for");
    shapes_.declare(arguments);
    options_.declare(arguments, OptionFlags::Command::Runs);
  }

  Exit execute(Console& console) override {
    if (other_.empty() && is_artifact(path_)) {
      if (bisect_) throw Failure(kUsage, "--bisect needs the model to compare with: tenon verify X_ctx.onnx X.onnx");
      if (shapes_.given() || options_.given())
        throw Failure(kUsage,
                      "--dim, --shape and --option need the model to compare with: tenon verify X_ctx.onnx X.onnx");
      return verify_artifacts({path_, source_dirs_, samples_, seed_, rtol_, atol_}, console);
    }
    if (!source_dirs_.empty()) throw Failure(kUsage, "--source-dir is for compiled models");
    const tenon::Model model = load_plain_model(path_, console);
    std::optional<tenon::Model> second;
    if (!other_.empty()) second = load_plain_model(other_, console);
    const tenon::Model& expected_model = second ? *second : model;
    shapes_.resolve(model);
    if (second) check_same_inputs({path_, model}, {other_, *second}, shapes_);
    pair_outputs(model, expected_model);
    const tenon::Context context = make_context(console);
    const tenon::Session actual = make_session(context, model, path_, options(model, false), console);
    const tenon::Session expected = make_session(context, expected_model, other_.empty() ? path_ : other_,
                                                 options(expected_model, !second), console);
    for (int64_t sample = 0; sample < samples_; ++sample) {
      console.progress(fmt::format("sample {} of {}", sample + 1, samples_));
      compare_sample(model, expected_model, actual, expected, sample);
    }
    console.end_progress();
    bool same = true;
    for (const Row& row : rows_) same = same && row.same();
    console.is_json() ? console.print_document(document(same)) : print_text(same, console);
    return same ? kDone : kFailed;
  }

 private:
  static bool is_artifact(const std::string& path) {
    return is_folder(path) || refusing(kCannotLoad, path, [&] { return tenon::is_context_file(path); });
  }
  tenon::Model load_plain_model(const std::string& path, const Console& console) const {
    if (is_folder(path)) throw Failure(kCannotLoad, path + ": is a folder; give the ONNX models to compare");
    return load_model(path, options_.for_loading(), console);
  }

  tenon::Options options(const tenon::Model& model, bool is_reference) const {
    tenon::Options options;
    shapes_.add_dims(model, options);
    options_.add_for_session(options);
    if (is_reference) options.set("provider", "reference");
    if (bisect_) options.set("keep_values", "1");
    return options;
  }

  // Outputs belong together by name; models without a common name are not two forms of one model.
  void pair_outputs(const tenon::Model& model, const tenon::Model& expected) {
    std::map<std::string, size_t> positions;
    for (size_t i = 0; i < expected.output_count(); ++i) positions.emplace(expected.output_name(i), i);
    for (size_t i = 0; i < model.output_count(); ++i) {
      const std::string name = model.output_name(i);
      auto it = positions.find(name);
      if (it == positions.end())
        throw Failure(kFailed, fmt::format("{}: has no output '{}', which {} has", other_, name, path_));
      pairs_.emplace_back(i, it->second);
      rows_.push_back({name, model.output_type(i).text(), {}, true});
      rows_.back().worst.cosine = 1;
    }
    for (size_t i = 0; i < expected.output_count(); ++i)
      if (std::none_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.second == i; }))
        throw Failure(kFailed,
                      fmt::format("{}: has no output '{}', which {} has", path_, expected.output_name(i), other_));
  }

  std::vector<tenon::Value> inputs_of(const tenon::Model& model, int64_t sample) const {
    std::vector<tenon::Value> inputs(model.input_count());
    tenon::Options settings{{"seed", std::to_string(seed_ + sample)}};
    shapes_.add_dims(model, settings);
    shapes_.add_shapes(settings);
    options_.add_for_inputs(settings);
    try {
      model.fill_inputs(inputs, settings);
    } catch (const tenon::Error& error) {
      throw Failure(error.code() == TN_INVALID_ARGUMENT ? kUsage : kCannotRun, in_file(path_, error.what()));
    }
    return inputs;
  }

  static std::vector<tenon::Value> by_name(const tenon::Model& from, const std::vector<tenon::Value>& values,
                                           const tenon::Model& to) {
    std::vector<tenon::Value> result(to.input_count());
    for (size_t i = 0; i < result.size(); ++i)
      if (const auto position = find_input(from, to.input_name(i))) result[i] = values[*position];
    return result;
  }

  void compare_sample(const tenon::Model& model, const tenon::Model& expected_model, const tenon::Session& actual,
                      const tenon::Session& expected, int64_t sample) {
    // What inputs a compiled model accepts is not known any more; the other one may tell.
    const bool turned = !other_.empty() && tenon::is_context_file(path_);
    const std::vector<tenon::Value> made = inputs_of(turned ? expected_model : model, sample);
    const auto inputs = turned ? by_name(expected_model, made, model) : made;
    const auto got = refusing(kCannotRun, path_, [&] { return actual.run(inputs); });
    const auto other_inputs = other_.empty() || turned ? made : by_name(model, made, expected_model);
    const auto wanted =
        refusing(kCannotRun, other_.empty() ? path_ : other_, [&] { return expected.run(other_inputs); });
    bool same = true;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const tn_comparison c = got[pairs_[i].first].compare(wanted[pairs_[i].second], rtol_, atol_);
      same = same && c.comparable && c.mismatches == 0;
      rows_[i].add(c);
    }
    if (!bisect_ || same || first_) return;
    // Compiled models have fewer values than nodes; two models differ in their reference forms as well.
    if (!other_.empty() && !turned) find_model_difference(model, expected_model, inputs, other_inputs);
    if (!first_) find_difference(model, expected_model, actual, expected, got, wanted);
  }

  void find_model_difference(const tenon::Model& model, const tenon::Model& expected_model,
                             const std::vector<tenon::Value>& inputs, const std::vector<tenon::Value>& other_inputs) {
    const tenon::Session actual(model, options(model, true)), expected(expected_model, options(expected_model, true));
    find_difference(model, expected_model, actual, expected, actual.run(inputs), expected.run(other_inputs));
  }

  // Kept values follow the outputs, in order of computation.
  void find_difference(const tenon::Model& model, const tenon::Model& expected_model, const tenon::Session& actual,
                       const tenon::Session& expected, const std::vector<tenon::Value>& got,
                       const std::vector<tenon::Value>& wanted) {
    std::map<std::string, size_t> positions;
    for (size_t i = model.output_count(); i < got.size(); ++i) positions.emplace(actual.output_name(i), i);
    for (size_t i = expected_model.output_count(); i < wanted.size(); ++i) {
      auto it = positions.find(expected.output_name(i));
      if (it == positions.end()) continue;
      const tn_comparison c = got[it->second].compare(wanted[i], rtol_, atol_);
      if (c.comparable && c.mismatches == 0) continue;
      first_ =
          Difference{actual.output_node(it->second), it->first, {it->first, got[it->second].type_text(), {}, true}};
      first_->row.worst.cosine = 1;
      first_->row.add(c);
      return;
    }
  }

  Json document(bool same) const {
    Json result;
    result.set("model", path_);
    result.set("other", other_.empty() ? Json() : Json(other_));
    result.set("same", same);
    result.set("samples", samples_);
    result.set("seed", seed_);
    result.set("rtol", rtol_ < 0 ? Json() : Json(rtol_));
    result.set("atol", atol_ < 0 ? Json() : Json(atol_));
    Json rows(Json::Array{});
    for (const Row& row : rows_) rows.push(row.json());
    result.set("outputs", std::move(rows));
    if (!bisect_) return result;
    Json first;
    if (first_) {
      first.set("node", first_->node);
      first.set("value", first_->value);
      first.set("comparison", first_->row.json());
    }
    result.set("first_difference", std::move(first));
    return result;
  }

  void print_text(bool same, Console& console) const {
    Table table({"output", "type", ">max abs", ">max rel", ">cosine", "result"});
    int64_t nan = 0;
    for (const Row& row : rows_) {
      nan += row.worst.nan_pairs;
      table.add({row.name, row.type, number(row, row.worst.max_abs), number(row, row.worst.max_rel),
                 number(row, row.worst.cosine),
                 !row.comparable ? "other type or shape"
                 : row.same()    ? "same"
                                 : fmt::format("{} of {} differ", row.worst.mismatches, row.worst.elements)});
    }
    console.print(table.text());
    const std::string against = other_.empty() ? "its reference form" : other_;
    const std::string verdict = same ? console.paint(Color::Green, "same") : console.paint(Color::Red, "different");
    console.print(fmt::format("{}: {} against {}, {} of inputs\n", verdict, printable(path_), printable(against),
                              counted(samples_, "set")));
    if (nan > 0) console.warning(fmt::format("{} are NaN in both and count as equal", counted(nan, "element")));
    if (first_)
      console.print(fmt::format("first difference: node '{}', value '{}' {}: max abs {:.3g}, max rel {:.3g}\n",
                                printable(first_->node), printable(first_->value), first_->row.type,
                                first_->row.worst.max_abs, first_->row.worst.max_rel));
    else if (bisect_ && !same)
      console.print("first difference: the outputs themselves; no value before them has the same name in both\n");
  }
  static std::string number(const Row& row, double value) {
    return row.comparable ? fmt::format("{:.3g}", value) : "-";
  }

  std::string path_, other_;
  double rtol_ = -1, atol_ = -1;
  int64_t samples_ = 3, seed_ = 0;
  std::vector<std::string> source_dirs_;
  bool bisect_ = false;
  ShapeFlags shapes_;
  OptionFlags options_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  std::vector<Row> rows_;
  std::optional<Difference> first_;
};

}  // namespace

CommandInfo verify_command() {
  return {"verify", "Compare the outputs of a model with those of another, or of the reference interpreter.",
          "  tenon verify model.onnx                              compiled against the reference interpreter\n"
          "  tenon verify model.onnx optimized.onnx --samples 10\n"
          "  tenon verify a.onnx b.onnx --rtol 1e-3 --atol 1e-5 --bisect\n"
          "  tenon verify out                                     every compiled model of a folder, byte by byte\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Verify>(); }};
}

}  // namespace cli
