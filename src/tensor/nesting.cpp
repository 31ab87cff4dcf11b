#include "tensor/nesting.h"

#include <algorithm>
#include <unordered_map>

namespace tenon {

namespace {

bool is_deeper(const Type& type, int left) {
  for (const Type* inner = &type; inner->element; inner = inner->element.get())
    if (left-- == 0) return true;
  return false;
}

// Lists that share their parts can have more of them than anybody could count, so each one is looked at once.
class Nesting {
 public:
  bool is_deeper(const Value& value, int left) {
    if (const Sequence* sequence = value.sequence())
      return left == 0 || tenon::is_deeper(sequence->element, left - 1) ||
             (is_new(sequence, left) && any(*sequence, left));
    if (const Optional* optional = value.optional())
      return left == 0 || tenon::is_deeper(optional->element, left - 1) ||
             (optional->item && is_new(optional, left) && is_deeper(*optional->item, left - 1));
    return false;
  }

 private:
  bool any(const Sequence& sequence, int left) {
    return std::ranges::any_of(sequence.items, [&](const Value& item) { return is_deeper(item, left - 1); });
  }
  // Whether it was not seen yet as deep inside as this.
  bool is_new(const void* container, int left) {
    const auto [it, inserted] = least_left_.emplace(container, left);
    if (!inserted && it->second <= left) return false;
    it->second = left;
    return true;
  }
  std::unordered_map<const void*, int> least_left_;
};

Status check(bool too_deep, const char* what) {
  if (!too_deep) return {};
  return error(Code::ResourceLimit, "a {} is nested more than {} levels deep", what, kMostTypeNesting);
}

}  // namespace

Status check_nesting(const Type& type) { return check(is_deeper(type, kMostTypeNesting), "type"); }
Status check_nesting(const Value& value) { return check(Nesting().is_deeper(value, kMostTypeNesting), "value"); }

}  // namespace tenon
