#pragma once

#include "artifact/image.h"
#include "plan/artifact_write.h"

namespace tenon {

struct WriteImageOptions {
  bool debug_map = true;
  // What lies in a weights file already is named there instead of being written again.
  bool only_changes = false;
};

// The weights file of an image: same image, same bytes.
Result<WrittenArtifact> write_image(const Image& image, ByteSink& sink, const WriteImageOptions& options);

// How many bytes the packed tensors and embedded sources of such a file take.
int64_t image_bytes(const Image& image);

}  // namespace tenon
