#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/artifacts.h"
#include "cli/failure.h"
#include "cli/output_file.h"

namespace cli {

class Console;

// What `tenon weights` was told.
struct WeightFlags {
  std::string action, path;
  std::string from, output, output_dir;
  std::vector<std::string> only, source_dirs;
  bool strict = false, in_place = false, overwrite = false;
};

// Whether the output of a command on one group may be written: OutputFile::check with every file that was read.
void check_output(const OutputFile& output, const WeightFlags& flags, const ArtifactGroup& group,
                  const tenon::Artifact& artifact);
// Failure(kUsage) when `path` is one of the inputs, or a model that is not compiled: a compiled one would replace it.
void check_replaceable(const std::string& path, const std::vector<std::string>& inputs);

// Each in the file of its name.
Exit list_weights(const WeightFlags& flags, Console& console);
Exit set_weights(const WeightFlags& flags, Console& console);
Exit strip_weights(const WeightFlags& flags, Console& console);
Exit export_weights(const WeightFlags& flags, Console& console);

}  // namespace cli
