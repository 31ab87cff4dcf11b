#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/graph.h"

namespace tenon {

// What an open extent is likely to mean.
enum class ExtentRole : uint8_t { Batch, Short, Sequence, Height, Width };

// By symbol of the inputs' shapes. A recurrent layer tells which axis is time; else the place in the shape of the first
// input that has the symbol decides.
std::map<std::string, ExtentRole> extent_roles(const Graph& graph);

}  // namespace tenon
