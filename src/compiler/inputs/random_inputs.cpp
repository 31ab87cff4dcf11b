#include "compiler/inputs/random_inputs.h"

#include <algorithm>

#include "compiler/inputs/choose_extents.h"
#include "compiler/inputs/draw_value.h"

namespace tenon {

namespace {

// Values of the symbols of a graph's inputs.
class SymbolTable {
 public:
  explicit SymbolTable(std::map<std::string, int64_t> dims) : dims_(std::move(dims)) {}

  void learn(const Type& declared, Dims dims) {
    if (!declared.shape || declared.shape->size() != dims.size()) return;
    for (size_t i = 0; i < dims.size(); ++i)
      if (auto name = (*declared.shape)[i].as_symbol()) dims_.emplace(*name, dims[i]);
  }
  // Gives the symbols that nobody decided extents that the nodes accept.
  void decide_rest(const Graph& graph, size_t choice) { dims_ = choose_extents(graph, dims_, choice); }
  // The extents of a shape.
  std::vector<int64_t> extents(const std::optional<Shape>& shape) const {
    std::vector<int64_t> dims;
    if (!shape) return dims;
    for (const Dim& dim : *shape) dims.push_back(std::max<int64_t>(value(dim).value_or(1), 0));
    return dims;
  }
  std::optional<int64_t> find(const std::string& name) const {
    auto it = dims_.find(name);
    return it == dims_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  std::optional<int64_t> value(const Dim& dim) const {
    return dim
        .substitute([&](const std::string& name) -> std::optional<Dim> {
          const auto known = find(name);
          return known ? std::optional(Dim(*known)) : std::nullopt;
        })
        .constant();
  }
  std::map<std::string, int64_t> dims_;
};

Status check_shape(const std::string& name, const Type& declared, Dims dims) {
  if (!declared.is_tensor())
    return invalid_argument("input '{}' is {}, so it cannot be given a shape", name, declared.to_string());
  if (!declared.shape) return {};
  bool fits = declared.shape->size() == dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const auto fixed = (*declared.shape)[i].constant();
    fits = dims[i] >= 0 && (!fixed || *fixed == dims[i]);
  }
  if (!fits)
    return invalid_argument("input '{}' is {}, so it cannot have the shape {}", name, declared.to_string(),
                            shape_text(to_shape(dims)));
  return {};
}

Result<Value> draw_value(const Type& type, std::vector<int64_t> dims, const Accepted& accepted, SymbolTable& symbols,
                         RandomStream& random, const std::shared_ptr<MemoryBudget>& budget) {
  switch (type.kind) {
    case Type::Kind::Tensor: {
      const DType dtype = type.dtype == DType::Undefined ? DType::Float32 : type.dtype;
      TN_ASSIGN_OR_RETURN(Tensor tensor, draw_tensor(dtype, std::move(dims), accepted, random, budget));
      return Value(std::move(tensor));
    }
    case Type::Kind::Sequence: {
      Sequence sequence{type.element ? *type.element : Type{}, {}};
      // Three tensors; of sequences inside sequences one each, or deep types would grow without bound.
      const int items = sequence.element.is_tensor() || sequence.element.kind == Type::Kind::Map ? 3 : 1;
      for (int i = 0; i < items; ++i) {
        TN_ASSIGN_OR_RETURN(Value item, draw_value(sequence.element, symbols.extents(sequence.element.shape), accepted,
                                                   symbols, random, budget));
        sequence.items.push_back(std::move(item));
      }
      return Value(std::move(sequence));
    }
    case Type::Kind::Optional: {
      Optional optional{type.element ? *type.element : Type{}, nullptr};
      TN_ASSIGN_OR_RETURN(Value item, draw_value(optional.element, symbols.extents(optional.element.shape), accepted,
                                                 symbols, random, budget));
      optional.item = std::make_shared<const Value>(std::move(item));
      return Value(std::move(optional));
    }
    case Type::Kind::Map: {
      Map map;
      map.key = type.dtype == DType::String ? DType::String : DType::Int64;
      map.value = type.element ? type.element->dtype : DType::Float32;
      if (map.key == DType::String)
        map.string_keys = accepted.words.empty() ? std::vector<std::string>{"ash", "beech", "cedar"} : accepted.words;
      else
        map.int_keys = accepted.numbers.empty() ? std::vector<int64_t>{0, 1, 2} : accepted.numbers;
      const size_t count = map.key == DType::String ? map.string_keys.size() : map.int_keys.size();
      TN_ASSIGN_OR_RETURN(map.values, draw_tensor(map.value, {static_cast<int64_t>(count)}, {}, random, budget));
      return Value(std::move(map));
    }
    case Type::Kind::Unknown:
      break;
  }
  return unsupported("the model does not declare its type");
}

}  // namespace

Result<std::vector<Value>> random_inputs(const Graph& graph, const RandomInputOptions& options,
                                         std::vector<Value> given) {
  if (given.size() != graph.inputs.size())
    return invalid_argument("the model has {} inputs, but there is room for {}", graph.inputs.size(), given.size());
  SymbolTable symbols(options.dims);
  auto type = [&](size_t i) -> const Type& { return graph.value(graph.inputs[i].value).type; };
  auto name = [&](size_t i) -> const std::string& { return graph.value(graph.inputs[i].value).name; };
  auto shape_of = [&](size_t i) {
    auto it = options.shapes.find(name(i));
    return it == options.shapes.end() ? nullptr : &it->second;
  };
  size_t known_shapes = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    if (const auto* shape = shape_of(i)) {
      ++known_shapes;
      if (!given[i].empty()) return invalid_argument("input '{}' is given, so it cannot be given a shape", name(i));
      TN_RETURN_IF_ERROR(check_shape(name(i), type(i), *shape));
      symbols.learn(type(i), *shape);
    }
    if (const Tensor* tensor = given[i].tensor()) symbols.learn(type(i), tensor->dims());
  }
  if (known_shapes != options.shapes.size())
    for (const auto& [wanted, shape] : options.shapes) {
      bool found = false;
      for (size_t i = 0; i < given.size(); ++i) found |= name(i) == wanted;
      if (!found) return error(Code::NotFound, "the model has no input named '{}'", wanted);
    }
  symbols.decide_rest(graph, options.sizes);
  std::vector<std::vector<int64_t>> dims;
  for (size_t i = 0; i < given.size(); ++i) dims.push_back(shape_of(i) ? *shape_of(i) : symbols.extents(type(i).shape));
  const auto accepted = accepted_inputs(graph, [&](const std::string& symbol) { return symbols.find(symbol); });
  const auto budget = std::make_shared<MemoryBudget>(options.memory_bytes);
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].empty() || (graph.inputs[i].default_constant != kNone && !shape_of(i))) continue;
    RandomStream random(RandomStream(options.seed + 0x632be59bd9b4e019ull * (i + 1)).next());
    auto drawn = draw_value(type(i), std::move(dims[i]), accepted[i], symbols, random, budget);
    if (!drawn.ok()) return std::move(drawn).status().in("input '" + name(i) + "'");
    given[i] = std::move(*drawn);
  }
  return given;
}

}  // namespace tenon
