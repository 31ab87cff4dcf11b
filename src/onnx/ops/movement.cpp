// Ops that move elements and whose older versions differ from the newest.
#include <fmt/format.h>

#include <limits>

#include "onnx/node_draft.h"
#include "onnx/ops/any_rank.h"
#include "onnx/ops/constant_numbers.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/split.h"
#include "tensor/max_rank.h"

namespace tenon {

namespace {

// Before version 4 the axis has a default, and it is 1.
void import_concat(ImportNode& n) {
  ConcatParams params;
  params.axis = n.int_attribute("axis", 1);
  if (n.version() >= 4 && !n.has_attribute("axis")) n.fail(invalid_model("the attribute 'axis' is missing"));
  n.finish(n.emit(OpId::Concat, Params::of(params), n.inputs()));
}

// How many parts a Split makes: num_outputs counts them all, and a node need not name the last ones. The bound is for
// numbers that nobody means.
size_t split_parts(ImportNode& n, const SplitParams& params) {
  constexpr int64_t kMostParts = 4096;
  const int64_t parts = params.num_outputs.value_or(0), named = static_cast<int64_t>(n.output_count());
  if (parts <= named || parts > kMostParts) return n.output_count();
  n.warn(fmt::format("num_outputs is {}, but only {} outputs are named; other engines may split into {} parts", parts,
                     named, named));
  return static_cast<size_t>(parts);
}

// Before version 13 the sizes are an attribute; version 1 also takes them as numbers of the data's type.
void import_split(ImportNode& n) {
  ValueId sizes = n.version() < 2 || n.version() >= 13 ? n.input(1) : kNone;
  if (n.version() < 13) {
    if (n.has_attribute("split"))
      sizes = n.int_constant(n.ints_attribute("split"));
    else if (sizes != kNone)
      sizes = n.int_constant(constant_integers(n, sizes, "split"));
  }
  const auto params = n.read_params<SplitParams>();
  n.finish(n.emit(OpId::Split, Params::of(params), {n.input(0), sizes}, split_parts(n, params)));
}

// Before version 10 starts, ends and axes are attributes.
void import_slice(ImportNode& n) {
  if (n.version() >= 10) return n.finish(n.emit(OpId::Slice, default_params(OpId::Slice), n.inputs()));
  std::vector<ValueId> inputs = {n.input(0), n.int_constant(n.ints_attribute("starts")),
                                 n.int_constant(n.ints_attribute("ends"))};
  if (n.has_attribute("axes")) inputs.push_back(n.int_constant(n.ints_attribute("axes")));
  n.finish(n.emit(OpId::Slice, default_params(OpId::Slice), std::move(inputs)));
}

// Before version 13 the axes are an attribute, and an empty list is like none. An empty input names no axis.
void import_squeeze(ImportNode& n) {
  ValueId axes = kNone;
  if (n.version() >= 13)
    axes = n.input(1);
  else if (const auto list = n.ints_attribute("axes"); !list.empty())
    axes = n.int_constant(list);
  n.finish(n.emit(OpId::Squeeze, default_params(OpId::Squeeze), {n.input(0), axes}));
}

// Before version 6 one axis is repeated, and both numbers have the data's type.
void import_tile(ImportNode& n) {
  ValueId repeats = n.input(1);
  if (n.version() < 6) {
    const auto tiles = constant_integers(n, n.input(1), "tiles"), axis = constant_integers(n, n.input(2), "axis");
    const auto rank = n.rank(n.input(0));
    if (tiles.size() != 1 || axis.size() != 1 || axis[0] < 0 || axis[0] >= rank.value_or(int64_t{kMaxRank}))
      return n.fail(invalid_model("tiles and axis must be one number each, and axis must be within a tensor of rank {}",
                                  rank.value_or(int64_t{kMaxRank})));
    // Once along every other axis.
    std::vector<int64_t> counts(static_cast<size_t>(axis[0]), 1);
    counts.push_back(tiles[0]);
    if (rank) counts.resize(static_cast<size_t>(*rank), 1);
    repeats = n.int_constant(counts);
    if (!rank) {
      const ValueId last = n.int_constant({axis[0] + 1});
      const ValueId behind = n.emit1(OpId::Sub, default_params(OpId::Sub), {rank_value(n, n.input(0)), last});
      repeats = n.emit1(OpId::Concat, Params::of(ConcatParams{0}), {repeats, ones(n, behind)});
    }
  }
  n.finish(n.emit(OpId::Tile, default_params(OpId::Tile), {n.input(0), repeats}));
}

// Before version 11 pads and value are attributes; version 1 calls them paddings.
void import_pad(ImportNode& n) {
  Params params = Params::of(n.read_params<PadParams>());
  if (n.version() >= 11) return n.finish(n.emit(OpId::Pad, std::move(params), n.inputs()));
  std::vector<ValueId> inputs = {n.input(0), n.int_constant(n.ints_attribute(n.version() < 2 ? "paddings" : "pads"))};
  if (const float value = n.float_attribute("value", 0); value != 0)
    inputs.push_back(number_constant(n, n.type(n.input(0)).dtype, value));
  n.finish(n.emit(OpId::Pad, std::move(params), std::move(inputs)));
}

// The contrib op has its pads in one row of a matrix, or flat.
void import_contrib_pad(ImportNode& n) {
  Params params = Params::of(n.read_params<PadParams>());
  std::vector<ValueId> inputs = n.inputs();
  // Without pads, the op says what is missing.
  if (n.input(1) != kNone && n.rank(n.input(1)) != 1)
    inputs[1] = n.emit1(OpId::Reshape, default_params(OpId::Reshape), {inputs[1], n.int_constant({-1})});
  n.finish(n.emit(OpId::Pad, std::move(params), std::move(inputs)));
}

// DynamicSlice was Slice with inputs, before Slice had them.
void import_dynamic_slice(ImportNode& n) { n.finish(n.emit(OpId::Slice, default_params(OpId::Slice), n.inputs())); }

// Crop takes a border off an image: [left, top, right, bottom], or left and top with a given [height, width].
void import_crop(ImportNode& n) {
  const auto border = n.ints_attribute("border"), scale = n.ints_attribute("scale");
  if (border.size() != 4 || (!scale.empty() && scale.size() != 2))
    return n.fail(invalid_model("border needs 4 entries, and scale needs 0 or 2; they have {} and {}", border.size(),
                                scale.size()));
  for (int64_t x : {border[0], border[1], border[2], border[3]})
    if (x < 0 || x > std::numeric_limits<int32_t>::max())
      return n.fail(invalid_model("border has the entry {}, which is out of range", x));
  const auto& shape = n.type(n.input(0)).shape;
  if (shape && shape->size() != 4)
    return n.fail(invalid_model("an image must have 4 axes, but this one has {}", shape->size()));
  std::vector<int64_t> ends(2);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t start = border[1 - i], end = border[3 - i];
    if (!scale.empty() && (scale[i] < 0 || scale[i] > std::numeric_limits<int32_t>::max()))
      return n.fail(invalid_model("scale has the entry {}, which is out of range", scale[i]));
    const int64_t needed = start + (scale.empty() ? end : scale[i]);
    if (shape && (*shape)[2 + i].is_constant() && (*shape)[2 + i].value() < needed)
      return n.fail(invalid_model("border and scale need {} {}, but the image has {}", needed,
                                  i == 0 ? "rows" : "columns", (*shape)[2 + i].value()));
    ends[i] = !scale.empty() ? start + scale[i] : end == 0 ? std::numeric_limits<int64_t>::max() : -end;
  }
  n.finish(n.emit(OpId::Slice, default_params(OpId::Slice),
                  {n.input(0), n.int_constant({border[1], border[0]}), n.int_constant(ends), n.int_constant({2, 3})}));
}

bool write_first_pad(NodeDraft& d) {
  return d.version < 2 && d.move_to_attribute({1, "paddings"}) &&
         d.move_to_attribute({2, "value", AttributeInput::Kind::Float});
}

}  // namespace

template <>
void onnx_mapping<OpId::Concat>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Concat", OpId::Concat, import_concat);
}

template <>
void onnx_mapping<OpId::Split>(OnnxMap& map) {
  map.attribute_inputs(OpId::Split, {{1, "split"}});
  map.custom(kOnnxDomain, "Split", OpId::Split, import_split);
}

template <>
void onnx_mapping<OpId::Slice>(OnnxMap& map) {
  map.attribute_inputs(OpId::Slice, {{1, "starts"}, {2, "ends"}, {3, "axes"}});
  map.custom(kOnnxDomain, "Slice", OpId::Slice, import_slice);
  map.custom(kOnnxDomain, "DynamicSlice", OpId::Slice, import_dynamic_slice);
  map.way_back(OpId::Slice, kOnnxDomain, "DynamicSlice",
               [](NodeDraft& d) { return d.version < 10 && d.inputs.size() < 5; });
  map.custom(kOnnxDomain, "Crop", OpId::Slice, import_crop);
}

template <>
void onnx_mapping<OpId::Squeeze>(OnnxMap& map) {
  map.attribute_inputs(OpId::Squeeze, {{1, "axes"}});
  map.custom(kOnnxDomain, "Squeeze", OpId::Squeeze, import_squeeze);
}

template <>
void onnx_mapping<OpId::Tile>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Tile", OpId::Tile, import_tile);
}

template <>
void onnx_mapping<OpId::Pad>(OnnxMap& map) {
  map.attribute_inputs(OpId::Pad, {{1, "pads"}, {2, "value", AttributeInput::Kind::Float}});
  map.custom(kOnnxDomain, "Pad", OpId::Pad, import_pad);
  map.way_back(OpId::Pad, kOnnxDomain, "Pad", write_first_pad);
  map.custom(kMicrosoftDomain, "Pad", OpId::Pad, import_contrib_pad);
}

}  // namespace tenon
