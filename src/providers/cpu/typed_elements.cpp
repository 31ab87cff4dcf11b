// Elementwise ops on integers, truth values and doubles, which expressions in float32 do not take: tile by tile, with
// operands that broadcast gathered first.
#include "providers/cpu/typed_elements.h"

#include <algorithm>
#include <array>

#include "ops/arithmetic.h"
#include "ops/bitwise.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pointwise_tiles.h"
#include "providers/cpu/rows.h"

namespace tenon {

namespace {

using Access = PointwiseTiles::Access;

constexpr size_t kMostTypedOperands = 3;
// Elements that are computed at once.
constexpr int64_t kPart = PointwiseTiles::kGathered;
constexpr int64_t kPartBytes = kPart * static_cast<int64_t>(sizeof(int64_t));
// Fewer elements are computed before a loop over tiles has begun.
constexpr int64_t kFewElements = 64;
// Elements go through memory, compared with additions in registers.
constexpr int64_t kTypedWork = 8;

struct TypedState {
  TypedFunction function = nullptr;
  std::array<int64_t, kMostTypedOperands> element_bytes{};
  int64_t result_bytes = 0;
};

TypedFunction find_typed_function(OpId op, const BindRequest& r) {
  const DType dtype = r.inputs[0].dtype;
  switch (op) {
    case OpId::BitShift:
      return typed_shift(r.params.get<BitShiftParams>().direction == "LEFT", dtype, r.isa);
    case OpId::Cast:
      return typed_cast(dtype, r.outputs[0].dtype, r.isa);
    case OpId::Equal:
      return typed_comparison(op, dtype == DType::Bool ? DType::UInt8 : dtype, r.isa);
    case OpId::Greater:
    case OpId::GreaterOrEqual:
    case OpId::Less:
    case OpId::LessOrEqual:
      return typed_comparison(op, dtype, r.isa);
    case OpId::Mod:
      return typed_remainder(r.params.get<ModParams>().fmod, dtype, r.isa);
    case OpId::Where: {
      const auto bytes = r.outputs[0].dtype == DType::String ? std::nullopt : storage_bytes(r.outputs[0].dtype, 1);
      return bytes ? typed_choice(*bytes, r.isa) : nullptr;
    }
    default:
      return typed_arithmetic(op, dtype, r.isa);
  }
}

template <OpId kOp>
Result<KernelState> bind_typed(const BindRequest& request) {
  const TensorView& out = request.outputs[0];
  if (request.inputs.size() > kMostTypedOperands || (kOp != OpId::Where && request.inputs.size() > 2))
    return error(Code::Unsupported, "it has {} inputs", request.inputs.size());
  if (out.dims.size() > kMostGridAxes) return error(Code::Unsupported, "it has more than {} axes", kMostGridAxes);
  if (out.size() < kFewElements) return error(Code::Unsupported, "it has few elements");
  auto state = std::make_shared<TypedState>();
  state->function = find_typed_function(kOp, request);
  // A result of one operand would be left as it is, which the reference's kernel copies.
  const bool is_alone = request.inputs.size() == 1 && (kOp == OpId::Max || kOp == OpId::Min);
  if (!state->function || is_alone) return error(Code::Unsupported, "it is not on integers or doubles");
  for (size_t i = 0; i < request.inputs.size(); ++i)
    state->element_bytes[i] = *storage_bytes(request.inputs[i].dtype, 1);
  state->result_bytes = *storage_bytes(out.dtype, 1);
  return KernelState{std::move(state), static_cast<int64_t>(request.inputs.size()) * kPartBytes};
}

class TypedRun {
 public:
  TypedRun(KernelContext& c, const PointwiseTiles& tiles) : c_(c), state_(c.state<TypedState>()), tiles_(tiles) {}

  void chunk(int64_t number) const {
    for (size_t i = 0; i < c_.input_count(); ++i)
      if (tiles_.access(i) == Access::Number) spread(i, 0);
    for (int64_t t = tiles_.first_tile(number); t < tiles_.end_tile(number); ++t) run_tile(tiles_.tile(t));
  }

 private:
  std::byte* own(size_t i) const { return c_.scratch<std::byte>() + static_cast<int64_t>(i) * kPartBytes; }

  // A number in every element of a part.
  void spread(size_t i, int64_t offset) const {
    const int64_t bytes = state_.element_bytes[i];
    std::copy_n(static_cast<const std::byte*>(c_.in(i).data) + offset * bytes, bytes, own(i));
    repeat_first(own(i), bytes, kPart * bytes);
  }

  void run_tile(const PointwiseTiles::Tile& tile) const {
    std::array<const std::byte*, kMostTypedOperands> first{};
    std::array<int64_t, kMostTypedOperands> steps{};  // bytes from element to element
    for (size_t i = 0; i < c_.input_count(); ++i) {
      const auto* data = static_cast<const std::byte*>(c_.in(i).data);
      const Access access = tiles_.access(i);
      if (access == Access::RowNumber) spread(i, tiles_.offset(i, tile));
      if (access == Access::Gathered) tiles_.gather(i, tile, data, state_.element_bytes[i], own(i));
      const bool is_direct = access == Access::Dense || access == Access::Row;
      first[i] = is_direct ? data + tiles_.offset(i, tile) * state_.element_bytes[i] : own(i);
      steps[i] = PointwiseTiles::is_number(access) ? 0 : state_.element_bytes[i];
    }
    auto* out = static_cast<std::byte*>(c_.out(0).data) + tile.position * state_.result_bytes;
    for (int64_t done = 0; done < tile.count; done += kPart) {
      std::array<const void*, kMostTypedOperands> operands{};
      for (size_t i = 0; i < c_.input_count(); ++i) operands[i] = first[i] + done * steps[i];
      state_.function(operands.data(), out + done * state_.result_bytes, std::min(kPart, tile.count - done));
    }
  }

  KernelContext& c_;
  const TypedState& state_;
  const PointwiseTiles& tiles_;
};

Status run_typed(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  std::array<Dims, kMostTypedOperands> dims;
  for (size_t i = 0; i < c.input_count(); ++i) dims[i] = c.in(i).dims;
  const PointwiseTiles tiles(c.out(0).dims, std::span(dims).first(c.input_count()), kTypedWork);
  const TypedRun run(c, tiles);
  c.parallel_for(tiles.chunks(), [&](int64_t chunk) { run.chunk(chunk); });
  return {};
}

template <OpId kOp>
std::span<const Variant> typed_variants() {
  static const auto variants = with_reference(
      kOp,
      {{.name = "typed", .run = run_typed, .bind = bind_typed<kOp>, .reads_dims = true, .keeps_subnormals = true}});
  return variants;
}

}  // namespace

std::span<const Variant> typed_element_variants(OpId op) {
  switch (op) {
#define OP(name)   \
  case OpId::name: \
    return typed_variants<OpId::name>();
    TENON_TYPED_OPS(OP)
#undef OP
    default:
      return {};
  }
}

}  // namespace tenon
