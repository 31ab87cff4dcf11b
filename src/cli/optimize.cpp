// tenon optimize: models in normal form, with a log of every change.
#include "tenon/optimize.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "cli/arguments.h"
#include "cli/capability_flags.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/option_flags.h"
#include "cli/output_file.h"
#include "cli/text.h"

namespace cli {

namespace {

struct OptimizeFlags {
  std::string model, output, config;
  std::vector<std::string> explain;  // files for the changes; "": print them
  CapabilityFlags capabilities;
  int64_t seed = 0;
  bool list = false, check = false, drift = false, force = false, overwrite = false;
};

std::string default_output(const std::string& model) {
  const std::filesystem::path path(model);
  return (path.parent_path() / (path.stem().string() + "_opt.onnx")).string();
}

bool is_readable(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), R_OK) == 0;
}

std::string joined_names(const Json& names) {
  std::string text;
  for (const Json& name : names.items()) text += (text.empty() ? "" : ", ") + printable(name.text());
  return text;
}

std::string difference_text(const Json& d) {
  return fmt::format("{:.3g}, {:.3g} relative; {}", d["max_abs"].number(), d["max_rel"].number(),
                     d["within"].boolean() ? fmt::format("rounding explains {:.3g}", d["allowed"].number())
                                           : "rounding does not explain it");
}

std::string change_text(const Json& change) {
  std::string text =
      fmt::format("{}  {}: {}\n", change["rule"].text(), printable(change["node"].text()), change["reason"].text());
  if (!change["removed"].items().empty()) text += "    removed " + joined_names(change["removed"]) + "\n";
  if (!change["added"].items().empty()) text += "    added   " + joined_names(change["added"]) + "\n";
  if (const int64_t bytes = change["bytes"].integer()) text += fmt::format("    bytes   {:+}\n", bytes);
  if (const Json& drift = change["drift"]; !drift.is_null())
    text += fmt::format("    drift   {} {}\n", printable(drift["output"].text()), difference_text(drift));
  return text;
}

std::string drift_text(const Json& drift) {
  std::string text = fmt::format("drift of all changes together, with inputs of seed {}:\n", drift["seed"].integer());
  for (const Json& output : drift["outputs"].items())
    text += fmt::format("  {:<24} {}\n", printable(output["name"].text()), difference_text(output));
  return text;
}

// The files that go along with the model, which may be all that takes time.
std::string data_files_text(const Json& files) {
  std::string text;
  for (const Json& file : files.items()) {
    const std::string written = file["written"].text(), name = printable(file["name"].text());
    if (written == "copy") text += fmt::format("data file {}: copied\n", name);
    if (written == "reflink") text += fmt::format("data file {}: shares the blocks of the original\n", name);
    if (written == "weights") text += fmt::format("data file {}: {}\n", name, human_bytes(file["bytes"].integer()));
  }
  return text;
}

std::string changes_document(const Json& report) {
  Json document;
  document.set("changes", report["changes"]);
  if (!report["misses"].is_null()) document.set("misses", report["misses"]);
  if (!report["drift"].is_null()) document.set("drift", report["drift"]);
  return document.dump() + "\n";
}

std::string effects_text(const Json& effects) {
  std::string text = "each capability alone:\n";
  for (const Json& effect : effects.items())
    text += fmt::format("  {:<28} {} changes, {} nodes, before {}{}\n", effect["capability"].text(),
                        effect["changes"].integer(), effect["nodes"]["after"].integer(),
                        effect["nodes"]["before"].integer(),
                        effect["bytes"].integer() ? fmt::format(", {:+} bytes", effect["bytes"].integer()) : "");
  return text + "all together:\n";
}

std::string misses_text(const Json& misses) {
  std::string text;
  for (const Json& miss : misses.items())
    text +=
        fmt::format("{}  {} stays: {}\n", miss["rule"].text(), printable(miss["node"].text()), miss["reason"].text());
  return text;
}

// One node for each capability that somebody asked for, and how many more there are.
std::string reasons_text(const Json& report) {
  std::set<std::string> usual;
  const Json capabilities = Json::parse(tenon::capabilities_json());
  for (const Json& item : capabilities.items())
    if (item["default"].boolean()) usual.insert(item["name"].text());
  std::map<std::string, std::vector<const Json*>> by_capability;
  for (const Json& miss : report["misses"].items())
    if (const std::string name = miss["pass"].text(); !usual.contains(name)) by_capability[name].push_back(&miss);
  std::string text;
  for (const auto& [name, misses] : by_capability) {
    const Json& first = *misses.front();
    text += fmt::format("{} leaves {}: {}", name, printable(first["node"].text()), first["reason"].text());
    if (misses.size() > 1) text += fmt::format("; and {} more, which --explain lists", misses.size() - 1);
    text += "\n";
  }
  return text;
}

std::string capability_text(const Json& item) {
  std::string text =
      fmt::format("  {:<24} {:<4} {:<12} {}\n", item["name"].text(), item["default"].boolean() ? "on" : "off",
                  item["result"].text(), item["description"].text());
  std::string produced;
  for (const Json& op : item["produces"].items())
    produced += fmt::format("{}{}{} (since version {})", produced.empty() ? "" : ", ",
                            op["domain"].text().empty() ? "" : op["domain"].text() + ".", op["op"].text(),
                            op["since"].integer());
  const std::pair<const char*, std::string> details[] = {
      {"needs", joined_names(item["needs"])}, {"excludes", joined_names(item["excludes"])}, {"writes", produced}};
  for (const auto& [what, names] : details)
    if (!names.empty()) text += fmt::format("{:>43} {}\n", what, names);
  return text;
}

class Optimize final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.text("-m,--model", flags_.model, "FILE", "the ONNX model");
    arguments.text("-o,--output", flags_.output, "FILE", "the result; <stem>_opt.onnx beside the model by default");
    flags_.capabilities.declare(arguments);
    arguments.text("--config", flags_.config, "FILE",
                   "the section 'optimize' of a JSON file: enable, disable, "
                   "keep_functions; flags override it");
    arguments.flag("--list-capabilities", flags_.list, "list the capabilities");
    arguments.flag("--check", flags_.check, "report what each capability would change, write nothing");
    arguments.optional_texts("--explain", flags_.explain, "[FILE]",
                             "print every change with its reason, or write the changes to FILE as JSON");
    arguments.flag("--drift", flags_.drift,
                   "measure what changes that are not exact do to the outputs, in the reference interpreter");
    arguments.integer("--seed", flags_.seed, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                      "seed of the inputs for --drift; default 0");
    arguments.needs("--seed", "--drift");
    arguments.flag("--force", flags_.force, "run the passes even if the model says that it is in normal form");
    arguments.flag("--overwrite", flags_.overwrite, "replace the output if it exists");
    for (const char* other : {"--model", "--output", "--enable", "--disable", "--config", "--check", "--explain",
                              "--drift", "--force", "--overwrite"})
      arguments.excludes("--list-capabilities", other);
  }

  Exit execute(Console& console) override {
    if (flags_.list) return list_capabilities(console);
    if (flags_.model.empty()) throw Failure(kUsage, "name the model with -m");
    if (flags_.output.empty()) flags_.output = default_output(flags_.model);
    if (!flags_.config.empty()) read_config();
    tenon::Options options;
    flags_.capabilities.add_to(options);
    options.set("drift", flags_.drift ? "1" : "0");
    options.set("seed", std::to_string(flags_.seed));
    options.set("force", flags_.force ? "1" : "0");
    options.set("overwrite", flags_.overwrite ? "1" : "0");
    options.set("check", flags_.check ? "1" : "0");
    Json report;
    try {
      if (!flags_.check) check_output();
      check_explain_file();
      console.progress("optimizing " + flags_.model);
      report = Json::parse(tenon::optimize_file(flags_.model, flags_.output, options));
    } catch (const tenon::Error& error) {
      const bool is_model =
          error.code() == TN_INVALID_MODEL || error.code() == TN_NOT_FOUND || !is_readable(flags_.model);
      throw Failure(is_model ? kCannotLoad : kFailed, in_file(flags_.model, with_flags(error.what())));
    }
    console.end_progress();
    if (!explain_file().empty()) OutputFile("--explain", explain_file()).write(changes_document(report));
    if (console.is_json())
      console.print_document(report);
    else
      print(console, report);
    return kDone;
  }

 private:
  // The model itself may be the output, where that is asked for.
  void check_output() const {
    std::error_code ignored;
    const bool is_input = std::filesystem::equivalent(flags_.model, flags_.output, ignored);
    OutputFile("--output", flags_.output)
        .check(flags_.overwrite, is_input ? std::vector<std::string>{} : std::vector{flags_.model});
  }

  void read_config() {
    const Json document = read_config_file("--config", flags_.config);
    ConfigProblems problems;
    if (!document.is_object()) problems.wrong("the file", "an object");
    problems.check_once("", document);
    CapabilityFlags from_file;
    // The configuration of a build has more sections, which are about other stages.
    for (const auto& [key, value] : document.entries())
      if (key == "optimize")
        from_file.read(key, value, problems);
      else if (key != "models" && key != "analyze" && key != "compile" && key != "output")
        problems.unknown(key, {"optimize", "models", "analyze", "compile", "output"});
    problems.finish("--config", flags_.config);
    from_file.override_with(flags_.capabilities);
    flags_.capabilities = from_file;
  }

  std::string explain_file() const { return flags_.explain.empty() ? "" : flags_.explain.back(); }

  void check_explain_file() const {
    if (!explain_file().empty())
      OutputFile("--explain", explain_file()).check(flags_.overwrite, {flags_.model, flags_.output});
  }

  static Exit list_capabilities(Console& console) {
    const Json list = Json::parse(tenon::capabilities_json());
    if (console.is_json()) {
      console.print_document(list);
      return kDone;
    }
    std::string group;
    for (const Json& item : list.items()) {
      if (item["group"].text() != group)
        console.print(fmt::format("{}{}\n", group.empty() ? "" : "\n", item["group"].text()));
      group = item["group"].text();
      console.print(capability_text(item));
    }
    return kDone;
  }

  void print(Console& console, const Json& report) const {
    for (const Json& added : report["capabilities"]["added"].items())
      console.print(fmt::format("enabled {} as well: {} needs it\n", added["name"].text(), added["needed_by"].text()));
    const bool explains = !flags_.explain.empty() && explain_file().empty();
    if (explains)
      for (const Json& change : report["changes"].items()) console.print(change_text(change));
    if (flags_.check) console.print(explains ? misses_text(report["misses"]) : reasons_text(report));
    const std::string status = report["status"].text();
    if (status == "already normalized") {
      std::string text = fmt::format("already normalized: {} ({})", printable(flags_.model),
                                     report["evidence"].text() == "stamp" ? "by its stamp" : "no pass changes it");
      const std::string written = report["written"].text();
      if (written == "reflink") text += fmt::format("; {} shares its blocks", printable(flags_.output));
      if (written == "copy") text += fmt::format("; copied to {}", printable(flags_.output));
      console.print(text + "\n" + data_files_text(report["data_files"]));
      return;
    }
    if (!report["drift"].is_null()) console.print(drift_text(report["drift"]));
    if (!report["effects"].is_null()) console.print(effects_text(report["effects"]));
    std::map<std::string, int64_t> counts;
    for (const Json& change : report["changes"].items()) ++counts[change["rule"].text()];
    for (const auto& [rule, count] : counts) console.print(fmt::format("  {:<24} {}\n", rule, count));
    const std::string nodes =
        fmt::format("{} nodes, before {}", report["nodes"]["after"].integer(), report["nodes"]["before"].integer());
    console.print(status == "optimized" ? fmt::format("{}: {}\n", printable(flags_.output), nodes)
                                        : fmt::format("would be {}; nothing was written\n", nodes));
    console.print(data_files_text(report["data_files"]));
  }

  OptimizeFlags flags_;
};

}  // namespace

CommandInfo optimize_command() {
  return {"optimize", "Bring an ONNX model into normal form, or say that it is there already.",
          "  tenon optimize -m model.onnx\n"
          "  tenon optimize -m model.onnx -o smaller.onnx --explain\n"
          "  tenon optimize -m model.onnx --check --format json\n"
          "  tenon optimize -m model.onnx --enable fuse-gelu --explain --drift\n"
          "  tenon optimize --list-capabilities\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Optimize>(); }};
}

}  // namespace cli
