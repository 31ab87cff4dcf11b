#pragma once

#include "artifact/image.h"

namespace tenon {

struct ImageCheck {
  size_t packed = 0;      // tensors whose bytes have the right hashes
  size_t recomputed = 0;  // of these, computed again from their sources and found equal
  size_t without_sources = 0;
  size_t guards = 0;
};

// Checks every byte of an image, that packed weights are what the weight program makes of the sources, where these are
// available, and that the guards hold for them.
Result<ImageCheck> verify_image(const std::shared_ptr<const Image>& image, ThreadPool* pool);

}  // namespace tenon
