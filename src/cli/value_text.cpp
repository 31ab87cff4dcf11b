#include "cli/value_text.h"

#include <fmt/format.h>

#include "cli/text.h"

namespace cli {

namespace {

std::string element_text(const Json& element) {
  if (!element.is_text()) return element.plain();
  const std::string& text = element.text();
  const bool is_number = text == "nan" || text == "inf" || text == "-inf";
  return is_number ? text : "\"" + printable(text) + "\"";
}

int64_t element_count(const Json& tensor) {
  int64_t count = 1;
  for (const Json& extent : tensor["shape"].items()) count *= extent.integer();
  return count;
}

std::string list_text(const Json& elements, int64_t count, bool is_text) {
  std::string list;
  for (const Json& element : elements.items()) {
    if (!list.empty()) list += ", ";
    list += is_text && element.is_text() ? "\"" + printable(element.text()) + "\"" : element_text(element);
  }
  if (static_cast<int64_t>(elements.items().size()) < count) list += list.empty() ? "..." : ", ...";
  return "[" + list + "]";
}

std::string tensor_text(const Json& tensor, const std::string& indent) {
  const int64_t count = element_count(tensor);
  std::string text;
  if (!tensor["min"].is_null()) {
    text += fmt::format("{}min {}  max {}  mean {}", indent, tensor["min"].plain(), tensor["max"].plain(),
                        tensor["mean"].plain());
    if (tensor["nan"].integer() > 0) text += fmt::format("  NaN {}", tensor["nan"].integer());
    if (tensor["infinite"].integer() > 0) text += fmt::format("  infinite {}", tensor["infinite"].integer());
    text += "\n";
  } else if (!tensor["true"].is_null()) {
    text += fmt::format("{}true {} of {}\n", indent, tensor["true"].integer(), count);
  }
  const bool is_text = tensor["dtype"].text() == "string";
  return text + indent + list_text(tensor["elements"], count, is_text) + "\n";
}

std::string body_text(const Json& value, const std::string& indent) {
  const std::string& kind = value["kind"].text();
  if (kind == "tensor") return tensor_text(value, indent);
  std::string text;
  if (kind == "sequence") {
    size_t index = 0;
    for (const Json& item : value["items"].items())
      text += fmt::format("{}[{}] {}\n", indent, index++, item["type"].text()) + body_text(item, indent + "  ");
    const auto count = static_cast<size_t>(value["count"].integer());
    if (index < count) text += fmt::format("{}... {} in total\n", indent, count);
    if (count == 0) text += indent + "no items\n";
  } else if (kind == "optional") {
    text += value["item"].is_null()
                ? indent + "nothing\n"
                : indent + value["item"]["type"].text() + "\n" + body_text(value["item"], indent + "  ");
  } else if (kind == "map") {
    const auto& keys = value["keys"].items();
    const auto& values = value["values"]["elements"].items();
    for (size_t i = 0; i < keys.size() && i < values.size(); ++i)
      text += fmt::format("{}{}: {}\n", indent, element_text(keys[i]), element_text(values[i]));
    if (static_cast<int64_t>(keys.size()) < value["count"].integer())
      text += fmt::format("{}... {} in total\n", indent, value["count"].integer());
  }
  return text;
}

}  // namespace

std::string value_text(const std::string& name, const Json& value) {
  return fmt::format("{}  {}\n", printable(name), value["type"].text()) + body_text(value, "  ");
}

}  // namespace cli
