// tenon inspect: what is in a model.
#include <fmt/format.h>

#include <map>

#include "cli/arguments.h"
#include "cli/artifacts.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/graph_view.h"
#include "cli/inspect_artifact.h"
#include "cli/kernels.h"
#include "cli/models.h"
#include "cli/option_flags.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string shape_text(const Json& shape) { return shape.plain(); }

// A summary fits on a few screens whatever the model holds.
constexpr size_t kShownValues = 100, kShownEntries = 20, kShownOps = 20, kShownCharacters = 200;
std::string more(size_t count) { return fmt::format("... {} more; --format json shows all", count); }

std::string shortened(const std::string& text) {
  if (text.size() <= kShownCharacters) return text;
  size_t end = kShownCharacters;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return fmt::format("{}... ({} bytes)", text.substr(0, end), text.size());
}

void add_metadata(const Json::Object& entries, Table& facts) {
  for (size_t i = 0; i < std::min(entries.size(), kShownEntries); ++i)
    facts.add({"metadata", shortened(entries[i].first) + " = " + shortened(entries[i].second.text())});
  if (entries.size() > kShownEntries) facts.add({"", more(entries.size() - kShownEntries)});
}

std::string summary_text(const std::string& path, const Json& summary) {
  std::string opsets;
  for (const auto& [domain, version] : summary["opsets"].entries())
    opsets += (opsets.empty() ? "" : ", ") + domain + " " + version.plain();
  const std::string producer = summary["producer"].text() + " " + summary["producer_version"].text();
  Table facts({"", ""});
  if (!summary["graph"].text().empty()) facts.add({"graph", summary["graph"].text()});
  facts.add({"made by", producer == " " ? "-" : producer});
  facts.add({"format", fmt::format("IR {}, opset {}", summary["ir_version"].plain(), opsets.empty() ? "-" : opsets)});
  facts.add({"nodes", summary["nodes"].plain()});
  if (summary["functions"].integer() > 0) facts.add({"functions", summary["functions"].plain()});
  facts.add({"weights", fmt::format("{}, {}", summary["weights"]["count"].plain(),
                                    human_bytes(summary["weights"]["bytes"].integer()))});
  if (!summary["unknown_ops"].items().empty()) {
    const auto& unknown = summary["unknown_ops"].items();
    std::string ops;
    for (size_t i = 0; i < std::min(unknown.size(), kShownOps); ++i) ops += (i ? ", " : "") + unknown[i].text();
    facts.add({"unknown ops", ops + (unknown.size() > kShownOps ? ", " + more(unknown.size() - kShownOps) : "")});
  }
  add_metadata(summary["metadata"].entries(), facts);
  return printable(path) + "\n" + facts.text() + inputs_and_outputs_text(summary);
}

}  // namespace

std::string inputs_and_outputs_text(const Json& described) {
  std::string text;
  for (const char* side : {"inputs", "outputs"}) {
    Table values({"", "", ""});
    const auto& items = described[side].items();
    for (size_t i = 0; i < std::min(items.size(), kShownValues); ++i)
      values.add(
          {items[i]["name"].text(), items[i]["type"].text(), items[i]["default"].boolean() ? "has a default" : ""});
    text += fmt::format("\n{}\n{}", side, values.text());
    if (items.size() > kShownValues) text += "  " + more(items.size() - kShownValues) + "\n";
  }
  return text;
}

namespace {

std::string ops_text(const Json& ops) {
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [name, count] : ops.entries()) sorted.emplace_back(-count.integer(), name);
  std::sort(sorted.begin(), sorted.end());
  Table table({"op", ">count"});
  for (const auto& [count, name] : sorted) table.add({name, std::to_string(-count)});
  return "\nops\n" + table.text();
}

std::string weights_text(const Json& weights) {
  Table table({"weight", "type", "shape", ">size"});
  int64_t total = 0;
  for (const Json& weight : weights.items()) {
    total += weight["bytes"].integer();
    table.add({weight["name"].text(), weight["dtype"].text(), shape_text(weight["shape"]),
               human_bytes(weight["bytes"].integer())});
  }
  return "\nweights\n" + table.text() + fmt::format("  {} in total, {}\n", weights.items().size(), human_bytes(total));
}

void add_steps(const Json& plan, const std::string& indent, Table& table, int64_t& index) {
  for (const Json& step : plan["steps"].items()) {
    std::string outputs;
    for (const Json& output : step["outputs"].items())
      if (!output.is_null())
        outputs += (outputs.empty() ? "" : ", ") + output["type"].text() + " in " + output["storage"].text();
    table.add({std::to_string(index++), indent + step["kernel"].text(), step["node"].text(), outputs});
    for (const Json& body : step["bodies"].items()) add_steps(body, indent + "  ", table, index);
  }
}

std::string plan_text(const Json& plan) {
  Table table({">step", "kernel", "node", "result"});
  int64_t index = 0;
  add_steps(plan, "", table, index);
  std::string late;
  for (const Json& dim : plan["late_dims"].items()) late += (late.empty() ? "" : ", ") + printable(dim.text());
  return "\nplan\n" + table.text() + (late.empty() ? "" : "  known only at run time: " + late + "\n");
}

class Inspect final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("model", path_, "an ONNX model or a compiled model");
    arguments.choice("--graph", graph_, {"text", "dot", "html"}, "the nodes; dot and html print only the graph");
    arguments.flag("--ops", ops_, "how often each op occurs");
    arguments.flag("--weights", weights_, "name, type, shape and size of every weight");
    arguments.flag("--plan", plan_, "the steps that the model is compiled to");
    arguments.flag("--kernels", kernels_, "which kernels run which nodes");
    arguments.flag("--weight-program", weight_program_, "how the packed weights are made, and which steps read them");
    options_.declare(arguments, OptionFlags::Command::Reads);
  }

  Exit execute(Console& console) override {
    const bool is_page = graph_ == "dot" || graph_ == "html";
    if (is_page && (ops_ || weights_ || plan_ || kernels_ || weight_program_))
      throw Failure(kUsage, fmt::format("--graph {} prints a whole document and cannot be combined with --ops, "
                                        "--weights, --plan, --kernels or --weight-program",
                                        graph_));
    if (is_page && console.is_json())
      throw Failure(kUsage, fmt::format("--graph {} cannot be combined with --format json; use --graph text", graph_));
    if (!is_folder(path_) && refusing(kCannotLoad, path_, [&] { return tenon::is_context_file(path_); })) {
      if (ops_ || !graph_.empty())
        throw Failure(kUsage, path_ + ": a compiled model has no graph; use --plan, --kernels or --weight-program");
      if (options_.given()) throw Failure(kUsage, "--option applies only to models that are not compiled yet");
      return inspect_artifact(path_, {weights_, plan_, kernels_, weight_program_}, console);
    }
    const tenon::Model model = load_model(path_, options_.for_loading(), console);
    const bool compiles = plan_ || kernels_;
    Json described = Json::parse(
        refusing(compiles ? kCannotRun : kFailed, path_, [&] { return model.describe(sections(compiles)); }));
    if (weight_program_)
      described.set("weight_program", refusing(kCannotRun, path_, [&] { return weight_program_of(path_, model); }));
    if (graph_ == "dot")
      console.print(graph_as_dot(path_, described["graph"]));
    else if (graph_ == "html")
      console.print(tenon::model_html(path_, described.dump()));
    else if (console.is_json())
      console.print_document(document(described));
    else
      print_text(described, console);
    return kDone;
  }

 private:
  std::string sections(bool compiles) const {
    std::string list = "summary";
    if (!graph_.empty()) list += ",graph";
    if (ops_) list += ",ops";
    if (weights_) list += ",weights";
    if (compiles) list += ",plan";
    return list;
  }

  Json document(const Json& described) const {
    Json result;
    for (const auto& [section, content] : described.entries())
      if (section != "plan" || plan_) result.set(section, content);
    if (!kernels_) return result;
    result.set("kernels", kernels_of(described["plan"]));
    return result;
  }

  void print_text(const Json& described, Console& console) const {
    console.print(summary_text(path_, described["summary"]));
    if (ops_) console.print(ops_text(described["ops"]));
    if (weights_) console.print(weights_text(described["weights"]));
    if (!graph_.empty()) console.print("\ngraph\n" + graph_as_text(described["graph"]));
    if (plan_) console.print(plan_text(described["plan"]));
    if (weight_program_) console.print(weight_program_text(described["weight_program"]));
    if (kernels_) console.print(kernels_text(kernels_of(described["plan"])));
  }

  std::string path_, graph_;
  OptionFlags options_;
  bool ops_ = false, weights_ = false, plan_ = false, kernels_ = false, weight_program_ = false;
};

}  // namespace

CommandInfo inspect_command() {
  return {"inspect", "Show the contents of a model.",
          "  tenon inspect model.onnx                             inputs, outputs, sizes\n"
          "  tenon inspect model.onnx --ops --weights\n"
          "  tenon inspect model.onnx --graph html > model.html\n"
          "  tenon inspect model.onnx --plan --format json\n"
          "  tenon inspect model_ctx.onnx --weight-program\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Inspect>(); }};
}

}  // namespace cli
