#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/artifact.h"
#include "swap/recompile.h"
#include "swap/swap.h"
#include "wire/onnx_model.h"

namespace tenon {

// Compiled models with their weights, wherever the bytes are: in a weights file, still to be computed, or some of each.
// Immutable and thread-safe.
class Image {
 public:
  virtual ~Image() = default;
  // What messages call it.
  virtual std::string where() const = 0;
  virtual const ArtifactContents& contents() const = 0;
  virtual Result<Tensor> packed(size_t index) const = 0;
  // NotFound when the bytes cannot be had.
  virtual Result<Tensor> source(size_t index) const = 0;
  // The ONNX model with the inputs, outputs and metadata of a model.
  virtual const wire::Model& face(size_t model) const = 0;
  // The file name of the model that was compiled.
  virtual std::string source_file(size_t model) const = 0;
  // Where the bytes of a packed tensor lie in a weights file; its content id is all zero when they lie in none.
  struct Place {
    Hash128 file;
    int64_t offset = 0;
  };
  virtual Place place(size_t) const { return {}; }
  // A weights file with just the bytes that writing the image gives; "" when there is none.
  virtual std::string weights_file() const { return ""; }
  // Compiles a model again for weights that change its plan; null where there is no compiler.
  virtual Recompile recompile(size_t model) const = 0;
  // What compiling a model took, and packing the weights that it was the first to use.
  virtual double seconds_spent(size_t) const { return 0; }
  // Checks every byte that is stored somewhere.
  virtual Status verify_bytes() const { return {}; }
};

// Says in the words of an image that the bytes of a source are not there.
Status not_kept(const SourceRecord& record);
void set_file_place(SourceRecord& record, const FilePlace& place);
// Where the weights of a model lay in files.
std::shared_ptr<const SourceLayout> source_layout(const ArtifactContents& contents, const ModelRecord& model);
// The weights of a model as they are now.
Result<std::shared_ptr<const WeightSnapshot>> image_weights(const std::shared_ptr<const Image>& image, size_t model);

// Some of the models alone: what only the others use is left out. The maps give the old index of each record.
struct SelectedContents {
  ArtifactContents contents;
  std::vector<size_t> packed_from, sources_from;
};
SelectedContents select_models(const ArtifactContents& contents, const std::vector<size_t>& models);

}  // namespace tenon
