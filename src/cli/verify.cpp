// tenon verify: the numbers of one model against those of another, or of its reference form.
#include <fmt/format.h>

#include <map>

#include "cli/artifacts.h"
#include "cli/command.h"
#include "cli/compared_outputs.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/inputs.h"
#include "cli/models.h"
#include "cli/same_inputs.h"
#include "cli/text.h"
#include "cli/trial_inputs.h"
#include "cli/verify_artifacts.h"

namespace cli {

namespace {

// The first value, in order of computation, that the two models disagree on.
struct Difference {
  std::string node;
  ComparedOutput value;
};

class Verify final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("model", path_, "an ONNX model, a compiled model, or a folder of compiled models");
    arguments.positional("other", other_,
                         "the model it should agree with; default: the same model, run by the reference interpreter",
                         false);
    arguments.number("--rtol", rtol_, "largest relative difference; default: derived from the nodes of the model");
    arguments.number("--atol", atol_, "largest absolute difference; default: derived from the nodes of the model");
    arguments.integer("--samples", samples_, 1, 1'000'000,
                      "number of input sets to compare; two shapes are used where dimensions are open (default: 3)");
    arguments.integer("--seed", seed_, INT64_MIN, INT64_MAX - 1'000'000,
                      "seed of the first input set; each further set adds 1 (default: 0)");
    arguments.flag("--bisect", bisect_, "name the first node whose value differs");
    arguments.texts("--source-dir", source_dirs_, "DIR",
                    "a folder to search for the models and weights of compiled models");
    flags_.declare(arguments);
    options_.declare(arguments, OptionFlags::Command::Runs);
  }

  Exit execute(Console& console) override {
    if (other_.empty() && is_artifact(path_)) {
      if (bisect_) throw Failure(kUsage, "--bisect needs the model to compare with: tenon verify X_ctx.onnx X.onnx");
      if (options_.given())
        throw Failure(kUsage, "--option needs the model to compare with: tenon verify X_ctx.onnx X.onnx");
      return verify_artifacts({path_, source_dirs_, samples_, seed_, rtol_, atol_, flags_}, console);
    }
    if (!source_dirs_.empty()) throw Failure(kUsage, "--source-dir applies only to compiled models");
    const tenon::Model model = load_plain_model(path_, console);
    std::optional<tenon::Model> second;
    if (!other_.empty()) second = load_plain_model(other_, console);
    const tenon::Model& expected = second ? *second : model;
    InputFlags inputs(flags_.inputs, ShapeFlags(flags_.dims, flags_.shapes));
    inputs.resolve_shapes(model);
    given_ = inputs.read_given(model);
    shapes_ = inputs.shapes();
    if (second) check_same_inputs({path_, model}, {other_, *second}, shapes_);
    pair_outputs(model, expected);
    compare(model, expected, console);
    const std::string verdict = refusal_.empty() ? verdict_of(rows_) : "inconclusive";
    console.is_json() ? console.print_document(document(verdict)) : print_text(verdict, console);
    if (!refusal_.empty()) return kCannotRun;
    return verdict == "different" ? kFailed : kDone;
  }

 private:
  // Two forms that are run on the same inputs.
  struct Forms {
    const tenon::Model &model, &expected_model;
    const tenon::Session &actual, &expected;
    const Judge& judge;
  };

  static bool is_artifact(const std::string& path) {
    return is_folder(path) || refusing(kCannotLoad, path, [&] { return tenon::is_context_file(path); });
  }
  tenon::Model load_plain_model(const std::string& path, const Console& console) const {
    if (is_folder(path)) throw Failure(kCannotLoad, path + ": this is a folder; name the ONNX models to compare");
    return load_model(path, options_.for_loading(), console);
  }
  const std::string& expected_path() const { return other_.empty() ? path_ : other_; }

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
        throw Failure(kFailed, fmt::format("{}: the output '{}' is missing; {} has it", other_, name, path_));
      pairs_.emplace_back(i, it->second);
      rows_.push_back({name, model.output_type(i).text()});
    }
    for (size_t i = 0; i < expected.output_count(); ++i)
      if (std::none_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.second == i; }))
        throw Failure(kFailed,
                      fmt::format("{}: the output '{}' is missing; {} has it", path_, expected.output_name(i), other_));
  }

  TrialInputs::Fill fill(const tenon::Model& model) const {
    return [&](TrialInputs::Values& values, int64_t seed, int64_t sizes) {
      tenon::Options settings{{"seed", std::to_string(seed)}, {"sizes", std::to_string(sizes)}};
      shapes_.add_dims(model, settings);
      shapes_.add_shapes(settings);
      options_.add_for_inputs(settings);
      try {
        model.fill_inputs(values, settings);
      } catch (const tenon::Error& error) {
        throw Failure(error.code() == TN_INVALID_ARGUMENT ? kUsage : kCannotRun, in_file(path_, error.what()));
      }
    };
  }

  static std::vector<tenon::Value> by_name(const tenon::Model& from, const std::vector<tenon::Value>& values,
                                           const tenon::Model& to) {
    std::vector<tenon::Value> result(to.input_count());
    for (size_t i = 0; i < result.size(); ++i)
      if (const auto position = find_input(from, to.input_name(i))) result[i] = values[*position];
    return result;
  }

  void compare(const tenon::Model& model, const tenon::Model& expected_model, Console& console) {
    const tenon::Context context = make_context(console);
    const tenon::Session actual = make_session(context, model, path_, options(model, false), console);
    const tenon::Session expected =
        make_session(context, expected_model, expected_path(), options(expected_model, other_.empty()), console);
    // A compiled model does not tell what inputs it accepts and what its nodes explain; the other one may.
    const bool turned = !other_.empty() && tenon::is_context_file(path_);
    const bool expects_compiled = !other_.empty() && tenon::is_context_file(other_);
    const tenon::Model& maker = turned ? expected_model : model;
    const Judge judge(expects_compiled ? model : expected_model, context, rtol_, atol_);
    const Forms forms{model, expected_model, actual, expected, judge};
    TrialInputs inputs(maker, fill(maker), by_name(model, given_, maker), samples_, seed_);
    int64_t sample = 0;
    ComparedSets sets(rows_);
    const auto run = [&](const TrialInputs::Values& made) {
      console.progress(fmt::format("comparing {}: set {} of {}", path_, ++sample, samples_));
      return sets.add(compare_sample(forms, by_name(maker, made, model), by_name(maker, made, expected_model)));
    };
    refusing(kCannotRun, expected_path(), [&] { try_all(inputs, run); });
    rows_ = sets.outputs();
    tried_ = inputs.tried();
    console.end_progress();
  }

  // Inputs that are made up may suit nobody, which says nothing about the model.
  void try_all(TrialInputs& inputs, const std::function<std::string(const TrialInputs::Values&)>& run) {
    try {
      inputs.for_each(run);
    } catch (const tenon::Error& error) {
      const bool made_up = std::none_of(given_.begin(), given_.end(), [](const tenon::Value& v) { return bool(v); });
      if (!other_.empty() || !made_up || inputs.tried().items().empty()) throw;
      refusal_ = error.what();
    }
  }

  std::vector<tn_comparison> compare_sample(const Forms& forms, const std::vector<tenon::Value>& inputs,
                                            const std::vector<tenon::Value>& expected_inputs) {
    const auto wanted = forms.expected.run(expected_inputs);
    const auto got = refusing(kCannotRun, path_, [&] { return forms.actual.run(inputs); });
    bool same = true;
    std::vector<tn_comparison> comparisons;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const tn_comparison c =
          forms.judge.compare(rows_[i].name, got[pairs_[i].first], wanted[pairs_[i].second], expected_inputs);
      same = same && c.comparable && c.mismatches == 0;
      comparisons.push_back(c);
    }
    if (!bisect_ || same || first_) return comparisons;
    // Compiled models have fewer values than nodes; two models differ in their reference forms as well.
    if (!other_.empty() && !tenon::is_context_file(path_)) find_model_difference(forms, inputs, expected_inputs);
    if (!first_) find_difference(forms, got, wanted, expected_inputs);
    return comparisons;
  }

  void find_model_difference(const Forms& forms, const std::vector<tenon::Value>& inputs,
                             const std::vector<tenon::Value>& expected_inputs) {
    const tenon::Session actual(forms.model, options(forms.model, true)),
        expected(forms.expected_model, options(forms.expected_model, true));
    find_difference({forms.model, forms.expected_model, actual, expected, forms.judge}, actual.run(inputs),
                    expected.run(expected_inputs), expected_inputs);
  }

  // Kept values follow the outputs, in order of computation.
  void find_difference(const Forms& forms, const std::vector<tenon::Value>& got,
                       const std::vector<tenon::Value>& wanted, const std::vector<tenon::Value>& inputs) {
    std::map<std::string, size_t> positions;
    for (size_t i = forms.model.output_count(); i < got.size(); ++i) positions.emplace(forms.actual.output_name(i), i);
    for (size_t i = forms.expected_model.output_count(); i < wanted.size(); ++i) {
      auto it = positions.find(forms.expected.output_name(i));
      if (it == positions.end()) continue;
      const tenon::Value& value = got[it->second];
      const tn_comparison c = forms.judge.compare(it->first, value, wanted[i], inputs);
      if (c.comparable && c.mismatches == 0) continue;
      first_ = Difference{forms.actual.output_node(it->second), {it->first, value.type_text()}};
      first_->value.add(c);
      return;
    }
  }

  Json document(const std::string& verdict) const {
    Json result;
    result.set("model", path_);
    result.set("other", other_.empty() ? Json() : Json(other_));
    result.set("verdict", verdict);
    result.set("same", verdict != "different");
    if (!refusal_.empty()) result.set("message", "the reference cannot run it: " + refusal_);
    result.set("samples", samples_);
    result.set("seed", seed_);
    result.set("rtol", rtol_ < 0 ? Json() : Json(rtol_));
    result.set("atol", atol_ < 0 ? Json() : Json(atol_));
    Json rows(Json::Array{});
    for (const ComparedOutput& row : rows_) rows.push(row.json());
    result.set("outputs", std::move(rows));
    result.set("tried", tried_);
    if (!bisect_) return result;
    Json first;
    if (first_) {
      first.set("node", first_->node);
      first.set("value", first_->value.name);
      first.set("comparison", first_->value.json());
    }
    result.set("first_difference", std::move(first));
    return result;
  }

  void print_text(const std::string& verdict, Console& console) const {
    const std::string shapes = tried_text(tried_);
    if (!refusal_.empty()) {
      console.print(
          fmt::format("{}: {} against its reference form\n", console.paint(Color::Yellow, verdict), printable(path_)));
      if (!shapes.empty()) console.print("tested with " + shapes + "\n");
      return console.error(in_file(path_, refusal_) + "; choose other inputs with --dim, --shape and --input");
    }
    Table table({"output", "type", ">max abs", ">max rel", ">cosine", "result"});
    int64_t nan = 0;
    for (const ComparedOutput& row : rows_) {
      nan += row.nan;
      table.add({row.name, row.type, number(row, row.max_abs), number(row, row.max_rel), number(row, row.cosine),
                 output_result(row.json())});
    }
    console.print(table.text());
    const Color color = verdict == "same" ? Color::Green : verdict == "different" ? Color::Red : Color::Yellow;
    const std::string against = other_.empty() ? "its reference form" : other_;
    console.print(fmt::format("{}: {} against {}, {} of inputs\n", console.paint(color, verdict), printable(path_),
                              printable(against), counted(samples_, "set")));
    if (!shapes.empty()) console.print("tested with " + shapes + "\n");
    if (nan > 0) console.warning(fmt::format("{} are NaN in both and count as equal", counted(nan, "element")));
    if (first_)
      console.print(fmt::format("first difference: node '{}', value '{}' {}: max abs {:.3g}, max rel {:.3g}\n",
                                printable(first_->node), printable(first_->value.name), first_->value.type,
                                first_->value.max_abs, first_->value.max_rel));
    else if (bisect_ && verdict == "different")
      console.print("first difference: the outputs themselves; no earlier value has the same name in both models\n");
  }
  static std::string number(const ComparedOutput& row, double value) {
    return row.comparable ? fmt::format("{:.3g}", value) : "-";
  }

  std::string path_, other_;
  double rtol_ = -1, atol_ = -1;
  int64_t samples_ = 3, seed_ = 0;
  std::vector<std::string> source_dirs_;
  bool bisect_ = false;
  TrialFlags flags_;
  std::vector<tenon::Value> given_;
  ShapeFlags shapes_;
  OptionFlags options_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  std::vector<ComparedOutput> rows_;
  Json tried_;
  std::string refusal_;  // why the reference refuses all inputs
  std::optional<Difference> first_;
};

}  // namespace

CommandInfo verify_command() {
  return {
      "verify", "Compare the outputs of a model with those of another model or of the reference interpreter.",
      "  tenon verify model.onnx                              compare with the reference interpreter\n"
      "  tenon verify model.onnx --dim height=224 --dim width=224\n"
      "  tenon verify model.onnx optimized.onnx --samples 10\n"
      "  tenon verify a.onnx b.onnx --rtol 1e-3 --atol 1e-5 --bisect\n"
      "  tenon verify out                                     check every byte of the compiled models in a folder\n",
      []() -> std::unique_ptr<Command> { return std::make_unique<Verify>(); }};
}

}  // namespace cli
