// tenon run: runs a model once and shows what comes out.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/loaded_session.h"
#include "cli/models.h"
#include "cli/output_file.h"
#include "cli/stopwatch.h"
#include "cli/text.h"
#include "cli/trace.h"
#include "cli/value_text.h"

namespace cli {

namespace {

constexpr size_t kShownElements = 8;

class Run final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("model", path_, "an ONNX model or a compiled model");
    inputs_.declare(arguments);
    arguments.text("-o,--output", output_, "OUT.npz", "write the outputs to a NumPy archive");
    arguments.text("--profile", profile_, "FILE.json", "write the time of every step, in the format of trace viewers");
    arguments.flag("--overwrite", overwrite_, "let --output and --profile replace existing files");
  }

  Exit execute(Console& console) override {
    const OutputFile output("--output", output_), profile("--profile", profile_);
    if (overwrite_ && !output.wanted() && !profile.wanted())
      throw Failure(kUsage, "--overwrite needs --output or --profile");
    const LoadedSession loaded(path_, inputs_, console);
    const tenon::Session& session = loaded.session;
    std::vector<std::string> read = inputs_.files();
    read.push_back(path_);
    profile.check(overwrite_, read);
    if (profile.wanted()) read.push_back(profile.path());
    output.check(overwrite_, read);

    console.progress("running " + path_);
    tenon::Run run;
    run.enable_profile(profile.wanted());
    const Stopwatch watch;
    const std::vector<tenon::Value> outputs =
        refusing(kCannotRun, path_, [&] { return session.run(loaded.inputs, &run); });
    console.end_progress();
    const double seconds = watch.seconds();

    if (profile.wanted()) profile.write(trace_of(Json::parse(run.profile_json())));
    if (output.wanted()) write_arrays(session, outputs, console);
    show(session, outputs, seconds, console);
    return kDone;
  }

 private:
  // The tensors in a value: itself, the items of a sequence as NAME/0, ..., a map as NAME/keys and NAME/values.
  static void add_arrays(const std::string& name, const tenon::Value& value, const Console& console,
                         std::vector<std::pair<std::string, tenon::Value>>& arrays) {
    switch (value.kind()) {
      case TN_KIND_TENSOR:
        arrays.emplace_back(name, value);
        break;
      case TN_KIND_SEQUENCE:
        if (value.size() == 0) console.warning(fmt::format("'{}' is an empty sequence and is not written", name));
        for (size_t i = 0; i < value.size(); ++i)
          add_arrays(name + "/" + std::to_string(i), value.at(i), console, arrays);
        break;
      case TN_KIND_OPTIONAL:
        if (const auto item = value.item())
          add_arrays(name, *item, console, arrays);
        else
          console.warning(fmt::format("'{}' is empty and is not written", name));
        break;
      case TN_KIND_MAP: {
        const auto [keys, values] = value.keys_and_values();
        arrays.emplace_back(name + "/keys", keys);
        arrays.emplace_back(name + "/values", values);
        break;
      }
      case TN_KIND_NONE:
        break;
    }
  }

  void write_arrays(const tenon::Session& session, const std::vector<tenon::Value>& outputs,
                    const Console& console) const {
    console.progress("writing " + output_);
    std::vector<std::pair<std::string, tenon::Value>> arrays;
    for (size_t i = 0; i < outputs.size(); ++i) add_arrays(session.output_name(i), outputs[i], console, arrays);
    refusing(kFailed, output_, [&] { tenon::Npz::write(output_, arrays); });
    console.end_progress();
  }

  void show(const tenon::Session& session, const std::vector<tenon::Value>& outputs, double seconds,
            Console& console) const {
    Json list(Json::Array{});
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Json described = Json::parse(outputs[i].describe(kShownElements));
      if (!console.is_json()) {
        console.print(value_text(session.output_name(i), described));
        continue;
      }
      Json entry;
      entry.set("name", session.output_name(i));
      for (const auto& [key, item] : described.entries()) entry.set(key, item);
      list.push(std::move(entry));
    }
    console.note(fmt::format("ran {} in {}", path_, human_seconds(seconds)));
    if (!console.is_json()) return;
    Json document;
    document.set("model", path_);
    document.set("seconds", seconds);
    document.set("outputs", std::move(list));
    if (!output_.empty()) document.set("output", output_);
    if (!profile_.empty()) document.set("profile", profile_);
    console.print_document(document);
  }

  std::string path_, output_, profile_;
  bool overwrite_ = false;
  InputFlags inputs_;
};

}  // namespace

CommandInfo run_command() {
  return {"run", "Run a model once and show its outputs.",
          "  tenon run model.onnx --random                        random inputs\n"
          "  tenon run model.onnx --random --dim batch=4          with a batch of four\n"
          "  tenon run model.onnx -i x=x.npy -i scale=0.5 -o y.npz\n"
          "  tenon run model.onnx --inputs in.npz --profile steps.json\n"
          "  tenon run model.onnx --random --option memory_limit=8000000000\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Run>(); }};
}

}  // namespace cli
