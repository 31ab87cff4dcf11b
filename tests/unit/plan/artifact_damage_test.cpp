#include <gtest/gtest.h>

#include <cstring>

#include "plan/artifact_records.h"
#include "unit/plan/sample_artifact.h"

namespace tenon {
namespace {

enum class Found { AtOpen, ByVerify, Never };

Found find_damage(std::string_view bytes) {
  const auto artifact = open_bytes(bytes);
  if (!artifact.ok()) return Found::AtOpen;
  return (*artifact)->verify().ok() ? Found::Never : Found::ByVerify;
}

ArtifactFrame frame_of(const std::string& bytes) { return read_frame(bytes).value(); }

std::string_view part(const std::string& bytes, const SectionPlace& place) {
  return std::string_view(bytes).substr(static_cast<size_t>(place.offset), static_cast<size_t>(place.bytes));
}

// Makes the hashes fit what the sections hold now.
void seal(std::string& bytes, ArtifactFrame frame) {
  for (SectionPlace& place : frame.sections) place.hash = hash_bytes(part(bytes, place));
  bytes.replace(0, static_cast<size_t>(kTableEnd), frame_to_bytes(frame));
}

// Everything a user of the artifact does.
void use(const WeightsFile& artifact) {
  (void)artifact.verify();
  for (size_t i = 0; i < artifact.contents().packed.size(); ++i) (void)artifact.packed(i);
  for (size_t i = 0; i < artifact.contents().sources.size(); ++i) (void)artifact.source(i);
}

TEST(DamagedArtifact, EveryFlippedByteIsFound) {
  const std::string bytes = sample_artifact().write();
  const ArtifactFrame frame = frame_of(bytes);
  ASSERT_EQ(find_damage(bytes), Found::Never);
  const auto in_large_section = [&](size_t i) {
    const SectionPlace &packed = frame.at(Section::Packed), &embedded = frame.at(Section::Embedded);
    const auto at = static_cast<int64_t>(i);
    return (at >= packed.offset && at < packed.end()) || (at >= embedded.offset && at < embedded.end());
  };
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const int pattern : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ pattern);
      ASSERT_EQ(find_damage(damaged), in_large_section(i) ? Found::ByVerify : Found::AtOpen) << i;
    }
}

TEST(DamagedArtifact, VerifyWeightsFindsItAtOpen) {
  std::string bytes = sample_artifact().write();
  bytes[static_cast<size_t>(kPageAlignment)] ^= 1;
  EXPECT_TRUE(open_bytes(bytes).ok());
  const Status status = open_bytes(bytes, {.verify_weights = true}).status();
  EXPECT_EQ(status.code(), Code::InvalidModel);
  EXPECT_NE(status.message().find("4096"), std::string::npos) << status.to_string();
  EXPECT_EQ(status.where(), "'sample'");
}

TEST(DamagedArtifact, EveryTruncationIsRefused) {
  const std::string bytes = sample_artifact().write();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto artifact = open_bytes(std::string_view(bytes).substr(0, length));
    ASSERT_FALSE(artifact.ok()) << length;
    ASSERT_EQ(artifact.status().code(), Code::InvalidModel);
    ASSERT_TRUE(length == 0 || artifact.status().message().find("truncated") != std::string::npos) << length;
  }
  EXPECT_FALSE(open_bytes(bytes + '\0').ok());
}

TEST(DamagedArtifact, OtherFilesAreRefusedWithTheReason) {
  const auto reason = [](std::string_view bytes) { return open_bytes(bytes).status(); };
  for (const char* text : {"", "PK\3\4 an archive", "version https://git-lfs", "\x08\x0a an ONNX model"})
    EXPECT_NE(reason(text).message().find("not a Tenon weights file"), std::string::npos) << text;
  const std::string bytes = sample_artifact().write();

  std::string changed = bytes;
  std::swap(changed[8], changed[11]);
  std::swap(changed[9], changed[10]);
  EXPECT_EQ(reason(changed).code(), Code::Incompatible);
  EXPECT_NE(reason(changed).message().find("big-endian"), std::string::npos);

  changed = bytes;
  changed[12] = 2;
  EXPECT_EQ(reason(changed).code(), Code::Incompatible);
  EXPECT_NE(reason(changed).message().find("format version 2"), std::string::npos);
  EXPECT_NE(reason(changed).message().find("update Tenon"), std::string::npos);
  changed[12] = 0;
  EXPECT_EQ(reason(changed).code(), Code::Incompatible);
  EXPECT_NE(reason(changed).message().find("old format version 0"), std::string::npos);
  EXPECT_NE(reason(changed).message().find("compile the model again"), std::string::npos);
}

TEST(DamagedArtifact, AnUnknownFamilyIsNamed) {
  const std::string bytes = sample_artifact().write();
  const Status status =
      open_bytes(bytes, {.family_facts =
                             [](std::string_view name) {
                               return name == "reference/Mul" ? std::nullopt : std::optional(FamilyFacts{1, true});
                             }})
          .status();
  EXPECT_EQ(status.code(), Code::Incompatible);
  EXPECT_NE(status.message().find("reference/Mul"), std::string::npos) << status.to_string();
  EXPECT_NE(status.where().find("model 'prefill'"), std::string::npos) << status.to_string();
}

// With hashes that fit, the checks of the contents themselves are what is left.
TEST(DamagedArtifact, FlippedBytesUnderAFittingSealNeverCrash) {
  const std::string bytes = sample_artifact().write();
  const ArtifactFrame frame = frame_of(bytes);
  for (size_t i = static_cast<size_t>(frame.at(Section::Packed).offset); i < bytes.size(); ++i)
    for (const int pattern : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ pattern);
      seal(damaged, frame);
      const auto artifact = open_bytes(damaged);
      if (artifact.ok()) use(**artifact);
    }
}

// The sample with other records, written without the writer's own checks.
std::string with_records(void (*change)(ArtifactContents&)) {
  std::string bytes = sample_artifact().write();
  ArtifactFrame frame = frame_of(bytes);
  ArtifactContents contents = open_bytes(bytes).value()->contents();
  change(contents);
  const auto records = records_to_bytes(contents, true);
  bytes.resize(static_cast<size_t>(frame.at(Section::Strings).offset));
  for (size_t i = static_cast<size_t>(Section::Strings); i < kSectionCount; ++i) {
    bytes.resize(static_cast<size_t>(aligned(static_cast<int64_t>(bytes.size()), kEntryAlignment)));
    frame.sections[i].offset = static_cast<int64_t>(bytes.size());
    frame.sections[i].bytes = static_cast<int64_t>(records[i].size());
    bytes += records[i];
  }
  seal(bytes, frame);
  return bytes;
}

TEST(DamagedArtifact, EntriesMustLieInTheirSection) {
  ASSERT_EQ(find_damage(with_records([](ArtifactContents&) {})), Found::Never);
  void (*const mistakes[])(ArtifactContents&) = {
      [](ArtifactContents& c) { c.packed[0].offset += 1; },
      [](ArtifactContents& c) { c.packed[0].offset += 8; },
      [](ArtifactContents& c) { c.packed[0].offset = 0; },
      [](ArtifactContents& c) { c.packed[0].offset = -64; },
      [](ArtifactContents& c) { c.packed[0].offset = int64_t{1} << 62; },
      [](ArtifactContents& c) { c.packed[0].offset += 1024; },
      [](ArtifactContents& c) { c.packed[0].offset = c.packed[1].offset; },
      [](ArtifactContents& c) { c.packed[3].offset = c.packed[0].offset; },
      [](ArtifactContents& c) { c.packed[0].bytes += 4; },
      [](ArtifactContents& c) { c.packed[0].dims = {int64_t{1} << 60}; },
      [](ArtifactContents& c) { c.packed[0].dims = {-2}; },
      [](ArtifactContents& c) { c.packed[3].dims = {int64_t{1} << 40}; },
      [](ArtifactContents& c) { c.packed[0].users = {7}; },
      [](ArtifactContents& c) { c.packed[0].layout = "other"; },
      [](ArtifactContents& c) { c.models[0].slots[1] = -2; },
      [](ArtifactContents& c) { c.models[0].slots[1] = 4; },
      [](ArtifactContents& c) { c.models[0].sources[1] = 4; },
      [](ArtifactContents& c) { c.models[0].plan_key.low ^= 1; },
      [](ArtifactContents& c) { c.sources[0].packed = 4; },
      [](ArtifactContents& c) { c.sources[1].offset = c.packed[0].offset; },
      [](ArtifactContents& c) { c.sources[1].bytes = 7; },
      [](ArtifactContents& c) { c.sources[1].offset += 4; },
      [](ArtifactContents& c) { c.sources[2].file_offset = -1; },
      [](ArtifactContents& c) { c.sources[3].bytes = 1; },
  };
  for (size_t i = 0; i < std::size(mistakes); ++i)
    EXPECT_EQ(open_bytes(with_records(mistakes[i])).status().code(), Code::InvalidModel) << i;
}

TEST(DamagedArtifact, VerifyFindsTensorsThatAreNotWhatTheySay) {
  void (*const mistakes[])(ArtifactContents&) = {
      [](ArtifactContents& c) { c.packed[1].key.high ^= 1; },
      [](ArtifactContents& c) { c.packed[1].content.low ^= 1; },
      [](ArtifactContents& c) { c.sources[1].content.low ^= 1; },
      [](ArtifactContents& c) { c.sources[3].content.low ^= 1; },
      [](ArtifactContents& c) {
        std::swap(c.models[0].slots[1], c.models[1].slots[1]), c.packed[1].users = {1}, c.packed[2].users = {0};
      },
  };
  for (size_t i = 0; i < std::size(mistakes); ++i)
    EXPECT_EQ(find_damage(with_records(mistakes[i])), Found::ByVerify) << i;
}

TEST(DamagedArtifact, PaddingBetweenEntriesIsZero) {
  std::string bytes = sample_artifact().write();
  const ArtifactFrame frame = frame_of(bytes);
  // The first tensor takes eight bytes of its cache line.
  bytes[static_cast<size_t>(kPageAlignment) + 20] = 1;
  seal(bytes, frame);
  EXPECT_EQ(find_damage(bytes), Found::ByVerify);
}

TEST(StoredStrings, MustBeInOrder) {
  std::string scratch;
  const std::string stored(stored_bytes(words({"ab", "c"}), scratch));
  EXPECT_EQ(tensor_from_stored(DType::String, {2}, stored, nullptr)->as<std::string>()[1], "c");
  for (size_t i = 0; i < stored.size() - 3; ++i) {
    std::string damaged = stored;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x80);
    EXPECT_FALSE(tensor_from_stored(DType::String, {2}, damaged, nullptr).ok()) << i;
  }
  EXPECT_FALSE(tensor_from_stored(DType::String, {3}, stored, nullptr).ok());
  EXPECT_FALSE(tensor_from_stored(DType::String, {2}, stored + "x", nullptr).ok());
  EXPECT_FALSE(tensor_from_stored(DType::String, {2}, stored.substr(0, 17), nullptr).ok());
}

}  // namespace
}  // namespace tenon
