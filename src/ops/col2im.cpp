#include "ops/col2im.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status check_params(const Col2ImParams& p, size_t axes) {
  auto check = [&](const std::vector<int64_t>& list, size_t expected, int64_t least, const char* what) -> Status {
    if (!list.empty() && list.size() != expected)
      return invalid_model("{} has {} entries but needs {}", what, list.size(), expected);
    for (int64_t x : list)
      if (x < least || x > INT32_MAX) return invalid_model("{} has the entry {}, which is out of range", what, x);
    return {};
  };
  TN_RETURN_IF_ERROR(check(p.dilations, axes, 1, "dilations"));
  TN_RETURN_IF_ERROR(check(p.strides, axes, 1, "strides"));
  return check(p.pads, 2 * axes, 0, "pads");
}

// How many blocks fit along each axis, multiplied.
Result<Dim> block_count(const Col2ImParams& p, const std::vector<int64_t>& image, const std::vector<int64_t>& block) {
  Dim blocks(1);
  for (size_t i = 0; i < image.size(); ++i) {
    const Dim covered = Dim(p.dilation(i)) * Dim(block[i] - 1) + Dim(1);
    const Dim room = Dim(image[i]) + Dim(p.pad_begin(i)) + Dim(p.pad_end(i, image.size())) - covered;
    if (room.is_invalid() || room.value() < 0)
      return invalid_model("the block is larger than the padded image on axis {}", i);
    blocks = blocks * (floor_div(room, Dim(p.stride(i))) + Dim(1));
  }
  return blocks;
}

Status infer_col2im(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kNumbers | kComplex));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 3));
  for (size_t i : {1, 2}) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, {DType::Int64}));
    TN_RETURN_IF_ERROR(c.expect_rank(i, 1));
  }
  auto image = c.ints(1), block = c.ints(2);
  if (!image || !block || !c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  if (image->size() != block->size() || image->empty())
    return invalid_model("image_shape has {} entries, but block_shape has {}", image->size(), block->size());
  const auto& p = c.params<Col2ImParams>();
  TN_RETURN_IF_ERROR(check_params(p, image->size()));
  Dim block_size(1);
  for (size_t i = 0; i < image->size(); ++i) {
    if ((*image)[i] < 0 || (*block)[i] < 1)
      return invalid_model(
          "the entries of image_shape must not be negative, and those of block_shape must be positive");
    block_size = block_size * Dim((*block)[i]);
  }
  const Shape& in = *c.shape(0);
  TN_ASSIGN_OR_RETURN(Dim blocks, block_count(p, *image, *block));
  if (block_size.is_invalid() || (in[1].is_constant() && in[1].value() % block_size.value() != 0))
    return invalid_model("the column height {} is not a multiple of the block's {} elements", in[1].to_string(),
                         block_size.to_string());
  if (in[2].is_constant() && !(in[2] == blocks))
    return invalid_model("the input has {} columns, but the image has {} blocks", in[2].value(), blocks.to_string());
  Shape shape{in[0], floor_div(in[1], block_size)};
  shape.insert(shape.end(), image->begin(), image->end());
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Col2Im>() {
  return define<Col2ImParams>({.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_col2im});
}

}  // namespace tenon
