#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ir/patch.h"
#include "onnx/import.h"

namespace tenon {

// Why a patch of the model's graph, or of one of its bodies, could not be written as ONNX in the versions that the
// model imports, or would take an ONNX node apart that stands for several canonical ones. Nothing: it can. For
// RewriteOptions::objection; refers to the model. more_opsets: as in ExportOptions.
std::function<std::optional<std::string>(const Patch&)> export_objection(
    const ImportedModel& model, const std::unordered_map<std::string, int64_t>& more_opsets = {});

// Whether nodes of a graph can all be written anew.
bool can_be_spelled(const ImportedModel& model, const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace tenon
