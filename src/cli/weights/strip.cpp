#include <fmt/format.h>

#include <filesystem>

#include "cli/artifacts.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/output_file.h"
#include "cli/text.h"
#include "cli/weights/action.h"

namespace cli {

Exit strip_weights(const WeightFlags& flags, Console& console) {
  if (is_folder(flags.path)) throw Failure(kUsage, "'weights strip' takes one compiled model, not a folder");
  const ArtifactGroup group = group_of_file(flags.path);
  const OutputFile output("--output", flags.output);
  const tenon::Artifact artifact = open_group(group);
  check_output(output, flags, group, artifact);
  const std::filesystem::path path(flags.output);
  const std::string folder = path.parent_path().string(), name = path.filename().string();
  tenon::Options options{{"overwrite", flags.overwrite ? "1" : "0"}, {"weights_name", path.stem().string()}};
  options.set("embed", group.embedded() ? "1" : "0");
  Json result;
  console.progress("writing " + flags.output);
  refusing(kFailed, flags.output, [&] {
    const tenon::Artifact stripped = artifact.strip();
    tenon::Publication staged = stripped.stage(folder, std::vector<std::string>{name}, options);
    const Json models = Json::parse(stripped.describe());
    result.set("output", flags.output);
    result.set("weights_file", staged.weights_name());
    result.set("bytes", staged.weights_bytes());
    result.set("open_slots", models["models"].items()[0]["open_slots"]);
    staged.publish();
  });
  console.end_progress();
  if (console.is_json()) {
    console.print_document(result);
  } else {
    console.print(fmt::format("{}: {} removed, {} left; set them with 'tenon weights set'\n", printable(flags.output),
                              counted(result["open_slots"].integer(), "packed weight"),
                              human_bytes(result["bytes"].integer())));
  }
  return kDone;
}

}  // namespace cli
