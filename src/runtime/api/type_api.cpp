#include <algorithm>

#include "runtime/api/handles.h"

using namespace tenon;

namespace {

// Symbols of extents that the model leaves unnamed: "?7", and those that stand for an expression too long to show.
bool is_made_up(const std::string& symbol) {
  if (symbol.starts_with("_long")) return true;
  return symbol.size() > 1 && symbol[0] == '?' && symbol.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

tn_type::tn_type(const Type& t) : type(t), text(t.to_string()) {
  if (t.shape) {
    for (const Dim& d : *t.shape) {
      std::vector<std::string> symbols;
      d.collect_symbols(symbols);
      const bool unnamed = std::any_of(symbols.begin(), symbols.end(), is_made_up);
      const auto symbol = d.as_symbol();
      dim_texts.push_back(unnamed ? "" : symbol ? *symbol : d.to_string());
      dim_names.push_back(unnamed || !symbol ? "" : *symbol);
    }
  }
  if (t.element) element = std::make_unique<tn_type>(*t.element);
}

std::unique_ptr<tn_type> api::make_type_handle(const Type& type) { return std::make_unique<tn_type>(type); }

extern "C" {

tn_kind tn_type_kind(const tn_type* type) { return type ? static_cast<tn_kind>(type->type.kind) : TN_KIND_NONE; }
tn_dtype tn_type_dtype(const tn_type* type) { return type ? static_cast<tn_dtype>(type->type.dtype) : TN_UNDEFINED; }
int64_t tn_type_rank(const tn_type* type) {
  return type && type->type.shape ? static_cast<int64_t>(type->type.shape->size()) : -1;
}
int64_t tn_type_dim(const tn_type* type, size_t axis) {
  if (!type || !type->type.shape || axis >= type->type.shape->size()) return -1;
  return (*type->type.shape)[axis].constant().value_or(-1);
}
const char* tn_type_dim_text(const tn_type* type, size_t axis) {
  return type && axis < type->dim_texts.size() ? type->dim_texts[axis].c_str() : "";
}
const char* tn_type_dim_name(const tn_type* type, size_t axis) {
  return type && axis < type->dim_names.size() ? type->dim_names[axis].c_str() : "";
}
const tn_type* tn_type_element(const tn_type* type) { return type ? type->element.get() : nullptr; }
const char* tn_type_text(const tn_type* type) { return type ? type->text.c_str() : ""; }

}  // extern "C"
