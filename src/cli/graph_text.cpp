#include <fmt/format.h>

#include <map>

#include "cli/graph_view.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string names(const Json& list) {
  std::string text;
  for (const Json& item : list.items()) {
    const std::string& name = item.is_text() ? item.text() : item["name"].text();
    text += (text.empty() ? "" : ", ") + (name.empty() ? "-" : name);
  }
  return text;
}

void add_nodes(const Json& graph, const std::string& indent, std::string& text) {
  for (const Json& input : graph["inputs"].items())
    text += fmt::format("{}input {}: {}\n", indent, input["name"].text(), input["type"].text());
  for (const Json& node : graph["nodes"].items()) {
    std::string outputs;
    for (const Json& output : node["outputs"].items())
      outputs += (outputs.empty() ? "" : ", ") +
                 (output.is_null() ? "-" : output["name"].text() + ": " + output["type"].text());
    text += fmt::format("{}{} = {}({})", indent, outputs, node["op"].text(), names(node["inputs"]));
    if (!node["params"].is_null()) text += fmt::format(" {{{}}}", node["params"].text());
    if (!node["name"].text().empty()) text += fmt::format("  # {}", node["name"].text());
    text += "\n";
    for (const Json& body : node["bodies"].items()) {
      text += indent + "  body\n";
      add_nodes(body, indent + "    ", text);
    }
  }
  for (const Json& output : graph["outputs"].items())
    text += fmt::format("{}output {}: {}\n", indent, output["name"].text(), output["type"].text());
}

std::string dot_quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    c == '\n' ? result += "\\n" : result += c;
  }
  return result + "\"";
}

class DotWriter {
 public:
  std::string write(const std::string& title, const Json& graph) {
    text_ = fmt::format("digraph {} {{\n  node [shape=box, fontname=\"sans-serif\"];\n", dot_quoted(title));
    add_graph(graph, "  ", {});
    return text_ + "}\n";
  }

 private:
  using Producers = std::map<std::string, std::string>;  // value name -> id of the node that makes it

  std::string add_node(const std::string& indent, const std::string& label, const char* style) {
    const std::string id = "n" + std::to_string(next_++);
    text_ += fmt::format("{}{} [label={}{}];\n", indent, id, dot_quoted(label), style);
    return id;
  }
  void add_edge(const std::string& indent, const Producers& producers, const std::string& value,
                const std::string& to) {
    auto it = producers.find(value);
    if (it != producers.end())
      text_ += fmt::format("{}{} -> {} [label={}];\n", indent, it->second, to, dot_quoted(value));
  }

  // Values of the enclosing graph are visible, so they are copied in.
  void add_graph(const Json& graph, const std::string& indent, Producers producers) {
    for (const Json& input : graph["inputs"].items())
      producers[input["name"].text()] =
          add_node(indent, input["name"].text() + "\n" + input["type"].text(), ", shape=ellipse");
    for (const Json& node : graph["nodes"].items()) {
      const std::string& name = node["name"].text();
      const std::string id = add_node(indent, node["op"].text() + (name.empty() ? "" : "\n" + name), "");
      for (const Json& input : node["inputs"].items()) add_edge(indent, producers, input.text(), id);
      for (const Json& body : node["bodies"].items()) {
        text_ += fmt::format("{}subgraph cluster_{} {{\n{}  label={};\n", indent, next_++, indent,
                             dot_quoted("body of " + (name.empty() ? node["op"].text() : name)));
        add_graph(body, indent + "  ", producers);
        text_ += indent + "}\n";
      }
      for (const Json& output : node["outputs"].items())
        if (!output.is_null()) producers[output["name"].text()] = id;
    }
    for (const Json& output : graph["outputs"].items()) {
      const std::string id = add_node(indent, output["name"].text() + "\n" + output["type"].text(), ", shape=ellipse");
      add_edge(indent, producers, output["name"].text(), id);
    }
  }

  std::string text_;
  int next_ = 0;
};

}  // namespace

std::string graph_as_text(const Json& graph) {
  std::string text;
  add_nodes(graph, "", text);
  return printable(text);
}

std::string graph_as_dot(const std::string& title, const Json& graph) { return DotWriter().write(title, graph); }

}  // namespace cli
