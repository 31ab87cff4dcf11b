#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

// Numbers that stand for things of a graph. Each kind is a type of its own, so that a node is not taken for a value.
namespace tenon {

struct NoId {};
inline constexpr NoId kNone{};  // an id of any kind that stands for nothing

template <class Kind>
class Id {
 public:
  constexpr Id() = default;
  constexpr Id(NoId) {}
  constexpr explicit Id(size_t index) : number_(static_cast<int32_t>(index)) {}

  constexpr size_t index() const { return static_cast<size_t>(number_); }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  int32_t number_ = -1;
};

using NodeId = Id<struct NodeKind>;
using ValueId = Id<struct ValueKind>;
using ConstantId = Id<struct ConstantKind>;
using GroupId = Id<struct GroupKind>;

// A list whose places are ids.
template <class IdType, class T, class List = std::vector<T>>
class Table {
 public:
  Table() = default;
  explicit Table(size_t count, const T& initial = T()) : list_(count, initial) {}

  IdType add(T entry) {
    list_.push_back(std::move(entry));
    return IdType(list_.size() - 1);
  }
  decltype(auto) operator[](IdType id) { return list_[id.index()]; }
  decltype(auto) operator[](IdType id) const { return list_[id.index()]; }
  size_t size() const { return list_.size(); }
  bool has(IdType id) const { return id != kNone && id.index() < list_.size(); }
  void resize(size_t count) { list_.resize(count); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  List list_;
};

}  // namespace tenon

template <class Kind>
struct std::hash<tenon::Id<Kind>> {
  size_t operator()(tenon::Id<Kind> id) const noexcept { return id.index(); }
};
