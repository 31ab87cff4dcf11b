#include "tensor/nesting.h"

#include <algorithm>

namespace tenon {

namespace {

bool is_deeper(const Type& type, int left) {
  for (const Type* inner = &type; inner->element; inner = inner->element.get())
    if (left-- == 0) return true;
  return false;
}

bool is_deeper(const Value& value, int left) {
  if (const Sequence* sequence = value.sequence())
    return left == 0 || is_deeper(sequence->element, left - 1) ||
           std::ranges::any_of(sequence->items, [&](const Value& item) { return is_deeper(item, left - 1); });
  if (const Optional* optional = value.optional())
    return left == 0 || is_deeper(optional->element, left - 1) ||
           (optional->item && is_deeper(*optional->item, left - 1));
  return false;
}

Status check(bool too_deep, const char* what) {
  if (!too_deep) return {};
  return error(Code::ResourceLimit, "a {} is nested more than {} deep", what, kMostTypeNesting);
}

}  // namespace

Status check_nesting(const Type& type) { return check(is_deeper(type, kMostTypeNesting), "type"); }
Status check_nesting(const Value& value) { return check(is_deeper(value, kMostTypeNesting), "value"); }

}  // namespace tenon
