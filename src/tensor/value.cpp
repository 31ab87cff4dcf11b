#include "tensor/value.h"

namespace tenon {

Shape to_shape(Dims dims) { return Shape(dims.begin(), dims.end()); }

Type Value::type() const {
  if (auto t = tensor()) return Type::tensor(t->dtype(), to_shape(t->dims()));
  if (auto s = sequence()) return Type::sequence(s->element);
  if (auto o = optional()) return Type::optional(o->item ? o->item->type() : o->element);
  if (auto m = map()) return Type::map(m->key, Type::tensor(m->value, Shape{}));
  return Type{};
}

}  // namespace tenon
