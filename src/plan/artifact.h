#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "plan/plan.h"

// The weights file of a group of compiled models: their plans, their weight programs, and each packed tensor once.
// docs/artifact.md describes the bytes.
namespace tenon {

// A packed tensor: where its bytes are and what they are a function of.
struct PackedRecord {
  Hash128 key;  // of the expression and the contents of its sources
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;
  std::string layout;
  Hash128 content;     // of the bytes
  Hash128 file;        // content id of the file that holds the bytes; all zero: this one
  int64_t offset = 0;  // from the start of that file
  int64_t bytes = 0;
  std::vector<int32_t> users;  // models that read it, by index
};

// A source weight: what it was when the artifact was made, and where its bytes can be found again.
struct SourceRecord {
  SourceInfo info;
  Hash128 content;
  // The file it was read from and its place there, when it lay there as it is; a folder with other weights of the same
  // layout has its successor at the same place.
  std::string file;
  int64_t file_offset = 0, file_bytes = 0;
  // The file names its tensors (an ONNX model, .safetensors, .npz), so that in its successor the name counts and not
  // the place.
  bool file_has_names = false;
  // Absent: nowhere. InFile: `file` beside the artifact (or in a folder the caller names), checked by `content`.
  // Packed: the packed tensor number `packed` holds exactly these bytes. Embedded: in this file at `offset`.
  // A field that the place does not use has its default.
  enum class Place : uint8_t { Absent, InFile, Packed, Embedded };
  Place place = Place::Absent;
  int64_t offset = 0, bytes = 0;
  int32_t packed = -1;
};

// One model of the group.
struct ModelRecord {
  std::string name;        // what its context model calls it; unique among models of one plan
  Hash128 plan_key;        // of plan and weight program: equal keys are interchangeable
  Hash128 source_content;  // of the file that was compiled
  Hash128 made_from;       // of everything that decided about it: files, options, version
  std::shared_ptr<const Program> program;
  std::vector<int32_t> slots;    // per slot the packed tensor, or -1 when it is still to be filled
  std::vector<int32_t> sources;  // per source of the program the record in ArtifactContents::sources
};

struct ArtifactContents {
  std::vector<ModelRecord> models;
  std::vector<SourceRecord> sources;
  std::vector<PackedRecord> packed;
  std::string made_by;  // "tenon 0.1.0"
};

}  // namespace tenon
