#include "onnx/ops/any_rank.h"

#include "ops/concat.h"
#include "ops/einsum.h"
#include "ops/fill.h"
#include "ops/reshape.h"
#include "ops/shape_of.h"
#include "ops/transpose.h"

namespace tenon {

namespace {

ValueId extents(ImportNode& n, ValueId x, int64_t first, std::optional<int64_t> last = std::nullopt) {
  return n.emit1(OpId::Shape, Params::of(ShapeParams{first, last}), {x});
}

// A transpose by axes when their number is known, else by an equation whose ellipsis stands for the spatial ones.
ValueId reordered(ImportNode& n, ValueId image, const char* equation, std::vector<int64_t> (*order)(int64_t)) {
  const auto rank = n.rank(image);
  if (!rank) return n.emit1(OpId::Einsum, Params::of(EinsumParams{equation}), {image});
  if (*rank < 2)
    return n.fail(invalid_model("an image needs the axes [batch, channels, ...], but this one has rank {}", *rank)),
           image;
  return n.emit1(OpId::Transpose, Params::of(TransposeParams{order(*rank)}), {image});
}

}  // namespace

ValueId rank_value(ImportNode& n, ValueId x) { return extents(n, extents(n, x, 0), 0); }

ValueId ones(ImportNode& n, ValueId count) {
  const int64_t one = 1;
  const Tensor value = Tensor::of<int64_t>({1}, std::span<const int64_t>(&one, 1));
  return n.emit1(OpId::ConstantOfShape, Params::of(ConstantOfShapeParams{value}), {count});
}

ValueId insert_axes(ImportNode& n, ValueId x, int64_t at, int64_t count) {
  if (count == 0) return x;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back((at == kEnd ? *n.rank(x) : at) + i);
  return n.emit1(OpId::Unsqueeze, default_params(OpId::Unsqueeze), {x, n.int_constant(axes)});
}

ValueId insert_open_axes(ImportNode& n, ValueId x, int64_t at, ValueId count) {
  std::vector<ValueId> parts;
  if (at == kEnd)
    parts = {extents(n, x, 0), ones(n, count)};
  else
    parts = {extents(n, x, 0, at), ones(n, count), extents(n, x, at)};
  ReshapeParams params;
  params.allowzero = true;
  return n.emit1(OpId::Reshape, Params::of(params), {x, n.emit1(OpId::Concat, Params::of(ConcatParams{0}), parts)});
}

ValueId to_channels_first(ImportNode& n, ValueId image) {
  return reordered(n, image, "n...c->nc...", [](int64_t rank) {
    std::vector<int64_t> order = {0, rank - 1};
    for (int64_t axis = 1; axis + 1 < rank; ++axis) order.push_back(axis);
    return order;
  });
}

ValueId to_channels_last(ImportNode& n, ValueId image) {
  return reordered(n, image, "nc...->n...c", [](int64_t rank) {
    std::vector<int64_t> order = {0};
    for (int64_t axis = 2; axis < rank; ++axis) order.push_back(axis);
    order.push_back(1);
    return order;
  });
}

}  // namespace tenon
