#pragma once

namespace tenon {

// How deep graphs may lie in nodes of graphs, the outermost one counted. What loads also runs: while a model runs, only
// kMostNesting holds, which loading never exceeds.
inline constexpr int kDefaultNesting = 64;
// What the stack of a thread holds with a wide margin, whatever the caller allows.
inline constexpr int kMostNesting = 256;

}  // namespace tenon
