// Weights of 2, 4 or 8 bits with one scale per block, packed into bytes. Bytes split into the numbers they hold without
// looking at them, so what is left is a DequantizeLinear by blocks.
#include <limits>

#include "base/checked_math.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/infer.h"
#include "ops/shape_of.h"

namespace tenon {

namespace {

bool is_power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

void check_block_size(ImportNode& n, int64_t block_size) {
  if (block_size < 16 || !is_power_of_two(block_size) || block_size > std::numeric_limits<int32_t>::max())
    n.fail(invalid_model("block_size is {}; it must be a power of two and at least 16", block_size));
}

// A known shape that is not the expected one (or the same in one dimension, where that is allowed) is an error.
void check_dims(ImportNode& n, ValueId x, const char* what, const Shape& expected, bool or_flat = false) {
  const auto& shape = n.type(x).shape;
  if (!shape) return;
  const auto fits = [&](const Shape& wanted) {
    return merge(Type::tensor(DType::Undefined, *shape), Type::tensor(DType::Undefined, wanted)).has_value();
  };
  if (fits(expected) || (or_flat && fits({element_count(expected)}))) return;
  n.fail(invalid_model("{} has the shape {}; it must be {}", what, shape_text(*shape), shape_text(expected)));
}

void check_dtype(ImportNode& n, ValueId x, const char* what, DType wanted) {
  const DType dtype = n.type(x).dtype;
  if (x != kNone && dtype != DType::Undefined && dtype != wanted)
    n.fail(invalid_model("{} is {}; it must be {}", what, dtype_name(dtype), dtype_name(wanted)));
}

// The matrix of a MatMulNBits, [N, K], in blocks along K.
struct Layout {
  int64_t n = 0, k = 0, bits = 0, block = 0;
  int64_t blocks() const { return ceil_div(k, block); }
  int64_t padded() const { return blocks() * block; }
  int64_t zero_point_bytes() const { return (blocks() * bits + 7) / 8; }
};

Layout read_layout(ImportNode& n) {
  Layout l{n.int_attribute("N", 0), n.int_attribute("K", 0), 4, n.int_attribute("block_size", 0)};
  for (int64_t extent : {l.n, l.k})
    if (extent < 1 || extent > std::numeric_limits<int32_t>::max())
      n.fail(invalid_model("N is {} and K is {}; both must be positive and fit into 32 bits", l.n, l.k));
  check_block_size(n, l.block);
  return l;
}

// A times a matrix that is float32, in the type of A.
void finish_product(ImportNode& n, ValueId matrix, ValueId bias) {
  const auto wide = [&](ValueId x) { return emit::cast(n, x, DType::Float32); };
  const ValueId product = emit::plain(n, OpId::MatMul, wide(n.input(0)), matrix);
  n.finish({emit::cast(n, emit::add(n, product, wide(bias)), n.type(n.input(0)).dtype)});
}

ValueId columns(ImportNode& n, ValueId x, int64_t have, int64_t wanted) {
  return have == wanted ? x : emit::first(n, x, 1, wanted);
}

// [N, blocks]: packed bytes, floats like the scales, or absent, which is the middle of the range.
ValueId zero_points(ImportNode& n, const Layout& l, ValueId zeros) {
  if (zeros == kNone) return emit::middle(n, n.int_constant({l.n, l.blocks()}), l.bits);
  if (n.type(zeros).dtype != DType::UInt8) {
    check_dtype(n, zeros, "zero_points", n.type(n.input(2)).dtype);
    check_dims(n, zeros, "zero_points", {l.n, l.blocks()}, true);
    return emit::reshape(n, zeros, {l.n, l.blocks()});
  }
  const int64_t bytes = l.zero_point_bytes();
  check_dims(n, zeros, "zero_points", {l.n, bytes}, true);
  const ValueId numbers = emit::unpacked(n, emit::reshape(n, zeros, {l.n, bytes}), l.bits);
  return columns(n, numbers, bytes * 8 / l.bits, l.blocks());
}

// The matrix in float32. Inputs: A, B, scales, zero points, and for each k the block whose scale it has.
ValueId weights(ImportNode& n, const Layout& l) {
  const auto wide = [&](ValueId x) { return emit::cast(n, x, DType::Float32); };
  const int64_t padded = l.padded();
  const ValueId numbers = emit::unpacked(n, n.input(1), l.bits), groups = n.input(4);
  ValueId scales = emit::reshape(n, n.input(2), {l.n, l.blocks()}), zeros = zero_points(n, l, n.input(3));
  const bool float_zeros = is_float(n.type(zeros).dtype);
  if (float_zeros && groups == kNone) {
    const auto each_block = [&](ValueId x) { return emit::unsqueeze(n, wide(x), {2}); };
    const ValueId centered = emit::plain(n, OpId::Sub, wide(numbers), each_block(zeros));
    const ValueId scaled = emit::plain(n, OpId::Mul, centered, each_block(scales));
    return columns(n, emit::reshape(n, scaled, {l.n, padded}), padded, l.k);
  }
  const ValueId matrix = columns(n, emit::reshape(n, numbers, {l.n, padded}), padded, l.k);
  if (groups == kNone) return emit::dequantize(n, {matrix, scales, zeros}, 1, l.block, DType::Float32);
  const ValueId of_column = emit::first(n, groups, 0, l.k);  // it may be as long as the padded rows
  scales = emit::gather(n, scales, of_column, 1);
  zeros = emit::gather(n, zeros, of_column, 1);
  if (!float_zeros) return emit::dequantize(n, {matrix, scales, zeros}, 1, 1, DType::Float32);
  return emit::plain(n, OpId::Mul, emit::plain(n, OpId::Sub, wide(matrix), wide(zeros)), wide(scales));
}

// accuracy_level is the least accuracy that the model accepts; this is the highest.
void import_matmul_nbits(ImportNode& n) {
  n.ignore_attribute("accuracy_level");
  if (const int64_t packing = n.int_attribute("weight_prepacked", 0); packing != 0)
    return n.fail(unsupported("weight_prepacked is {}, a layout that only one kind of device can read", packing));
  Layout l = read_layout(n);
  l.bits = n.int_attribute("bits", l.bits);
  if (l.bits != 2 && l.bits != 4 && l.bits != 8) n.fail(invalid_model("bits is {}; it must be 2, 4 or 8", l.bits));
  const ValueId bias = n.input(5);
  const DType dtype = n.type(n.input(0)).dtype;
  if (dtype == DType::Undefined) return n.fail(unsupported("MatMulNBits needs an A of a known type"));
  if (!n.status().ok()) return;
  check_dtype(n, n.input(1), "B", DType::UInt8);
  check_dtype(n, n.input(2), "scales", dtype);
  check_dtype(n, bias, "bias", dtype);
  check_dims(n, n.input(1), "B", {l.n, l.blocks(), l.block * l.bits / 8});
  check_dims(n, n.input(2), "scales", {l.n, l.blocks()}, true);
  check_dims(n, bias, "bias", {l.n});
  const auto& groups = n.type(n.input(4)).shape;
  const bool padded = groups && groups->size() == 1 && (*groups)[0].equals(l.padded());
  check_dims(n, n.input(4), "g_idx", {padded ? l.padded() : l.k});
  if (!n.status().ok()) return;
  finish_product(n, emit::transpose(n, weights(n, l), {1, 0}), bias);
}

// What four bits mean, as a part of the largest number of their block.
ValueId code_book(ImportNode& n, bool normal_floats) {
  static constexpr float of_normal[] = {
      -1.0f,       -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
      0.07958030f, 0.16093020f,  0.24611230f,  0.33791524f,  0.44070983f,  0.56261700f,  0.72295684f,  1.0f};
  static constexpr float of_float[] = {0.0f,  1.0f / 192,  2.0f / 3,  1.0f,  1.0f / 3,  0.5f,  1.0f / 6,  0.25f,
                                       -0.0f, -1.0f / 192, -2.0f / 3, -1.0f, -1.0f / 3, -0.5f, -1.0f / 6, -0.25f};
  return n.constant(Tensor::of<float>({16}, normal_floats ? of_normal : of_float));
}

// Weights [N, K] in blocks of neighbours, whatever their rows; the upper half of a byte comes first.
void import_matmul_bnb4(ImportNode& n) {
  n.ignore_attribute("training_mode");
  const Layout l = read_layout(n);
  const int64_t kind = n.int_attribute("quant_type", -1);
  if (kind != 0 && kind != 1) n.fail(invalid_model("quant_type is {}; it must be 0 (float) or 1 (normal float)", kind));
  const bool transposed = n.int_attribute("transB", 1) != 0;
  if (n.type(n.input(0)).dtype == DType::Undefined) n.fail(unsupported("MatMulBnb4 needs an A of a known type"));
  check_dtype(n, n.input(1), "B", DType::UInt8);
  check_dtype(n, n.input(2), "absmax", n.type(n.input(0)).dtype);
  if (!n.status().ok()) return;
  const int64_t count = l.n * l.k, blocks = (count + l.block - 1) / l.block;
  const ValueId halves = emit::reshape(n, emit::unpacked(n, n.input(1), 4), {-1, 2});
  const ValueId in_order = emit::reshape(n, emit::gather(n, halves, n.int_constant({1, 0}), 1), {-1});
  const ValueId codes = emit::cast(n, emit::first(n, in_order, 0, count), DType::Int32);
  const ValueId parts = emit::gather(n, code_book(n, kind == 1), codes, 0);
  const ValueId largest = emit::reshape(n, emit::cast(n, n.input(2), DType::Float32), {blocks, 1});
  const ValueId each = emit::plain(n, OpId::Expand, largest, n.int_constant({blocks, l.block}));
  const ValueId scales = emit::first(n, emit::reshape(n, each, {-1}), 0, count);
  const ValueId matrix = emit::reshape(n, emit::plain(n, OpId::Mul, parts, scales), {l.n, l.k});
  finish_product(n, transposed ? emit::transpose(n, matrix, {1, 0}) : matrix, kNone);
}

// A table to gather from, quantized by blocks along an axis. Axes count from the front when the rank is known.
struct Table {
  std::optional<int64_t> rank;
  int64_t gather_axis = 0, quantize_axis = 0, block = 0, bits = 0;
  bool of_bytes = false;  // zero points are in the middle of the range when there are none
  bool packed = false;    // several numbers per byte, along the last axis
  emit::Quantized q{};
};

// Where an axis is; as it was written while the rank is open.
int64_t read_axis(ImportNode& n, const char* name, int64_t fallback, std::optional<int64_t> rank) {
  const int64_t axis = n.int_attribute(name, fallback);
  if (!rank) return axis;
  const auto normal = normalize_axis(axis, *rank, name);
  if (normal.ok()) return *normal;
  n.fail(normal.status());
  return 0;
}

Table read_table(ImportNode& n) {
  Table t;
  t.q = {n.input(0), n.input(2), n.input(3)};
  t.rank = n.rank(t.q.x);
  t.gather_axis = read_axis(n, "gather_axis", 0, t.rank);
  t.quantize_axis = read_axis(n, "quantize_axis", 1, t.rank);
  t.block = n.int_attribute("block_size", 128);
  t.bits = n.int_attribute("bits", 4);
  check_block_size(n, t.block);
  const DType dtype = n.type(t.q.x).dtype;
  if (dtype != DType::UInt8 && dtype != DType::UInt4 && dtype != DType::Int4)
    n.fail(invalid_model("data is {}; it must be uint8, uint4 or int4", dtype_name(dtype)));
  else if (dtype != DType::UInt8 ? t.bits != 4 : t.bits != 2 && t.bits != 4 && t.bits != 8)
    n.fail(invalid_model("data is {} and bits is {}; this combination is not supported", dtype_name(dtype), t.bits));
  t.of_bytes = dtype == DType::UInt8;
  t.packed = t.of_bytes && t.bits != 8;
  if (!t.rank) return t;
  if (t.packed && (t.quantize_axis != *t.rank - 1 || t.gather_axis == *t.rank - 1))
    n.fail(
        invalid_model("packed data has its blocks along the last axis, so it cannot be gathered along another axis"));
  if (n.rank(t.q.scale).value_or(*t.rank) != *t.rank || n.rank(t.q.zero).value_or(*t.rank) != *t.rank)
    n.fail(invalid_model("data has {} axes; scales and zero_points must have the same number", *t.rank));
  return t;
}

// Numbers side by side along the last axis, of which zero points may have some too many.
void unpack(ImportNode& n, Table& t) {
  const ValueId bytes = n.emit1(OpId::Shape, Params::of(ShapeParams{-1, std::nullopt}), {t.q.x});
  t.q.x = emit::unpacked(n, t.q.x, t.bits);
  if (t.q.zero == kNone) return;
  const auto number = [&](int64_t x) { return n.int_constant({x}); };
  const ValueId padded = emit::add(n, emit::plain(n, OpId::Mul, bytes, number(8 / t.bits)), number(t.block - 1));
  const ValueId blocks = emit::plain(n, OpId::Div, padded, number(t.block));
  t.q.zero = n.emit1(OpId::Slice, default_params(OpId::Slice),
                     {emit::unpacked(n, t.q.zero, t.bits), number(0), blocks, number(-1)});
}

ValueId dequantized(ImportNode& n, Table& t, int64_t axis) {
  if (t.packed) unpack(n, t);
  if (t.of_bytes && t.q.zero == kNone) t.q.zero = emit::middle(n, emit::plain(n, OpId::Shape, t.q.scale), t.bits);
  return emit::dequantize(n, t.q, axis, t.block);
}

// Rows are gathered before they are dequantized, unless the rows of one block share their scale or the rank, which
// tells whether they do, is open.
void import_gather_block_quantized(ImportNode& n) {
  Table t = read_table(n);
  if (!n.status().ok()) return;
  const auto gathered = [&](ValueId x) { return x == kNone ? x : emit::gather(n, x, n.input(1), t.gather_axis); };
  if (!t.rank || t.gather_axis == t.quantize_axis) return n.finish({gathered(dequantized(n, t, t.quantize_axis))});
  t.q = {gathered(t.q.x), gathered(t.q.scale), gathered(t.q.zero)};
  // The indices' axes take the place of the gathered one: axes behind it keep their distance from the end.
  const bool behind = t.quantize_axis > t.gather_axis;
  n.finish({dequantized(n, t, behind ? t.quantize_axis - *t.rank : t.quantize_axis)});
}

}  // namespace

void map_microsoft_block_quantized(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "MatMulNBits", OpId::MatMul, import_matmul_nbits);
  map.custom(kMicrosoftDomain, "MatMulBnb4", OpId::MatMul, import_matmul_bnb4);
  map.custom(kMicrosoftDomain, "GatherBlockQuantized", OpId::Gather, import_gather_block_quantized);
}

}  // namespace tenon
