// tenon optimize: models in normal form, with a log of every change.
#include "tenon/optimize.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

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
  std::string model, output, explain;
  CapabilityFlags capabilities;
  bool list = false, check = false, force = false, overwrite = false;
};

std::string default_output(const std::string& model) {
  const std::filesystem::path path(model);
  return (path.parent_path() / (path.stem().string() + "_opt.onnx")).string();
}

std::string joined_names(const Json& names) {
  std::string text;
  for (const Json& name : names.items()) text += (text.empty() ? "" : ", ") + printable(name.text());
  return text;
}

std::string change_text(const Json& change) {
  std::string text =
      fmt::format("{}  {}: {}\n", change["rule"].text(), printable(change["node"].text()), change["reason"].text());
  if (!change["removed"].items().empty()) text += "    removed " + joined_names(change["removed"]) + "\n";
  if (!change["added"].items().empty()) text += "    added   " + joined_names(change["added"]) + "\n";
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
    arguments.flag("--list-capabilities", flags_.list, "list the capabilities");
    arguments.flag("--check", flags_.check, "report what would change, write nothing");
    arguments.flag("--explain", explain_, "print every change with its reason");
    arguments.flag("--force", flags_.force, "run the passes even if the model says that it is in normal form");
    arguments.flag("--overwrite", flags_.overwrite, "replace the output if it exists");
  }

  Exit execute(Console& console) override {
    if (flags_.list) return list_capabilities(console);
    if (flags_.model.empty()) throw Failure(kUsage, "name the model with -m");
    if (flags_.output.empty()) flags_.output = default_output(flags_.model);
    tenon::Options options;
    flags_.capabilities.add_to(options);
    options.set("force", flags_.force ? "1" : "0");
    options.set("overwrite", flags_.overwrite ? "1" : "0");
    options.set("check", flags_.check ? "1" : "0");
    Json report;
    try {
      if (!flags_.check) check_output();
      console.progress("optimizing " + flags_.model);
      report = Json::parse(tenon::optimize_file(flags_.model, flags_.output, options));
    } catch (const tenon::Error& error) {
      const bool is_model = error.code() == TN_INVALID_MODEL || error.code() == TN_NOT_FOUND;
      throw Failure(is_model ? kCannotLoad : kFailed, in_file(flags_.model, with_flags(error.what())));
    }
    console.end_progress();
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
    if (explain_)
      for (const Json& change : report["changes"].items()) console.print(change_text(change));
    const std::string status = report["status"].text();
    if (status == "already normalized") {
      std::string text = fmt::format("already normalized: {} ({})", printable(flags_.model),
                                     report["evidence"].text() == "stamp" ? "by its stamp" : "no pass changes it");
      const std::string written = report["written"].text();
      if (written == "reflink") text += fmt::format("; {} shares its blocks", printable(flags_.output));
      if (written == "copy") text += fmt::format("; copied to {}", printable(flags_.output));
      console.print(text + "\n");
      return;
    }
    std::map<std::string, int64_t> counts;
    for (const Json& change : report["changes"].items()) ++counts[change["rule"].text()];
    for (const auto& [rule, count] : counts) console.print(fmt::format("  {:<24} {}\n", rule, count));
    const std::string nodes =
        fmt::format("{} nodes, before {}", report["nodes"]["after"].integer(), report["nodes"]["before"].integer());
    console.print(status == "optimized" ? fmt::format("{}: {}\n", printable(flags_.output), nodes)
                                        : fmt::format("would be {}; nothing was written\n", nodes));
  }

  OptimizeFlags flags_;
  bool explain_ = false;
};

}  // namespace

CommandInfo optimize_command() {
  return {"optimize", "Bring an ONNX model into normal form, or say that it is there already.",
          "  tenon optimize -m model.onnx\n"
          "  tenon optimize -m model.onnx -o smaller.onnx --explain\n"
          "  tenon optimize -m model.onnx --check --format json\n"
          "  tenon optimize --list-capabilities\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Optimize>(); }};
}

}  // namespace cli
