#include <fmt/format.h>

#include "cli/artifacts.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/output_file.h"
#include "cli/text.h"
#include "cli/weights/action.h"

namespace cli {

Exit export_weights(const WeightFlags& flags, Console& console) {
  if (!flags.output.ends_with(".safetensors"))
    throw Failure(kUsage, fmt::format("--output must end with .safetensors, but it is '{}'", flags.output));
  if (is_folder(flags.path)) throw Failure(kUsage, "'weights export' takes one compiled model, not a folder");
  const ArtifactGroup group = group_of_file(flags.path);
  const OutputFile output("--output", flags.output);
  tenon::Options options;
  add_source_dirs(flags.source_dirs, options);
  const tenon::Artifact artifact = open_group(group, options);
  check_output(output, flags, group, artifact);
  console.progress("writing " + flags.output);
  refusing(kFailed, flags.path, [&] { artifact.export_sources(flags.output); });
  const tenon::Source written = refusing(kFailed, flags.output, [&] { return tenon::Source::open(flags.output); });
  console.end_progress();
  const auto count = static_cast<int64_t>(written.names().size());
  if (console.is_json())
    console.print_document(Json::Object{{"output", flags.output}, {"weights", count}});
  else
    console.print(fmt::format("{}: {}\n", printable(flags.output), counted(count, "weight")));
  return kDone;
}

}  // namespace cli
