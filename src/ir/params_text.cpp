#include "ir/params_text.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "ir/literal_text.h"

namespace tenon {

namespace {

class FieldWriter final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  std::vector<std::pair<std::string, std::string>> fields;

  void field(const char* name, int64_t& v) override { add(name, std::to_string(v)); }
  void field(const char* name, float& v) override { add(name, fmt::format("{}", v)); }
  void field(const char* name, std::string& v) override { add(name, quoted(v)); }
  void field(const char* name, std::vector<int64_t>& v) override { add(name, literal_text(Tensor::of_ints(v))); }
  void field(const char* name, std::vector<float>& v) override {
    add(name, literal_text(Tensor::of<float>({static_cast<int64_t>(v.size())}, v)));
  }
  void field(const char* name, std::vector<std::string>& v) override {
    std::string text;
    for (const std::string& s : v) text += (text.empty() ? "" : ", ") + quoted(s);
    add(name, "[" + text + "]");
  }
  void field(const char* name, Tensor& v) override {
    if (!v.defined()) return add(name, "none");
    const Type type = Type::tensor(v.dtype(), Shape(v.dims().begin(), v.dims().end()));
    add(name, type.to_string() + " " + literal_text(v));
  }

 protected:
  void optional_field(const char* name, bool& present) override {
    if (!present) add(name, "none");
  }

 private:
  void add(const char* name, std::string text) { fields.emplace_back(name, std::move(text)); }
};

class FieldReader final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  explicit FieldReader(std::map<std::string, std::string_view> fields) : fields_(std::move(fields)) {}

  void field(const char* name, int64_t& v) override { read(name, v); }
  void field(const char* name, float& v) override { read(name, v); }
  void field(const char* name, std::string& v) override {
    if (const auto text = take(name)) keep(unquoted(*text), v);
  }
  void field(const char* name, std::vector<int64_t>& v) override { read_list(name, v); }
  void field(const char* name, std::vector<float>& v) override { read_list(name, v); }
  void field(const char* name, std::vector<std::string>& v) override {
    const auto items = take_list(name);
    if (!items) return;
    v.clear();
    for (const std::string_view item : *items) keep(unquoted(item), v.emplace_back());
  }
  void field(const char* name, Tensor& v) override {
    const auto text = take(name);
    if (!text || *text == "none") return;
    const size_t end = text->find(']');
    const auto begin = text->find('[');
    const auto dtype = dtype_from_name(text->substr(0, begin));
    if (!dtype || end == std::string_view::npos) return fail(invalid_argument("'{}' is not a tensor", *text));
    auto dims = list_items(text->substr(begin, end - begin + 1));
    if (!dims.ok()) return fail(std::move(dims).status());
    std::vector<int64_t> extents;
    for (const std::string_view d : *dims) parse(d, extents.emplace_back());
    if (status_.ok()) keep(parse_literal(*dtype, extents, text->substr(end + 1)), v);
  }

  // An error for the first field that could not be read, or that the op does not have.
  Status status() {
    if (status_.ok() && !fields_.empty()) return invalid_argument("unknown parameter '{}'", fields_.begin()->first);
    return status_;
  }

 protected:
  void optional_field(const char* name, bool& present) override {
    const auto it = fields_.find(name);
    if (it == fields_.end()) return;
    present = it->second != "none";
    if (!present) fields_.erase(it);
  }
  void unknown_choice(const char* name, const std::string& text) override {
    fail(invalid_argument("'{}' is not a valid value of '{}'", text, name));
  }

 private:
  std::optional<std::string_view> take(const char* name) {
    const auto it = fields_.find(name);
    if (it == fields_.end()) return std::nullopt;
    const std::string_view text = it->second;
    fields_.erase(it);
    return text;
  }
  std::optional<std::vector<std::string_view>> take_list(const char* name) {
    const auto text = take(name);
    if (!text) return std::nullopt;
    auto items = list_items(*text);
    if (items.ok()) return std::move(*items);
    fail(std::move(items).status());
    return std::nullopt;
  }
  template <class T>
  void parse(std::string_view text, T& v) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (problem != std::errc() || end != text.data() + text.size())
      fail(invalid_argument("'{}' is not a number", text));
  }
  template <class T>
  void read(const char* name, T& v) {
    if (const auto text = take(name)) parse(*text, v);
  }
  template <class T>
  void read_list(const char* name, std::vector<T>& v) {
    const auto items = take_list(name);
    if (!items) return;
    v.clear();
    for (const std::string_view item : *items) parse(item, v.emplace_back());
  }
  template <class T>
  void keep(Result<T> value, T& target) {
    if (value.ok())
      target = std::move(*value);
    else
      fail(std::move(value).status());
  }
  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  std::map<std::string, std::string_view> fields_;
  Status status_;
};

}  // namespace

std::string params_source(OpId op, const Params& params) {
  const OpDef& def = op_def(op);
  FieldWriter given, defaults;
  def.visit_params(def.copy_params(params.erased()).get(), given);
  def.visit_params(def.make_params().get(), defaults);
  const std::map<std::string, std::string> usual(defaults.fields.begin(), defaults.fields.end());
  std::string text;
  for (const auto& [name, value] : given.fields) {
    const auto it = usual.find(name);
    if (it != usual.end() && it->second == value) continue;
    text += (text.empty() ? "" : ", ") + name + "=" + value;
  }
  return text;
}

Result<Params> parse_params(OpId op, std::string_view text) {
  const std::string list = fmt::format("[{}]", text);
  TN_ASSIGN_OR_RETURN(const auto items, list_items(list));
  std::map<std::string, std::string> owned;
  std::map<std::string, std::string_view> fields;
  for (const std::string_view item : items) {
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) return invalid_argument("'{}' is not a parameter", item);
    const auto [it, is_new] = owned.emplace(trimmed(item.substr(0, equals)), trimmed(item.substr(equals + 1)));
    if (!is_new) return invalid_argument("the parameter '{}' is given twice", it->first);
    fields[it->first] = it->second;
  }
  const OpDef& def = op_def(op);
  auto params = def.make_params();
  FieldReader reader(std::move(fields));
  def.visit_params(params.get(), reader);
  TN_RETURN_IF_ERROR(reader.status());
  return Params::of_op(op, std::move(params));
}

}  // namespace tenon
