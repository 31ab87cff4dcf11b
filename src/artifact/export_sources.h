#pragma once

#include <string>

#include "artifact/image.h"

namespace tenon {

// Writes the source weights of an image as .safetensors. NotFound names those that are not available; two models of one
// group with different weights of one name are refused.
Status export_sources(const Image& image, const std::string& path);

}  // namespace tenon
