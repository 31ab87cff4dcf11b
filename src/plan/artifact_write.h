#pragma once

#include <functional>

#include "plan/artifact.h"
#include "plan/byte_sink.h"

namespace tenon {

// Gives the stored bytes (see tensor_bytes.h) of the packed tensor or embedded source with that index. They must stay
// until the next call. Called once for each, in order, so that no two need to be in memory together.
using BytesOf = std::function<Result<std::string_view>(size_t)>;

struct ArtifactBytes {
  BytesOf packed;    // of the records without `file`
  BytesOf embedded;  // of the sources with Place::Embedded
};

struct WrittenArtifact {
  Hash128 content_id;
  int64_t file_bytes = 0;
  ArtifactContents contents;  // as a reader will see them: with places, hashes, keys of plans and users
};

struct ArtifactWriteOptions {
  bool debug_map = true;
};

// Writes the weights file of these contents: same contents and bytes, same file. Of the records, offset, bytes,
// content, users and plan_key are filled in here; a content hash that is given must be that of the bytes. Packed
// tensors of equal content are stored once. Records with `file` are written as they are.
Result<WrittenArtifact> write_artifact(ArtifactContents contents, const ArtifactBytes& bytes, ByteSink& sink,
                                       const ArtifactWriteOptions& options = {});

// The same into a new file, durable when this returns. A failure leaves no file.
Result<WrittenArtifact> write_artifact_file(ArtifactContents contents, const ArtifactBytes& bytes,
                                            const std::string& path, const ArtifactWriteOptions& options = {});

}  // namespace tenon
