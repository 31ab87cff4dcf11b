#pragma once

#include <memory>
#include <string>
#include <vector>

#include "artifact/image.h"

namespace tenon {

struct OpenOptions {
  bool map = true;                       // false: read into memory of its own
  bool verify_weights = false;           // true: check every byte before use
  std::vector<std::string> source_dirs;  // where sources that lie in files are looked for, after the artifact's folder
};

// The models of context files, which must name one weights file.
Result<std::shared_ptr<const Image>> open_image(const std::vector<std::string>& paths, const OpenOptions& options = {});
// One context model in memory. Its weights are embedded, or in `folder`.
Result<std::shared_ptr<const Image>> open_image_in_memory(std::string_view bytes, std::shared_ptr<const void> owner,
                                                          const std::string& folder, const OpenOptions& options = {});

// Whether a file is an ONNX model with a context node, of whomever. Errors are those of reading it.
Result<bool> is_context_file(const std::string& path);

}  // namespace tenon
