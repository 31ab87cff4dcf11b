#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "ir/builder.h"
#include "ir/literal_text.h"
#include "ir/params_text.h"
#include "ir/text.h"

namespace tenon {

namespace {

// Pieces of the text, with the line they stand in for messages.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() {
    skip();
    return at_ >= text_.size();
  }
  bool peek(std::string_view what) {
    skip();
    return text_.substr(at_).starts_with(what);
  }
  bool take(std::string_view what) {
    if (!peek(what)) return false;
    at_ += what.size();
    return true;
  }
  Status expect(std::string_view what) { return take(what) ? Status() : fail(fmt::format("'{}' is missing", what)); }
  Status fail(const std::string& what) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    return invalid_argument("line {}: {}", line, what);
  }

  std::string_view word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  Result<std::string> string() {
    skip();
    const size_t begin = at_;
    if (!take("\"")) return fail("a quoted text is expected");
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return fail("a quoted text is not terminated");
    ++at_;
    return unquoted(text_.substr(begin, at_ - begin));
  }
  // What is between brackets that begin here, without them.
  Result<std::string_view> bracketed(char open, char close) {
    skip();
    if (at_ >= text_.size() || text_[at_] != open) return fail(fmt::format("'{}' is missing", open));
    const size_t begin = ++at_;
    int depth = 1;
    for (; at_ < text_.size() && depth > 0; ++at_) {
      if (text_[at_] == '"') {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
          if (text_[at_] == '\\') ++at_;
      } else if (text_[at_] == open) {
        ++depth;
      } else if (text_[at_] == close) {
        --depth;
      }
    }
    if (depth > 0 || at_ > text_.size()) return fail(fmt::format("'{}' is missing", close));
    return text_.substr(begin, at_ - begin - 1);
  }
  std::string_view until_space() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])))
        ++at_;
      else if (text_.substr(at_).starts_with("//"))
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        return;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

constexpr int kDeepest = 32;

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) {}

  Result<Graph> parse() {
    Graph graph;
    pool_ = graph.constants;
    while (!scanner_.peek("graph")) TN_RETURN_IF_ERROR(constant());
    Scope scope{&graph, nullptr, {}};
    TN_RETURN_IF_ERROR(this->graph(scope, 0));
    if (!scanner_.at_end()) return scanner_.fail("there is text after the graph");
    return graph;
  }

 private:
  struct Scope {
    Graph* graph;
    Scope* outer;
    std::map<std::string, ValueId> values;
  };
  // "%name"; the name of a numbered value is empty in the graph.
  struct Ref {
    std::string key, name;
  };

  Result<Ref> ref() {
    TN_RETURN_IF_ERROR(scanner_.expect("%"));
    if (scanner_.peek("\"")) {
      TN_ASSIGN_OR_RETURN(const std::string name, scanner_.string());
      return Ref{name, name};
    }
    const std::string word(scanner_.word());
    if (word.empty()) return scanner_.fail("a name is missing after '%'");
    const bool is_number = std::isdigit(static_cast<unsigned char>(word[0]));
    return is_number ? Ref{"%" + word, ""} : Ref{word, word};
  }

  Result<Type> type() {
    const std::string word(scanner_.word());
    if (word == "unknown") return Type{};
    if (word == "seq" || word == "optional") {
      TN_RETURN_IF_ERROR(scanner_.expect("("));
      TN_ASSIGN_OR_RETURN(Type element, type());
      TN_RETURN_IF_ERROR(scanner_.expect(")"));
      return word == "seq" ? Type::sequence(std::move(element)) : Type::optional(std::move(element));
    }
    if (word == "map") {
      TN_RETURN_IF_ERROR(scanner_.expect("("));
      const auto key = dtype_from_name(scanner_.word());
      TN_RETURN_IF_ERROR(scanner_.expect(","));
      TN_ASSIGN_OR_RETURN(Type value, type());
      TN_RETURN_IF_ERROR(scanner_.expect(")"));
      return Type::map(key.value_or(DType::Undefined), std::move(value));
    }
    const auto dtype = dtype_from_name(word);
    if (!dtype && word != "undefined") return scanner_.fail(fmt::format("unknown type '{}'", word));
    TN_ASSIGN_OR_RETURN(const std::string_view inside, scanner_.bracketed('[', ']'));
    std::optional<Shape> shape;
    if (inside != "...") {
      shape.emplace();
      for (const std::string& dim : split(inside)) {
        TN_ASSIGN_OR_RETURN(const Dim d, Dim::parse(dim));
        shape->push_back(symbol_numbers(d));
      }
    }
    return Type::tensor(dtype.value_or(DType::Undefined), std::move(shape));
  }

  static std::vector<std::string> split(std::string_view inside) {
    std::vector<std::string> parts;
    int depth = 0;
    std::string part;
    for (const char c : inside) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) {
        parts.emplace_back(trimmed(part));
        part.clear();
      } else {
        part += c;
      }
    }
    if (!parts.empty() || !trimmed(part).empty()) parts.emplace_back(trimmed(part));
    return parts;
  }

  // "?3" of the text is a symbol of its own in the pool.
  Dim symbol_numbers(const Dim& dim) {
    return dim.substitute([&](const std::string& name) -> std::optional<Dim> {
      if (!name.starts_with('?')) return std::nullopt;
      const auto [it, is_new] = symbols_.emplace(name, Dim());
      if (is_new) it->second = pool_->new_symbol();
      return it->second;
    });
  }

  Status constant() {
    TN_ASSIGN_OR_RETURN(const Ref name, ref());
    TN_RETURN_IF_ERROR(scanner_.expect(":"));
    TN_ASSIGN_OR_RETURN(const Type declared, type());
    if (!declared.shape || !is_static(*declared.shape)) return scanner_.fail("a constant needs a shape of integers");
    std::vector<int64_t> dims;
    for (const Dim& d : *declared.shape) dims.push_back(d.value());
    ConstantId id;
    if (scanner_.take("source")) {
      TN_ASSIGN_OR_RETURN(std::string source, scanner_.string());
      Constant made;
      made.source = std::move(source);
      made.dtype = declared.dtype;
      made.dims = std::move(dims);
      made.load = [] { return Result<Tensor>(error(Code::NotFound, "the text does not contain the elements")); };
      id = pool_->add(std::move(made));
    } else {
      TN_RETURN_IF_ERROR(scanner_.expect("="));
      std::string elements;
      if (scanner_.peek("[")) {
        TN_ASSIGN_OR_RETURN(const std::string_view inside, scanner_.bracketed('[', ']'));
        elements = fmt::format("[{}]", inside);
      } else {
        elements = scanner_.until_space();
      }
      auto tensor = parse_literal(declared.dtype, dims, elements);
      if (!tensor.ok()) return scanner_.fail(tensor.status().message());
      id = pool_->literal(*tensor);
    }
    if (!constants_.emplace(name.key, std::pair(id, name.name)).second)
      return scanner_.fail(fmt::format("'{}' is defined twice", name.key));
    return {};
  }

  // The value a name means in a scope: its own, one that is taken from outside, or a constant.
  Result<ValueId> lookup(Scope& scope, const std::string& key) {
    if (const ValueId v = find(scope, key); v != kNone) return v;
    return scanner_.fail(fmt::format("'{}' is not defined", key));
  }

  ValueId find(Scope& scope, const std::string& key) {
    if (const auto it = scope.values.find(key); it != scope.values.end()) return it->second;
    if (const auto it = constants_.find(key); it != constants_.end())
      return scope.values[key] = scope.graph->value_of(it->second.first, it->second.second);
    if (!scope.outer) return kNone;
    const ValueId outside = find(*scope.outer, key);
    if (outside == kNone) return kNone;
    const GraphValue& original = scope.outer->graph->value(outside);
    const ValueId inside = scope.graph->add_value(original.name, original.type);
    scope.graph->value(inside).known = original.known;
    scope.graph->value(inside).known_from = original.known_from;
    scope.graph->captures.push_back({outside, inside});
    return scope.values[key] = inside;
  }

  Status define(Scope& scope, const Ref& name, ValueId v) {
    scope.graph->value(v).name = name.name;
    if (!scope.values.emplace(name.key, v).second) return scanner_.fail(fmt::format("'{}' is defined twice", name.key));
    return {};
  }

  Status graph(Scope& scope, int depth) {
    if (depth > kDeepest) return scanner_.fail("graphs are nested too deeply");
    TN_RETURN_IF_ERROR(scanner_.expect("graph"));
    if (scanner_.take("(")) {
      do TN_RETURN_IF_ERROR(input(scope));
      while (scanner_.take(","));
      TN_RETURN_IF_ERROR(scanner_.expect(")"));
    }
    TN_RETURN_IF_ERROR(scanner_.expect("{"));
    while (!scanner_.peek("return")) TN_RETURN_IF_ERROR(node(scope, depth));
    TN_RETURN_IF_ERROR(scanner_.expect("return"));
    while (!scanner_.peek("}")) {
      TN_ASSIGN_OR_RETURN(const Ref name, ref());
      TN_ASSIGN_OR_RETURN(const ValueId v, lookup(scope, name.key));
      std::string as = name.name;
      if (scanner_.take("as")) {
        TN_ASSIGN_OR_RETURN(as, scanner_.string());
      }
      scope.graph->add_output(v, std::move(as));
      if (!scanner_.take(",")) break;
    }
    return scanner_.expect("}");
  }

  Status input(Scope& scope) {
    TN_ASSIGN_OR_RETURN(const Ref name, ref());
    TN_RETURN_IF_ERROR(scanner_.expect(":"));
    TN_ASSIGN_OR_RETURN(Type declared, type());
    const ValueId v = scope.graph->add_value("", std::move(declared));
    ConstantId default_constant = kNone;
    if (scanner_.take("default")) {
      TN_ASSIGN_OR_RETURN(const Ref constant, ref());
      const auto it = constants_.find(constant.key);
      if (it == constants_.end()) return scanner_.fail("a default must be a constant");
      default_constant = it->second.first;
    }
    scope.graph->inputs.push_back({v, default_constant});
    return define(scope, name, v);
  }

  Status node(Scope& scope, int depth) {
    std::vector<std::optional<Ref>> results;
    do {
      if (scanner_.take("_")) {
        results.emplace_back();
        continue;
      }
      TN_ASSIGN_OR_RETURN(Ref result, ref());
      results.emplace_back(std::move(result));
    } while (scanner_.take(","));
    TN_RETURN_IF_ERROR(scanner_.expect("="));
    const std::string op_name(scanner_.word());
    const auto op = op_from_name(op_name);
    if (!op) return scanner_.fail(fmt::format("unknown op '{}'", op_name));
    TN_RETURN_IF_ERROR(scanner_.expect("("));
    std::vector<ValueId> inputs;
    while (!scanner_.peek(")")) {
      if (scanner_.take("_")) {
        inputs.emplace_back(kNone);
      } else {
        TN_ASSIGN_OR_RETURN(const Ref input, ref());
        TN_ASSIGN_OR_RETURN(inputs.emplace_back(), lookup(scope, input.key));
      }
      if (!scanner_.take(",")) break;
    }
    TN_RETURN_IF_ERROR(scanner_.expect(")"));
    Params params = default_params(*op);
    if (scanner_.peek("{")) {
      TN_ASSIGN_OR_RETURN(const std::string_view fields, scanner_.bracketed('{', '}'));
      auto read = parse_params(*op, fields);
      if (!read.ok()) return scanner_.fail(read.status().message());
      params = std::move(*read);
    }
    Bodies bodies;
    while (scanner_.peek("graph")) {
      Scope inner{bodies.emplace_back(std::make_shared<Graph>()).get(), &scope, {}};
      inner.graph->is_body = true;
      inner.graph->constants = pool_;
      TN_RETURN_IF_ERROR(graph(inner, depth + 1));
    }
    GraphBuilder builder(*scope.graph);
    builder.set_name(results[0] ? results[0]->name : "");
    const std::vector<ValueId> made =
        builder.ops(*op, std::move(inputs), std::move(params), results.size(), std::move(bodies));
    if (!builder.status().ok()) return scanner_.fail(builder.status().to_string());
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i]) TN_RETURN_IF_ERROR(define(scope, *results[i], made[i]));
    return scanner_.take(":") ? result_types(scope, made) : Status();
  }

  // What is written is what inference says; symbols that nobody named agree with any.
  Status result_types(Scope& scope, const std::vector<ValueId>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0) TN_RETURN_IF_ERROR(scanner_.expect(","));
      if (scanner_.take("_")) continue;
      TN_ASSIGN_OR_RETURN(const Type written, type());
      const Type& inferred = scope.graph->value(results[i]).type;
      if (!same_but_for_symbols(written, inferred))
        return scanner_.fail(fmt::format("it is {}, not {}", inferred.to_string(), written.to_string()));
    }
    return {};
  }

  static bool same_but_for_symbols(const Type& a, const Type& b) {
    if (a.kind != b.kind || a.dtype != b.dtype || a.shape.has_value() != b.shape.has_value()) return false;
    if (a.element && b.element && !same_but_for_symbols(*a.element, *b.element)) return false;
    if (!a.shape) return true;
    if (a.shape->size() != b.shape->size()) return false;
    for (size_t i = 0; i < a.shape->size(); ++i)
      if (!((*a.shape)[i] == (*b.shape)[i]) && !is_unnamed((*a.shape)[i])) return false;
    return true;
  }
  static bool is_unnamed(const Dim& d) {
    std::vector<std::string> symbols;
    d.collect_symbols(symbols);
    return std::ranges::any_of(symbols, [](const std::string& s) { return s.starts_with('?'); });
  }

  Scanner scanner_;
  std::shared_ptr<ConstantPool> pool_;
  std::map<std::string, std::pair<ConstantId, std::string>> constants_;
  std::map<std::string, Dim> symbols_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text) { return Parser(text).parse(); }

}  // namespace tenon
