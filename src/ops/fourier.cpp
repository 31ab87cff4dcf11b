#include "ops/fourier.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// The one integer of a scalar input. Absent: nothing; present and unknown: *open is set.
Result<std::optional<int64_t>> scalar(InferContext& c, size_t i, const char* what, bool* open) {
  if (!c.has(i)) return std::optional<int64_t>();
  const auto values = c.ints(i);
  if (!values) {
    *open = true;
    return std::optional<int64_t>();
  }
  if (values->size() != 1) return invalid_model("{} must be one integer, but it has {} elements", what, values->size());
  return std::optional((*values)[0]);
}

Status check_components(const Dim& last) {
  if (!last.is_constant() || last.equals(1) || last.equals(2)) return {};
  return invalid_model("the last axis holds real and imaginary parts: its extent must be 1 or 2, but it is {}",
                       last.value());
}

Status check_onesided(const DFTParams& p, const Dim& components) {
  if (!p.onesided || !components.is_constant()) return {};
  if (!p.inverse && components.equals(2)) return invalid_model("a one-sided transform needs real input");
  if (p.inverse && components.equals(1)) return invalid_model("an inverse one-sided transform needs complex input");
  return {};
}

Status infer_dft(InferContext& c) {
  const auto& p = c.params<DFTParams>();
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Int64}));
  if (!c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  Shape shape = *c.shape(0);
  const int64_t rank = static_cast<int64_t>(shape.size());
  if (rank < 2) return invalid_model("the input must be [signal..., 1 or 2], but it is {}", c.in(0).to_string());
  TN_RETURN_IF_ERROR(check_components(shape.back()));
  TN_RETURN_IF_ERROR(check_onesided(p, shape.back()));
  bool open_axis = false, open_length = false;
  TN_ASSIGN_OR_RETURN(auto given_axis, scalar(c, 2, "axis", &open_axis));
  TN_ASSIGN_OR_RETURN(auto given_length, scalar(c, 1, "dft_length", &open_length));
  if (given_length && *given_length < 1) return invalid_model("dft_length is {}; it must be positive", *given_length);
  if (open_axis) {
    c.out(0, c.dtype(0), c.fresh_shape(shape.size()));
    return {};
  }
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(given_axis.value_or(-2), rank));
  if (axis == rank - 1)
    return invalid_model("axis {} holds the real and imaginary parts, so it cannot be transformed", axis);
  Dim& extent = shape[static_cast<size_t>(axis)];
  if (open_length) {
    extent = c.fresh_symbol();
  } else if (given_length) {
    extent = Dim(*given_length);
  } else if (p.inverse && p.onesided) {
    extent = Dim(2) * (extent - Dim(1));
  }
  if (p.onesided && extent.equals(0)) return invalid_model("a one-sided transform needs a signal that is not empty");
  if (p.onesided && !p.inverse && !open_length) extent = floor_div(extent, Dim(2)) + Dim(1);
  shape.back() = Dim(p.onesided && p.inverse ? 1 : 2);
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

Status check_signal(InferContext& c, bool onesided) {
  const Shape* signal = c.shape(0);
  if (!signal) return {};
  if (signal->size() != 2 && signal->size() != 3)
    return invalid_model("the signal must be [batch, length, 1 or 2], but its shape is {}", shape_text(*signal));
  if (signal->size() == 2) return {};
  TN_RETURN_IF_ERROR(check_components((*signal)[2]));
  if (onesided && (*signal)[2].equals(2)) return invalid_model("a one-sided transform needs a real signal");
  return {};
}

// The length of a frame: an input, the window's length, or the whole signal.
Result<Dim> frame_length(InferContext& c) {
  bool open = false;
  TN_ASSIGN_OR_RETURN(auto given, scalar(c, 3, "frame_length", &open));
  const Shape* window = c.shape(2);
  if (given && window && (*window)[0].is_constant() && (*window)[0].value() != *given)
    return invalid_model("frame_length is {}, but the window has {} elements", *given, (*window)[0].value());
  if (given && *given < 1) return invalid_model("frame_length is {}; it must be positive", *given);
  if (given) return Dim(*given);
  if (c.has(2)) return window ? (*window)[0] : c.fresh_symbol();
  return open || !c.shape(0) ? c.fresh_symbol() : (*c.shape(0))[1];
}

Status infer_stft(InferContext& c) {
  const bool onesided = c.params<STFTParams>().onesided;
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(3, kIndex));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 2));
  TN_RETURN_IF_ERROR(c.expect_rank(2, 1));
  TN_RETURN_IF_ERROR(check_signal(c, onesided));
  TN_ASSIGN_OR_RETURN(Dim frame, frame_length(c));
  if (frame.equals(0)) return invalid_model("frames must not be empty");
  bool open_step = false;
  TN_ASSIGN_OR_RETURN(auto step, scalar(c, 1, "frame_step", &open_step));
  if (step && *step < 1) return invalid_model("frame_step is {}; it must be positive", *step);
  Dim batch = c.fresh_symbol(), frames = batch;
  if (const Shape* signal = c.shape(0)) {
    batch = (*signal)[0];
    const Dim slack = (*signal)[1] - frame;
    if (slack.is_constant() && slack.value() < 0)
      return invalid_model("a signal of length {} is shorter than a frame of length {}", (*signal)[1].value(),
                           frame.value());
    frames = step ? floor_div(slack, Dim(*step)) + Dim(1) : c.fresh_symbol();
  }
  c.out(0, c.dtype(0), Shape{batch, frames, onesided ? floor_div(frame, Dim(2)) + Dim(1) : frame, Dim(2)});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::DFT>() {
  return define<DFTParams>({.inputs = {1, 3}, .outputs = {1, 1}, .infer = infer_dft});
}
template <>
OpDef op_definition<OpId::STFT>() {
  return define<STFTParams>({.inputs = {2, 4}, .outputs = {1, 1}, .infer = infer_stft});
}

}  // namespace tenon
