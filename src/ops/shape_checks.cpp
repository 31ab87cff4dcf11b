#include "ops/shape_checks.h"

namespace tenon {

bool differ(const Dim& a, const Dim& b) { return a.is_constant() && b.is_constant() && !(a == b); }

bool differ(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return true;
  for (size_t i = 0; i < a.size(); ++i)
    if (differ(a[i], b[i])) return true;
  return false;
}

Status expect_shape(InferContext& c, size_t i, const char* what, const Shape& expected) {
  const Shape* shape = c.shape(i);
  if (!shape || !differ(*shape, expected)) return {};
  return invalid_model("{} must have the shape {}, but it has {}", what, shape_text(expected), shape_text(*shape));
}

Status check_state_window(int64_t state_window) {
  constexpr int64_t kMostStates = 8;
  if (state_window >= 0 && state_window <= kMostStates) return {};
  return invalid_model("state_window is {}; it must be between 0 and {}", state_window, kMostStates);
}

}  // namespace tenon
