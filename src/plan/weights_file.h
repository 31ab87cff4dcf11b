#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "plan/artifact.h"
#include "plan/artifact_format.h"
#include "plan/plan_bytes.h"
#include "tensor/tensor.h"

namespace tenon {

class WeightsFile;
// Finds the weights file with a content id, for packed tensors whose bytes are in another file.
using FindWeightsFile = std::function<Result<std::shared_ptr<const WeightsFile>>(const Hash128& content_id)>;

struct WeightsFileOptions {
  bool map = true;              // false: read into memory of its own, which survives a file that changes
  bool verify_weights = false;  // true: check every byte before use
  FindFamilyFacts family_facts;
};

// An opened weights file. Opening reads header, table and the sections that describe the contents, and no byte of a
// weight. Immutable and so thread-safe. Tensors that are handed out keep the mapping alive, not the WeightsFile.
class WeightsFile {
 public:
  static Result<std::shared_ptr<const WeightsFile>> open(const std::string& path,
                                                         const WeightsFileOptions& options = {});
  // The same for an opened file; `name` is what messages call it.
  static Result<std::shared_ptr<const WeightsFile>> open(const FileHandle& file, const std::string& name,
                                                         const WeightsFileOptions& options = {});
  // A weights file that is part of something else. Copies the bytes when they are not aligned for kernels or when
  // nobody owns them.
  static Result<std::shared_ptr<const WeightsFile>> from_memory(std::string_view bytes,
                                                                std::shared_ptr<const void> owner,
                                                                const std::string& name,
                                                                const WeightsFileOptions& options = {});

  const std::string& name() const { return name_; }
  const Hash128& content_id() const { return frame_.content_id; }
  const ArtifactContents& contents() const { return contents_; }
  const ArtifactFrame& frame() const { return frame_; }

  // The model of a context file: by plan key, and by name where several have the plan.
  Result<size_t> find_model(const Hash128& plan_key, std::string_view name) const;
  // Borrowed from the mapping (strings are copied). Without `find` a tensor of another file is refused.
  Result<Tensor> packed(size_t index, const FindWeightsFile& find = {}) const;
  // A source whose bytes the file has: embedded, or equal to a packed tensor.
  Result<Tensor> source(size_t index, const FindWeightsFile& find = {}) const;

  // Checks every byte of the file: sections, the content of each entry, the zeros between entries, and that each
  // packed tensor has the key that program and sources give it. With `find` also entries of other files.
  Status verify(const FindWeightsFile& find = {}) const;

 private:
  WeightsFile(std::string_view bytes, std::shared_ptr<const void> owner, std::string name)
      : bytes_(bytes), owner_(std::move(owner)), name_(std::move(name)) {}
  static Result<std::shared_ptr<const WeightsFile>> make(std::string_view bytes, std::shared_ptr<const void> owner,
                                                         const std::string& name, const WeightsFileOptions& options);
  Result<std::shared_ptr<const WeightsFile>> holder_of(const PackedRecord& record, const FindWeightsFile& find) const;
  Status verify_all(const FindWeightsFile& find) const;
  Status verify_keys() const;

  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
  std::string name_;
  ArtifactFrame frame_;
  ArtifactContents contents_;
  // Packed tensors of this file by place, for files that refer to it.
  std::vector<int32_t> by_offset_;
};

}  // namespace tenon
