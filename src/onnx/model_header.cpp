#include "onnx/model_header.h"

#include "onnx/op_versions.h"

namespace tenon {

namespace {

Status check_opset(std::string_view domain, int64_t version) {
  const auto newest = newest_version(domain);
  if (!newest) return {};
  if (version < 0)
    return invalid_model("the model imports version {} of the operators of {}; versions start at 1", version,
                         shown_domain(domain));
  if (version > *newest)
    return unsupported(
        "the model imports version {} of the operators of {}, but Tenon supports versions up to {} (export the model "
        "for that version, or update Tenon)",
        version, shown_domain(domain), *newest);
  return {};
}

}  // namespace

Status check_ir_version(int64_t version) {
  if (version < 1) return invalid_model("the IR version of the file is {}; IR versions start at 1", version);
  if (version > newest_ir_version())
    return unsupported(
        "the IR version of the file is {}, but Tenon supports versions up to {} (save the model in that version, or "
        "update Tenon)",
        version, newest_ir_version());
  return {};
}

Result<OpsetVersions> read_opsets(const std::vector<wire::OpsetImport>& imports, ModelImport& model) {
  OpsetVersions versions;
  for (const wire::OpsetImport& import : imports) {
    const std::string_view domain = canonical_domain(import.domain);
    TN_RETURN_IF_ERROR(check_opset(domain, import.version));
    if (import.version == 0 && newest_version(domain)) {
      model.warn(
          fmt::format("the model imports version 0 of the operators of {}; versions start at 1, so the import is "
                      "ignored and nodes are read as version 1",
                      shown_domain(domain)));
      continue;
    }
    const auto [it, is_new] = versions.emplace(domain, import.version);
    if (is_new || it->second == import.version) continue;
    model.warn(fmt::format("the model imports versions {} and {} of the operators of {}; the last one is used",
                           it->second, import.version, shown_domain(domain)));
    it->second = import.version;
  }
  return versions;
}

Result<FunctionTable> read_functions(const std::vector<wire::Function>& functions) {
  FunctionTable table;
  for (const wire::Function& f : functions)
    if (!table.emplace(function_key(f.domain, f.name, f.overload), &f).second)
      return invalid_model("the function '{}' of domain '{}'{} is defined twice", f.name, f.domain,
                           f.overload.empty() ? "" : fmt::format(" (overload '{}')", f.overload));
  return table;
}

}  // namespace tenon
