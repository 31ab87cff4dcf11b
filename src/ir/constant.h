#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/ids.h"
#include "ir/provenance.h"
#include "plan/property.h"
#include "tensor/dim.h"
#include "tensor/tensor.h"
#include "weights/file_place.h"

namespace tenon {

// What a rule may look at of its own accord. It is counted in bytes of elements, so that a plan does not depend on
// where a model keeps them: in the message, in typed fields, sparse, in a file beside it, or in the caller's memory.
inline constexpr int64_t kMostAskedBytes = 1024;

// What somebody decided something by.
struct Asked {
  Property property;
  Answer answer = Answer::Unknown;  // unknown for elements, which answer for themselves
  std::string asker;                // an op or a rule; names of nodes would tell plans apart that are the same
};

// A constant of the model. Its elements stay where they are until somebody needs them.
struct Constant {
  std::string source;  // "scope/name" as the user knows it; empty for constants that import made (axes, sizes)
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;
  Tensor tensor;                         // the elements, once they were read
  std::function<Result<Tensor>()> load;  // reads, checks and aligns them; empty when they are there from the start
  std::vector<Asked> asked;              // each question once; never of literals, which belong to the plan anyway
  std::string attribute;                 // of a literal: the attribute of a node that it stands for, if any
  bool from_node = false;                // the value of a Constant node
  // Where the elements lie in the model's file or one beside it; nothing: they do not lie there as they are.
  std::optional<FilePlace> place;
  std::shared_ptr<const Provenance> made_from;  // of a literal that a rule made
  bool in_data_file = false;  // of a Constant node that is written as an initializer, because its elements lie outside

  static Constant of(std::string source, Tensor tensor) {
    return {std::move(source), tensor.dtype(), tensor.dims(), std::move(tensor), nullptr, {}, {}, false, {}, {}};
  }
  Result<Tensor> value() const { return tensor.defined() ? Result<Tensor>(tensor) : load(); }
  // Reads the elements and keeps them.
  Status read();
  // True when rules may look at the elements; those that an op cannot do without are read whatever their size.
  bool may_be_asked() const;
  // A literal belongs to the graph; the user has no name for it and cannot replace it.
  bool is_literal() const { return source.empty(); }
  // Remembers a question and its answer.
  void note(Asked question);
};

class Graph;

// What all graphs of one model share: a body and its parent can read one weight, and a symbol means one extent.
class ConstantPool {
 public:
  ConstantId add(Constant constant) { return constants_.add(std::move(constant)); }
  // The literal with these elements; equal ones are one constant. `attribute`: what it stands for, if it is one.
  ConstantId literal(const Tensor& tensor, std::string_view attribute = {});

  Constant& operator[](ConstantId id) { return constants_[id]; }
  const Constant& operator[](ConstantId id) const { return constants_[id]; }
  size_t size() const { return constants_.size(); }
  auto begin() { return constants_.begin(); }
  auto end() { return constants_.end(); }
  auto begin() const { return constants_.begin(); }
  auto end() const { return constants_.end(); }

  // Computes a value that depends on constants alone (evaluate/evaluate.h), for inference; null: only constants
  // themselves are known.
  Result<Tensor> (*evaluate)(const Graph&, ValueId) = nullptr;

  // False: rules get no answers about initializers, so that nothing is decided by weights that a training may change;
  // only about literals and Constant nodes.
  bool may_ask_weights = true;

  // A symbol that no value of the model has yet.
  Dim new_symbol() { return Dim::symbol("?" + std::to_string(symbols_++)); }
  int& symbols() { return symbols_; }

 private:
  Table<ConstantId, Constant, std::deque<Constant>> constants_;  // references stay valid while constants are added
  std::map<std::string, ConstantId, std::less<>> literals_;      // by attribute, type and elements
  int symbols_ = 0;
};

}  // namespace tenon
