#include "onnx/model_header.h"

#include "onnx/op_versions.h"

namespace tenon {

namespace {

Status check_opset(std::string_view domain, int64_t version) {
  const auto newest = newest_version(domain);
  if (!newest) return {};
  if (version < 0)
    return invalid_model("version {} of the operators of {} is imported; versions start at 1", version,
                         shown_domain(domain));
  if (version > *newest)
    return unsupported(
        "version {} of the operators of {} is imported; the newest one known here is {} (export the model for that "
        "one, or update Tenon)",
        version, shown_domain(domain), *newest);
  return {};
}

}  // namespace

Status check_ir_version(int64_t version) {
  if (version < 1)
    return invalid_model("the file says its IR version is {}; versions of ONNX files start at 1", version);
  if (version > newest_ir_version())
    return unsupported(
        "the file is of IR version {}; the newest one known here is {} (save the model as that one, or update Tenon)",
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
          fmt::format("version 0 of the operators of {} is imported; versions start at 1, so the import counts "
                      "as absent and nodes are read as version 1 has them",
                      shown_domain(domain)));
      continue;
    }
    const auto [it, is_new] = versions.emplace(domain, import.version);
    if (is_new || it->second == import.version) continue;
    model.warn(fmt::format("versions {} and {} of the operators of {} are imported; the last one counts", it->second,
                           import.version, shown_domain(domain)));
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
