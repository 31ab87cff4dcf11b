#pragma once

#include <string>
#include <vector>

#include "plan/artifact_write.h"
#include "plan/keys.h"
#include "plan/tensor_bytes.h"
#include "plan/weights_file.h"
#include "unit/plan/sample_program.h"

namespace tenon {

inline Tensor floats(std::vector<float> values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
}
inline Tensor words(std::vector<std::string> values) {
  return Tensor::of<std::string>({static_cast<int64_t>(values.size())}, std::span<const std::string>(values));
}

// Contents with the tensors they are about.
struct SampleArtifact {
  ArtifactContents contents;
  std::vector<Tensor> packed, sources;

  ArtifactBytes bytes() {
    return {[this](size_t i) -> Result<std::string_view> { return stored_bytes(packed[i], scratch); },
            [this](size_t i) -> Result<std::string_view> { return stored_bytes(sources[i], scratch); }};
  }
  std::string write(const ArtifactWriteOptions& options = {}) {
    StringSink sink;
    const auto written = write_artifact(contents, bytes(), sink, options);
    if (!written.ok()) return "failed: " + written.status().to_string();
    return sink.take();
  }
  std::string scratch;
};

inline PackedRecord packed_record(const Program& program, size_t slot, const Tensor& tensor,
                                  const std::vector<Hash128>& contents) {
  PackedRecord record;
  record.key = packed_key(program, program.weight_program[slot], contents);
  record.dtype = tensor.dtype();
  record.dims = tensor.dims();
  record.layout = program.weight_program[slot].layout;
  return record;
}

// Two models of one program: they share 'w' and the words, and differ in the scale. Sources in all four places.
inline SampleArtifact sample_artifact() {
  SampleArtifact sample;
  Program program = sample_program();
  const auto shared = std::make_shared<const Program>(program);
  program.plan.steps[0].origin = "other origin";
  const auto renamed = std::make_shared<const Program>(program);
  const std::vector<Float16> doubled = {Float16(2.0f), Float16(6.0f)}, other = {Float16(8.0f), Float16(0.5f)};

  sample.sources = {floats({1.0f, 2.0f}), floats({1.0f, 3.0f}), floats({4.0f, 0.25f}), words({"a", "", "ccc"})};
  sample.packed = {sample.sources[0], Tensor::of<Float16>({2}, std::span(doubled)),
                   Tensor::of<Float16>({2}, std::span(other)), sample.sources[3]};
  using Place = SourceRecord::Place;
  const SourceInfo& scale = program.sources[1];
  sample.contents.sources = {
      {.info = program.sources[0], .place = Place::Packed, .packed = 0},
      {.info = scale, .place = Place::Embedded},
      {.info = scale, .file = "weights.bin", .file_offset = 12, .file_bytes = 8, .place = Place::InFile},
      {.info = program.sources[2], .place = Place::Absent}};
  for (size_t i = 0; i < sample.sources.size(); ++i)
    sample.contents.sources[i].content = content_hash(sample.sources[i]);
  const auto content = [&](size_t i) { return sample.contents.sources[i].content; };
  const std::vector<Hash128> first = {content(0), content(1), content(3)},
                             second = {content(0), content(2), content(3)};
  sample.contents.packed = {
      packed_record(program, 0, sample.packed[0], first), packed_record(program, 1, sample.packed[1], first),
      packed_record(program, 1, sample.packed[2], second), packed_record(program, 2, sample.packed[3], first)};
  sample.contents.models = {{.name = "prefill", .program = shared, .slots = {0, 1, 3}, .sources = {0, 1, 3}},
                            {.name = "decode", .program = renamed, .slots = {0, 2, 3}, .sources = {0, 2, 3}}};
  sample.contents.made_by = "tenon test";
  return sample;
}

inline Result<std::shared_ptr<const WeightsFile>> open_bytes(std::string_view bytes,
                                                             const WeightsFileOptions& options = {}) {
  return WeightsFile::from_memory(bytes, nullptr, "sample", options);
}

}  // namespace tenon
