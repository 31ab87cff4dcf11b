#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "plan/artifact.h"
#include "plan/artifact_format.h"

namespace tenon::fuzz {

// Changes what an artifact says, as somebody would who can compute checksums: ops, kernel families, parameters, ids,
// types, slots, shapes. The same seed makes the same changes.
class ArtifactMutation {
 public:
  explicit ArtifactMutation(uint64_t seed) : random_(static_cast<uint32_t>(seed ^ seed >> 32)) {}
  void change(ArtifactContents& contents);

 private:
  size_t below(size_t count) { return random_() % count; }
  bool chance(size_t one_in) { return below(one_in) == 0; }
  int64_t odd_integer();
  PlanValueId value_of(const Plan& plan);

  void change_program(Program& program);
  void change_plan(Plan& plan, int depth);
  void change_step(Plan& plan, Step& step, int depth);
  void change_ids(const Plan& plan, std::vector<PlanValueId>& ids);
  void change_params(Step& step);
  void change_type(Type& type);
  void change_value(PlanValue& value);
  void change_entry(Program& program);
  void change_packed(ArtifactContents& contents);
  void change_source(SourceRecord& record, size_t packed_count);

  std::minstd_rand random_;
};

// The weights file with other contents: hashes, table and content id fit them.
std::string with_contents(std::string_view file, const ArtifactFrame& frame, ArtifactContents contents);

}  // namespace tenon::fuzz
