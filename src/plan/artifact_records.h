#pragma once

#include <array>

#include "plan/artifact.h"
#include "plan/artifact_format.h"
#include "plan/plan_bytes.h"

// The sections that describe an artifact, as bytes and back.
namespace tenon {

// Bytes of the sections that are not large, by section. Places and hashes in the contents must be final.
std::array<std::string, kSectionCount> records_to_bytes(const ArtifactContents& contents, bool with_debug_map);

// Reads the sections back and refuses what does not fit together: see check_contents().
Result<ArtifactContents> records_from_bytes(std::string_view file, const ArtifactFrame& frame,
                                            const FindFamilyFacts& family_facts);

// Ids in range; every model fits its program, its sources and its packed tensors; entries of this file lie in their
// section, aligned, and share bytes only where they are the same bytes.
Status check_contents(const ArtifactContents& contents, const ArtifactFrame& frame);

// Per packed tensor the models that read it.
std::vector<std::vector<int32_t>> users_of(const ArtifactContents& contents);

}  // namespace tenon
