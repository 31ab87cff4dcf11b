#include "artifact/needed_weights.h"

#include "artifact/weights_files.h"
#include "base/folder.h"
#include "plan/context_references.h"
#include "plan/weights_file.h"

namespace tenon {

namespace {

// Whether bytes that are no whole ONNX model may be the rest of one: by the name, or by the version that models begin
// with.
bool may_be_a_model(const std::string& name, std::string_view bytes) {
  return name.ends_with(".onnx") || (bytes.size() > 1 && bytes[0] == 8 && bytes[1] > 0);
}

}  // namespace

Result<std::set<std::string>> weights_named_by(const std::string& folder, const std::string& name) {
  auto file = MappedFile::open(folder + "/" + name);
  if (!file.ok()) return std::move(file).status();
  auto names = weights_named_in((*file)->view());
  if (names.ok() || !may_be_a_model(name, (*file)->view())) return names.ok() ? *names : std::set<std::string>();
  return std::move(names).status().in(folder + "/" + name);
}

Result<std::set<std::string>> files_referred_to(const std::string& folder, const std::string& weights,
                                                const std::vector<std::string>& names) {
  std::set<std::string> files;
  if (!exists(folder + "/" + weights)) return files;
  TN_ASSIGN_OR_RETURN(const auto file, WeightsFile::open(folder + "/" + weights));
  std::set<Hash128> ids;
  for (const PackedRecord& record : file->contents().packed)
    if (record.file != Hash128()) ids.insert(record.file);
  if (ids.empty()) return files;
  for (const auto& [name, id] : weights_file_ids(folder, names))
    if (ids.contains(id)) files.insert(name);
  return files;
}

Result<std::set<std::string>> needed_weights(const std::string& folder) {
  TN_ASSIGN_OR_RETURN(const FileHandle opened, open_folder(folder));
  TN_ASSIGN_OR_RETURN(const auto entries, list_folder(opened, folder));
  TN_ASSIGN_OR_RETURN(const auto names, list_folder(folder));
  std::set<std::string> named, needed;
  for (const std::string& name : names) {
    auto some = weights_named_by(folder, name);
    if (!some.ok() && some.status().code() != Code::NotFound) return std::move(some).status();
    if (some.ok()) named.merge(*some);
  }
  // A link that leads nowhere now may lead to a context file again tomorrow.
  for (const std::string& name : entries)
    if (name.ends_with(".onnx") && !is_there(folder + "/" + name))
      return error(Code::NotFound, "'{}/{}' is a broken link", folder, name);
  for (const std::string& name : named) {
    TN_ASSIGN_OR_RETURN(auto more, files_referred_to(folder, name, names));
    needed.merge(more);
  }
  needed.merge(named);
  return needed;
}

}  // namespace tenon
