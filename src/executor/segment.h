#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/known_shapes.h"
#include "plan/plan.h"
#include "providers/provider.h"

namespace tenon {

// A value that a segment produces, with the shape it has there.
struct PlacedValue {
  enum class Place : uint8_t {
    Arena,    // dense, at `offset` of the segment's arena
    Output,   // dense, an output of the plan: its own tensor, or the caller's buffer
    Strings,  // a string tensor of known dims
    Decided,  // the kernel brings it
  };
  PlanValueId value = kNoValue;
  Place place = Place::Decided;
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;  // of a segment with late dims: the largest
  int64_t offset = 0;
  size_t number = 0;                    // among the placed values of the segment
  PlanValueId written_over = kNoValue;  // an input whose memory it takes, element for element
};

// A sub-byte tensor of a step that its kernel sees with one element per byte.
struct SpreadValue {
  size_t position = 0;  // among the step's inputs, or its outputs
  bool is_output = false;
  int64_t offset = 0;  // of the copy in the arena
};

// A step of known shapes, with its memory placed and its kernel chosen.
struct PlacedStep {
  enum class Kind : uint8_t {
    Plain,    // dense numbers in, dense numbers out: everything is resolved before the run
    Nothing,  // its result is there already, or there is nothing to compute
    General,  // strings, sequences, sub-graphs, results of a size that the kernel decides
  };
  Kind kind = Kind::General;
  std::vector<PlacedValue> outputs;  // those that are wanted
  BoundKernel kernel;
  bool flushes_subnormals = false;
  int64_t scratch_offset = 0;  // of the kernel's working memory in the arena
  std::vector<SpreadValue> spread;
  std::vector<PlanValueId> dead;  // values that may be boxed and that no later step reads
};

// Steps [begin, end) with every shape solved and every buffer placed. Immutable once made.
// A segment ends where a later shape depends on data that only running it can tell.
struct Segment {
  size_t begin = 0, end = 0;
  std::vector<PlacedStep> steps;
  int64_t arena_bytes = 0;
  // Where inputs have late dims: it serves all of their class, and the shapes in it are those of the largest.
  std::shared_ptr<KnownShapes> shapes;
  // What it holds for: the types of what flows in, and the contents that decided shapes.
  std::string types;
  struct Content {
    PlanValueId value;
    std::string bytes;
  };
  std::vector<Content> contents;
};

}  // namespace tenon
