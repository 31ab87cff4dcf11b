#pragma once

#include "artifact/image.h"

namespace tenon {

struct BakeResult {
  std::shared_ptr<const Image> image;
  std::vector<SwapReport> reports;  // by model
};

// The image with other weights: plans, names and everything else stay as they are, and so does the image it is made
// from. Needs no session and no compiler.
Result<BakeResult> bake(const std::shared_ptr<const Image>& image, const SourceOfModel& source_of,
                        const SwapOptions& options, const std::shared_ptr<ThreadPool>& pool);

// The image without the weights that can be set: plans, and what they were decided by.
Result<std::shared_ptr<const Image>> strip(const std::shared_ptr<const Image>& image);

}  // namespace tenon
