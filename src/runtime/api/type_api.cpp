#include "runtime/api/handles.h"

using namespace tenon;

tn_type::tn_type(const Type& t) : type(t), text(t.to_string()) {
  if (t.shape) {
    for (const Dim& d : *t.shape) {
      auto symbol = d.as_symbol();
      // Extents the model leaves unnamed carry a made-up symbol that begins with an underscore and a digit.
      const bool unnamed = symbol && symbol->size() > 1 && (*symbol)[0] == '_' && std::isdigit((*symbol)[1]);
      dim_texts.push_back(unnamed ? "" : symbol ? *symbol : d.to_string());
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
const tn_type* tn_type_element(const tn_type* type) { return type ? type->element.get() : nullptr; }
const char* tn_type_text(const tn_type* type) { return type ? type->text.c_str() : ""; }

}  // extern "C"
