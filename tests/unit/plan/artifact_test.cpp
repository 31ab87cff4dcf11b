#include <gtest/gtest.h>

#include "plan/plan_bytes.h"
#include "unit/base/temporary_folder.h"
#include "unit/plan/sample_artifact.h"

namespace tenon {
namespace {

std::shared_ptr<const WeightsFile> opened(const std::string& bytes) {
  auto artifact = open_bytes(bytes);
  EXPECT_TRUE(artifact.ok()) << artifact.status().to_string();
  return artifact.ok() ? std::move(artifact).value() : nullptr;
}

std::string text_of(const Tensor& tensor) {
  std::string scratch;
  return std::string(stored_bytes(tensor, scratch));
}

TEST(WeightsFile, ReadsBackWhatWasWritten) {
  SampleArtifact sample = sample_artifact();
  StringSink sink;
  const auto written = write_artifact(sample.contents, sample.bytes(), sink);
  ASSERT_TRUE(written.ok()) << written.status().to_string();
  const std::string bytes = sink.take();
  EXPECT_EQ(written->file_bytes, static_cast<int64_t>(bytes.size()));
  const auto artifact = opened(bytes);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->content_id(), written->content_id);
  const ArtifactContents& contents = artifact->contents();
  EXPECT_EQ(contents.made_by, "tenon test");
  ASSERT_EQ(contents.models.size(), 2u);
  EXPECT_EQ(contents.models[1].name, "decode");
  EXPECT_EQ(contents.models[1].slots, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(contents.models[0].plan_key, plan_key(sample_program()));
  EXPECT_EQ(contents.models[1].plan_key, contents.models[0].plan_key);
  EXPECT_EQ(contents.models[0].program->plan.steps[0].origin, "first");
  EXPECT_EQ(contents.models[1].program->plan.steps[0].origin, "other origin");
  ASSERT_EQ(contents.packed.size(), 4u);
  EXPECT_EQ(contents.packed[0].users, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(contents.packed[2].users, (std::vector<int32_t>{1}));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(contents.packed[i].key, sample.contents.packed[i].key);
    EXPECT_EQ(contents.packed[i].offset, written->contents.packed[i].offset);
    EXPECT_EQ(contents.packed[i].content, content_hash(sample.packed[i]));
  }
  ASSERT_EQ(contents.sources.size(), 4u);
  EXPECT_EQ(contents.sources[2].file, "weights.bin");
  EXPECT_EQ(contents.sources[2].file_offset, 12);
  EXPECT_EQ(contents.sources[1].info.name, "scope/s");
  EXPECT_TRUE(artifact->verify().ok()) << artifact->verify().to_string();
}

TEST(WeightsFile, HandsOutTensors) {
  SampleArtifact sample = sample_artifact();
  auto artifact = opened(sample.write());
  ASSERT_TRUE(artifact);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < 4; ++i) {
    auto tensor = artifact->packed(i);
    ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
    EXPECT_EQ(tensor->dtype(), sample.packed[i].dtype());
    EXPECT_EQ(tensor->dims(), sample.packed[i].dims());
    EXPECT_TRUE(i == 3 || reinterpret_cast<uintptr_t>(tensor->data()) % kEntryAlignment == 0);
    tensors.push_back(*tensor);
  }
  EXPECT_EQ(text_of(artifact->source(0).value()), text_of(sample.sources[0]));
  EXPECT_EQ(text_of(artifact->source(1).value()), text_of(sample.sources[1]));
  EXPECT_EQ(artifact->source(2).status().code(), Code::NotFound);
  EXPECT_EQ(artifact->source(3).status().code(), Code::NotFound);
  artifact.reset();
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(text_of(tensors[i]), text_of(sample.packed[i])) << i;
}

TEST(WeightsFile, SameContentsGiveTheSameBytes) {
  const std::string bytes = sample_artifact().write();
  EXPECT_EQ(sample_artifact().write(), bytes);
  // Also from what was read, whose places and hashes are filled in.
  SampleArtifact again = sample_artifact();
  again.contents = opened(bytes)->contents();
  EXPECT_EQ(again.write(), bytes);
}

TEST(WeightsFile, WithoutTheDebugMapOnlyNamesAreMissing) {
  SampleArtifact sample = sample_artifact();
  const std::string bytes = sample.write(), stripped = sample.write({.debug_map = false});
  EXPECT_LT(stripped.size(), bytes.size());
  const auto full = opened(bytes), bare = opened(stripped);
  ASSERT_TRUE(full && bare);
  EXPECT_NE(full->content_id(), bare->content_id());
  EXPECT_EQ(full->contents().models[0].plan_key, bare->contents().models[0].plan_key);
  EXPECT_EQ(bare->contents().models[0].program->plan.steps[0].origin, "");
  EXPECT_EQ(bare->contents().models[0].program->plan.values[1].name, "data");
  // One program, no names that differ: the models share it.
  EXPECT_EQ(bare->contents().models[0].program, bare->contents().models[1].program);
  EXPECT_TRUE(bare->verify().ok());
}

TEST(WeightsFile, LiesAsDescribed) {
  const std::string bytes = sample_artifact().write();
  const auto artifact = opened(bytes);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->frame().at(Section::Packed).offset, kPageAlignment);
  for (const SectionPlace& place : artifact->frame().sections) EXPECT_EQ(place.offset % kEntryAlignment, 0);
  EXPECT_EQ(artifact->frame().file_bytes(), static_cast<int64_t>(bytes.size()));
  // Kernels may read a cache line past the last packed tensor.
  EXPECT_GE(artifact->frame().file_bytes() - artifact->frame().at(Section::Embedded).end(), 64);
}

TEST(WeightsFile, EqualContentIsStoredOnce) {
  SampleArtifact sample = sample_artifact();
  const std::string before = sample.write();
  sample.packed[2] = sample.packed[1];
  const std::string bytes = sample.write();
  const auto artifact = opened(bytes);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->contents().packed[1].offset, artifact->contents().packed[2].offset);
  EXPECT_LT(artifact->frame().at(Section::Packed).bytes, opened(before)->frame().at(Section::Packed).bytes);
  EXPECT_TRUE(artifact->verify().ok());
}

TEST(WeightsFile, HoldsTensorsWithoutElements) {
  Program program;
  program.sources = {{"nothing", DType::Float32, {0, 3}}, {"no words", DType::String, {0}}};
  program.weight_program = {{0, {0}, nullptr, ""}, {1, {1}, nullptr, ""}};
  SampleArtifact sample;
  sample.packed = {Tensor::of<float>({0, 3}, {}), words({})};
  const std::vector<Hash128> contents = {content_hash(sample.packed[0]), content_hash(sample.packed[1])};
  for (size_t i = 0; i < 2; ++i) {
    sample.contents.packed.push_back(packed_record(program, i, sample.packed[i], contents));
    sample.contents.sources.push_back({.info = program.sources[i], .content = contents[i]});
  }
  sample.contents.models = {
      {.name = "m", .program = std::make_shared<const Program>(program), .slots = {0, 1}, .sources = {0, 1}}};
  const auto artifact = opened(sample.write());
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(artifact->verify().ok()) << artifact->verify().to_string();
  EXPECT_EQ(artifact->packed(0)->dims(), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(artifact->packed(1)->size(), 0);
}

TEST(WeightsFile, AnEmptyOneIsValid) {
  const auto artifact = opened(SampleArtifact().write());
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(artifact->verify().ok());
}

TEST(WeightsFile, IsMappedFromAFile) {
  TemporaryFolder folder;
  SampleArtifact sample = sample_artifact();
  const auto written = write_artifact_file(sample.contents, sample.bytes(), folder / "w.bin");
  ASSERT_TRUE(written.ok()) << written.status().to_string();
  EXPECT_EQ(folder.read("w.bin"), sample.write());
  for (const bool map : {true, false}) {
    const auto artifact = WeightsFile::open(folder / "w.bin", {.map = map, .verify_weights = true});
    ASSERT_TRUE(artifact.ok()) << artifact.status().to_string();
    EXPECT_EQ((*artifact)->content_id(), written->content_id);
    EXPECT_EQ(text_of((*artifact)->packed(1).value()), text_of(sample.packed[1]));
  }
  EXPECT_EQ(WeightsFile::open(folder / "missing.bin").status().code(), Code::NotFound);
  // An existing file is never written over, and stays.
  EXPECT_FALSE(write_artifact_file(sample.contents, sample.bytes(), folder / "w.bin").ok());
  EXPECT_EQ(folder.read("w.bin"), sample.write());
}

TEST(WeightsFile, AFailedWriteLeavesNoFile) {
  TemporaryFolder folder;
  SampleArtifact sample = sample_artifact();
  ArtifactBytes bytes = sample.bytes();
  bytes.packed = [](size_t) -> Result<std::string_view> { return error(Code::Io, "no bytes"); };
  const Status status = write_artifact_file(sample.contents, bytes, folder / "w.bin").status();
  EXPECT_EQ(status.message(), "no bytes");
  EXPECT_EQ(status.where(), "packed tensor 0");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(WeightsFile, TheWriterRefusesWhatAReaderWould) {
  const auto refused = [](void (*change)(SampleArtifact&)) {
    SampleArtifact sample = sample_artifact();
    change(sample);
    StringSink sink;
    return write_artifact(sample.contents, sample.bytes(), sink).status();
  };
  EXPECT_EQ(refused([](SampleArtifact& s) { s.contents.packed[0].content = hash_bytes("x"); }).code(), Code::Internal);
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.packed[0] = floats({1}); }).ok());
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.contents.models[0].slots[0] = 9; }).ok());
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.contents.models[0].slots.pop_back(); }).ok());
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.contents.models[0].slots[0] = 1; }).ok());
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.contents.models[0].sources[0] = 1; }).ok());
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.contents.sources[0].packed = 1; }).ok());
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.contents.sources[2].file = ""; }).ok());
  EXPECT_FALSE(refused([](SampleArtifact& s) { s.contents.models[1].name = "prefill"; }).ok());
}

TEST(WeightsFile, FindsItsModelsByPlanAndName) {
  const auto artifact = opened(sample_artifact().write());
  ASSERT_TRUE(artifact);
  const Hash128 key = plan_key(sample_program());
  EXPECT_EQ(artifact->find_model(key, "decode").value(), 1u);
  EXPECT_EQ(artifact->find_model(key, "prefill").value(), 0u);
  EXPECT_EQ(artifact->find_model(key, "renamed").status().code(), Code::NotFound);
  const Status status = artifact->find_model(hash_bytes("x"), "decode").status();
  EXPECT_EQ(status.code(), Code::Incompatible);
  EXPECT_NE(status.message().find("compile the model again"), std::string::npos);
}

// A fine-tune: the tensors that did not change stay in the file of the base.
TEST(WeightsFile, RefersToTensorsOfAnotherFile) {
  SampleArtifact base = sample_artifact(), tuned = sample_artifact();
  StringSink sink;
  const auto written = write_artifact(base.contents, base.bytes(), sink);
  ASSERT_TRUE(written.ok());
  const auto base_artifact = opened(sink.take());
  for (const size_t i : {0u, 3u}) {
    tuned.contents.packed[i] = written->contents.packed[i];
    tuned.contents.packed[i].file = written->content_id;
  }
  const std::string bytes = tuned.write();
  const auto artifact = opened(bytes);
  ASSERT_TRUE(artifact && base_artifact);
  const FindWeightsFile find = [&](const Hash128& id) -> Result<std::shared_ptr<const WeightsFile>> {
    EXPECT_EQ(id, base_artifact->content_id());
    return base_artifact;
  };
  EXPECT_EQ(text_of(artifact->packed(0, find).value()), text_of(base.packed[0]));
  EXPECT_EQ(text_of(artifact->packed(3, find).value()), text_of(base.packed[3]));
  EXPECT_EQ(artifact->packed(0, find)->data(), base_artifact->packed(0)->data());
  EXPECT_TRUE(artifact->verify().ok());
  EXPECT_TRUE(artifact->verify(find).ok()) << artifact->verify(find).to_string();
  EXPECT_EQ(artifact->packed(0).status().code(), Code::NotFound);
  const FindWeightsFile wrong = [&](const Hash128&) -> Result<std::shared_ptr<const WeightsFile>> { return artifact; };
  EXPECT_EQ(artifact->packed(0, wrong).status().code(), Code::NotFound);
  EXPECT_FALSE(artifact->verify(wrong).ok());

  tuned.contents.packed[0].content = hash_bytes("other bytes");
  tuned.contents.sources[0] = {.info = tuned.contents.sources[0].info, .content = tuned.contents.packed[0].content};
  const auto stale = opened(tuned.write());
  ASSERT_TRUE(stale);
  EXPECT_EQ(stale->packed(0, find).status().code(), Code::InvalidModel);
}

TEST(WeightsFile, AlignedMemoryIsNotCopied) {
  const std::string bytes = sample_artifact().write();
  auto buffer = Buffer::allocate(static_cast<int64_t>(bytes.size()) + 1, nullptr).value();
  for (const size_t shift : {0u, 1u}) {
    char* start = reinterpret_cast<char*>(buffer->data()) + shift;
    std::copy(bytes.begin(), bytes.end(), start);
    const auto artifact = WeightsFile::from_memory({start, bytes.size()}, buffer, "embedded");
    ASSERT_TRUE(artifact.ok()) << artifact.status().to_string();
    const auto* data = static_cast<const char*>((*artifact)->packed(0)->data());
    EXPECT_EQ(data >= start && data < start + bytes.size(), shift == 0);
  }
}

}  // namespace
}  // namespace tenon
