#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/type.h"

namespace tenon {

class Value;

// All elements have the element type; an empty sequence still knows it.
struct Sequence {
  Type element;
  std::vector<Value> items;
};

// Present or empty.
struct Optional {
  Type element;
  std::shared_ptr<const Value> item;  // null when empty
};

// Integer or string keys, in order, to one scalar tensor-like value each.
struct Map {
  DType key = DType::Int64;  // Int64 or String (all integer key types are widened)
  DType value = DType::Float32;
  std::vector<int64_t> int_keys;
  std::vector<std::string> string_keys;
  Tensor values;  // 1-D, one element per key
};

// Anything that can flow along an edge. Copies share tensors.
class Value {
 public:
  Value() = default;
  Value(Tensor t) : v_(std::move(t)) {}
  Value(Sequence s) : v_(std::make_shared<const Sequence>(std::move(s))) {}
  Value(Optional o) : v_(std::make_shared<const Optional>(std::move(o))) {}
  Value(Map m) : v_(std::make_shared<const Map>(std::move(m))) {}

  bool empty() const { return std::holds_alternative<std::monostate>(v_); }
  const Tensor* tensor() const { return std::get_if<Tensor>(&v_); }
  Tensor* tensor() { return std::get_if<Tensor>(&v_); }
  const Sequence* sequence() const { return get<Sequence>(); }
  const Optional* optional() const { return get<Optional>(); }
  const Map* map() const { return get<Map>(); }
  Type type() const;

 private:
  template <class T>
  const T* get() const {
    auto p = std::get_if<std::shared_ptr<const T>>(&v_);
    return p ? p->get() : nullptr;
  }
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>, std::shared_ptr<const Optional>,
               std::shared_ptr<const Map>>
      v_;
};

// The static shape of concrete dims.
Shape to_shape(Dims dims);

}  // namespace tenon
