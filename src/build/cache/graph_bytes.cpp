#include "build/cache/graph_bytes.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <unordered_map>
#include <vector>

#include "wire/onnx_write.h"

namespace tenon::build {

namespace {

// A node or an initializer of the original has a stand-in in the bytes, which has its number: a node without an op, or
// a tensor without a type, which no model has.
std::string stand_in_text(size_t number) { return fmt::format("{}", number); }

template <class Message>
const Message* numbered(const std::vector<const Message*>& all, wire::Bytes number) {
  size_t index = 0;
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), index);
  const bool is_number = problem == std::errc() && end == number.data() + number.size();
  return is_number && index < all.size() ? all[index] : nullptr;
}

// All nodes and initializers of a model, those in bodies and functions too, in one order.
struct Messages {
  std::vector<const wire::Node*> nodes;
  std::vector<const wire::TensorProto*> tensors;

  explicit Messages(const wire::Model& model) {
    add(model.graph);
    for (const wire::Function& function : model.functions) add(function.nodes);
  }

 private:
  void add(const wire::Graph& graph) {
    for (const wire::TensorProto& tensor : graph.initializers) tensors.push_back(&tensor);
    add(graph.nodes);
  }
  void add(const std::vector<wire::Node>& all) {
    for (const wire::Node& node : all) {
      nodes.push_back(&node);
      for (const wire::Attribute& attribute : node.attributes)
        for (const auto& body : attribute.graphs) add(*body);
    }
  }
};

// Puts stand-ins for what is as it was read.
class Shortening {
 public:
  explicit Shortening(const wire::Model& original) {
    const Messages messages(original);
    number(messages.nodes, nodes_);
    number(messages.tensors, tensors_);
  }

  void shorten(wire::Model& model) {
    shorten(model.graph);
    for (wire::Function& function : model.functions) {
      function.raw = {};
      shorten(function.nodes);
    }
  }
  // What stand-ins refer to.
  std::vector<std::unique_ptr<std::string>> texts;

 private:
  using Numbers = std::unordered_map<const char*, std::pair<size_t, size_t>>;  // by address: size and number

  template <class Message>
  static void number(const std::vector<const Message*>& all, Numbers& numbers) {
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i]->raw.data()) numbers.emplace(all[i]->raw.data(), std::pair(all[i]->raw.size(), i));
  }
  // "" for what is not of the original.
  wire::Bytes stand_in(const Numbers& numbers, wire::Bytes raw) {
    const auto found = raw.data() ? numbers.find(raw.data()) : numbers.end();
    if (found == numbers.end() || found->second.first != raw.size()) return {};
    texts.push_back(std::make_unique<std::string>(stand_in_text(found->second.second)));
    return *texts.back();
  }

  void shorten(wire::Graph& graph) {
    for (wire::TensorProto& tensor : graph.initializers)
      if (const wire::Bytes text = stand_in(tensors_, tensor.raw); !text.empty()) {
        tensor = {};
        tensor.name = text;
      }
    shorten(graph.nodes);
  }
  void shorten(std::vector<wire::Node>& nodes) {
    for (wire::Node& node : nodes) {
      if (const wire::Bytes text = stand_in(nodes_, node.raw); !text.empty()) {
        node = {};
        node.name = text;
        continue;
      }
      for (wire::Attribute& attribute : node.attributes)
        for (auto& body : attribute.graphs) {
          // Others may share it.
          body = std::make_shared<wire::Graph>(*body);
          shorten(*body);
          attribute.raw = node.raw = {};
        }
    }
  }

  Numbers nodes_, tensors_;
};

// The way back.
class Completing {
 public:
  explicit Completing(const wire::Model& original) : messages_(original) {}

  bool complete(wire::Model& model) const {
    if (!complete(model.graph)) return false;
    for (wire::Function& function : model.functions) {
      function.raw = {};
      if (!complete(function.nodes)) return false;
    }
    return true;
  }

 private:
  bool complete(wire::Graph& graph) const {
    for (wire::TensorProto& tensor : graph.initializers) {
      if (tensor.data_type != 0) continue;
      const auto* const found = numbered(messages_.tensors, tensor.name);
      if (!found) return false;
      tensor = *found;
    }
    return complete(graph.nodes);
  }
  bool complete(std::vector<wire::Node>& nodes) const {
    for (wire::Node& node : nodes) {
      if (node.op_type.empty()) {
        const auto* const found = numbered(messages_.nodes, node.name);
        if (!found) return false;
        node = *found;
        continue;
      }
      for (wire::Attribute& attribute : node.attributes)
        for (const auto& body : attribute.graphs) {
          attribute.raw = node.raw = {};
          if (!complete(*body)) return false;
        }
    }
    return true;
  }

  Messages messages_;
};

}  // namespace

std::optional<std::string> graph_to_bytes(const wire::Model& rewritten, const wire::Model& original) {
  wire::Model model = rewritten;
  Shortening shortening(original);
  shortening.shorten(model);
  const auto encoded = wire::encode_model(model);
  if (!encoded.ok() || encoded->size() > kMostGraphBytes) return std::nullopt;
  return encoded->to_string();
}

std::optional<wire::Model> graph_from_bytes(wire::Bytes bytes, const wire::Model& original) {
  auto parsed = wire::parse_model(bytes);
  if (!parsed.ok() || !Completing(original).complete(*parsed)) return std::nullopt;
  wire::Model& model = *parsed;
  model.producer_name = original.producer_name;
  model.producer_version = original.producer_version;
  model.domain = original.domain;
  model.doc = original.doc;
  model.model_version = original.model_version;
  model.metadata = original.metadata;
  model.other = original.other;
  model.graph.doc = original.graph.doc;
  model.graph.metadata = original.graph.metadata;
  model.graph.other = original.graph.other;
  return std::move(model);
}

}  // namespace tenon::build
