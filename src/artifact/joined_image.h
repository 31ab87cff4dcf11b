#pragma once

#include <memory>
#include <string>
#include <vector>

#include "artifact/image.h"

namespace tenon {

// A model that becomes part of a joined image. Its name, face and source file count, not those that its image has.
struct ModelToJoin {
  std::shared_ptr<const Image> image;  // of this model alone
  std::string name;                    // unique in the joined image
  std::shared_ptr<const wire::Model> face;
  std::string source_file;
  bool is_stored = false;  // its packed tensors need no computing
};

// Several models as one image, in which equal packed tensors and sources are one record each. What some model has
// stored is read there, even if another one would have to compute it. weights_file: as Image::weights_file says it.
std::shared_ptr<const Image> join_images(std::vector<ModelToJoin> models, std::string weights_file = "");

// An image whose packed tensors lie in a weights file that has all of them, as the records of the file say: written
// with only_changes, it refers to that file.
std::shared_ptr<const Image> place_in_file(std::shared_ptr<const Image> image, const Hash128& file,
                                           const ArtifactContents& contents_of_file);

}  // namespace tenon
