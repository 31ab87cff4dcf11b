#pragma once

#include "build/drift.h"
#include "build/json.h"
#include "passes/optimize_model.h"

namespace tenon::build {

// [{pass, rule, node, reason, removed, added, bytes, drift}]: pass is the capability, bytes what the change adds to the
// values that the model stores. drift: as DriftMeter says, where one is given and the rule is not exact.
Json changes_json(const ChangeLog& log, const DriftMeter* drift = nullptr);

// Why rules that were about a node did not fire there in the end: [{pass, rule, node, reason}].
Json misses_json(const ChangeLog& log);

// What each capability of a choice does to the model by itself, with what it needs: [{capability, changes, nodes:
// {before, after}, bytes}].
Result<Json> effects_json(const ImportedModel& model, const CapabilitySet& capabilities);

}  // namespace tenon::build
